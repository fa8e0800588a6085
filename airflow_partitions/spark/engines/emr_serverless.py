"""EMR Serverless."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.managed import LONGEST, ManagedEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class EmrServerless(ManagedEngine):
    """Jobs of an application of EMR Serverless, by ``EmrServerlessStartJobOperator``.

    .. code-block:: python

        EmrServerless(application_id="00f…", execution_role_arn="arn:aws:iam::…:role/spark")

    :param application_id: of a Spark application. It is started, if it is not.
    :param execution_role_arn: what the job may do: it reads and writes the storage.
    :param configuration_overrides: of each job, as EMR takes them: where logs go, for example.
    :param aws_conn_id: Airflow's connection of type ``aws``.
    :param region_name: if it is not that of the connection.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {"s3": "s3", "s3a": "s3"}
    provider: ClassVar[str] = "apache-airflow-providers-amazon"
    endings: ClassVar[tuple[str, ...]] = ("terminal failure", "max attempts", "in deferrable mode")

    application_id: str
    execution_role_arn: str
    configuration_overrides: Mapping[str, Any] = attrs.field(factory=dict)
    aws_conn_id: str | None = "aws_default"
    region_name: str | None = None
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow.providers.amazon.aws.operators.emr import EmrServerlessStartJobOperator

        staged = job.staged
        others = dict(self.configuration_overrides)
        # Not as words of a command line, which would have to be quoted.
        properties = {"classification": "spark-defaults", "properties": dict(staged.conf)}
        return EmrServerlessStartJobOperator(
            task_id=job.name,
            name=job.name,
            application_id=self.application_id,
            execution_role_arn=self.execution_role_arn,
            client_request_token=job.token,
            job_driver={
                "sparkSubmit": {
                    "entryPoint": self.url(staged.program),
                    "entryPointArguments": list(staged.arguments),
                    "sparkSubmitParameters": f"--py-files {','.join(map(self.url, staged.py_files))}",
                }
            },
            configuration_overrides={
                **others,
                "applicationConfiguration": [*others.get("applicationConfiguration", ()), properties],
            },
            aws_conn_id=self.aws_conn_id,
            region_name=self.region_name,
            waiter_delay=self.poll_seconds,
            waiter_max_attempts=LONGEST // self.poll_seconds,
            deferrable=self.deferrable and job.may_defer,
            **self.arguments,
        )
