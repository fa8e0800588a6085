"""EMR Serverless."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs

from airflow_partitions.spark.engines.aws import EmrEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class EmrServerless(EmrEngine):
    """Jobs of an application of EMR Serverless, by ``EmrServerlessStartJobOperator``.

    .. code-block:: python

        EmrServerless(application_id="00f…", execution_role_arn="arn:aws:iam::…:role/spark")

    :param application_id: of a Spark application. It is started, if it is not.
    """

    endings: ClassVar[tuple[str, ...]] = ("terminal failure", "max attempts", "in deferrable mode")

    application_id: str

    def has_failed(self, error: Exception) -> bool:
        # Of a job that failed while nobody held a worker, Airflow's operator wants to know more than its trigger tells.
        return super().has_failed(error) or error.args == ("job_details",)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow.providers.amazon.aws.operators.emr import EmrServerlessStartJobOperator

        return EmrServerlessStartJobOperator(
            task_id=job.name,
            name=job.name,
            application_id=self.application_id,
            execution_role_arn=self.execution_role_arn,
            client_request_token=job.token,
            job_driver={"sparkSubmit": self.driver(job)},
            configuration_overrides=self.overrides(job),
            aws_conn_id=self.aws_conn_id,
            region_name=self.region_name,
            waiter_delay=self.poll_seconds,
            waiter_max_attempts=self.polls,
            deferrable=self.deferrable and job.may_defer,
            **self.arguments,
        )
