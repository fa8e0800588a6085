"""What the platforms of AWS have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.managed import ManagedEngine

if TYPE_CHECKING:
    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class EmrEngine(ManagedEngine):
    """Jobs of EMR, which takes them as words for spark-submit, and what is said besides as classes of settings.

    :param execution_role_arn: what the job may do: it reads and writes the storage.
    :param configuration_overrides: of each job, as EMR takes them: where logs go, for example.
    :param aws_conn_id: Airflow's connection of type ``aws``.
    :param region_name: if it is not that of the connection.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {"s3": "s3", "s3a": "s3"}
    provider: ClassVar[str] = "apache-airflow-providers-amazon"

    execution_role_arn: str
    configuration_overrides: Mapping[str, Any] = attrs.field(factory=dict)
    aws_conn_id: str | None = "aws_default"
    region_name: str | None = None
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def driver(self, job: SparkJob) -> dict[str, Any]:
        """The program, and what comes along."""
        staged = job.staged
        return {
            "entryPoint": self.url(staged.program),
            "entryPointArguments": list(staged.arguments),
            "sparkSubmitParameters": f"--py-files {','.join(map(self.url, staged.py_files))}",
        }

    def overrides(self, job: SparkJob) -> dict[str, Any]:
        """The author's settings, and the Spark properties: not as words of a command line, which would need quotes."""
        others = dict(self.configuration_overrides)
        conf = {name: str(value) for name, value in job.staged.conf.items()}
        own = {"classification": "spark-defaults", "properties": conf}
        return {**others, "applicationConfiguration": [*others.get("applicationConfiguration", ()), own]}
