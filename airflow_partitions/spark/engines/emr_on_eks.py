"""EMR on EKS."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs

from airflow_partitions.spark.engines.aws import EmrEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class EmrOnEks(EmrEngine):
    """Jobs of a virtual cluster of EMR on EKS, by ``EmrContainerOperator``.

    .. code-block:: python

        EmrOnEks(
            virtual_cluster_id="1q…", release_label="emr-7.13.0-latest", execution_role_arn="arn:aws:iam::…:role/spark"
        )

    :param virtual_cluster_id: where the jobs run.
    :param release_label: what runs them.
    """

    endings: ClassVar[tuple[str, ...]] = ("EMR Containers job failed", "not found on", "Error while running job")

    virtual_cluster_id: str
    release_label: str

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow.providers.amazon.aws.operators.emr import EmrContainerOperator

        return EmrContainerOperator(
            task_id=job.name,
            name=job.name,
            virtual_cluster_id=self.virtual_cluster_id,
            release_label=self.release_label,
            execution_role_arn=self.execution_role_arn,
            client_request_token=job.token,
            job_driver={"sparkSubmitJobDriver": self.driver(job)},
            configuration_overrides=self.overrides(job),
            aws_conn_id=self.aws_conn_id,
            region_name=self.region_name,
            poll_interval=self.poll_seconds,
            max_polling_attempts=self.polls,
            deferrable=self.deferrable and job.may_defer,
            **self.arguments,
        )
