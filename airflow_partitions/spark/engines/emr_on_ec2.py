"""EMR on EC2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.managed import ManagedEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class EmrOnEc2(ManagedEngine):
    """Jobs of a running cluster of EMR, each a step of it, by a kind of ``EmrAddStepsOperator``.

    .. code-block:: python

        EmrOnEc2(job_flow_id="j-2AXX…")

    EMR starts a step twice if it is asked twice, so a task looks first among the steps of the cluster for one of its
    name.

    :param job_flow_id: the cluster. For jobs beside each other it needs a step concurrency above 1.
    :param execution_role_arn: the role of the step, if it is not that of the cluster.
    :param deploy_mode: where the driver runs: ``cluster``, or ``client`` for the primary node.
    :param aws_conn_id: Airflow's connection of type ``aws``.
    :param region_name: if it is not that of the connection.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {"s3": "s3", "s3a": "s3"}
    provider: ClassVar[str] = "apache-airflow-providers-amazon"
    endings: ClassVar[tuple[str, ...]] = ("terminal failure", "max attempts", "Error while running steps")

    job_flow_id: str
    execution_role_arn: str | None = None
    deploy_mode: str = "cluster"
    aws_conn_id: str | None = "aws_default"
    region_name: str | None = None
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow_partitions.spark.engines.emr_step import EmrStepOperator

        staged = job.staged
        words = ["spark-submit", "--deploy-mode", self.deploy_mode]
        words += ["--py-files", ",".join(map(self.url, staged.py_files))]
        words += [word for name, value in staged.conf.items() for word in ("--conf", f"{name}={value}")]
        words += [self.url(staged.program), *staged.arguments]
        return EmrStepOperator(
            task_id=job.name,
            job_flow_id=self.job_flow_id,
            step={
                "Name": job.token,
                "ActionOnFailure": "CONTINUE",
                "HadoopJarStep": {"Jar": "command-runner.jar", "Args": words},
            },
            execution_role_arn=self.execution_role_arn,
            aws_conn_id=self.aws_conn_id,
            region_name=self.region_name,
            waiter_delay=self.poll_seconds,
            waiter_max_attempts=self.polls,
            deferrable=self.deferrable and job.may_defer,
            **self.arguments,
        )
