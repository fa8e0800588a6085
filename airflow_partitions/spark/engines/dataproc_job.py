"""A job of a cluster of Dataproc that is known by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.providers.google.cloud.hooks.dataproc import DataprocHook
from airflow.providers.google.cloud.operators.dataproc import DataprocSubmitJobOperator
from airflow.providers.google.cloud.triggers.dataproc import DataprocSubmitTrigger
from airflow.sdk.exceptions import AirflowException
from google.api_core.exceptions import AlreadyExists, NotFound
from google.cloud.dataproc_v1 import Job, JobStatus

from airflow_partitions.spark.engines.wait import wait

if TYPE_CHECKING:
    from airflow.sdk import Context

_ENDED = (JobStatus.State.DONE, JobStatus.State.ERROR, JobStatus.State.CANCELLED)


class DataprocJobOperator(DataprocSubmitJobOperator):
    """Airflow's own fails if there is a job of its id, and asks without end while Dataproc answers with errors.

    This one submits a job unless there is one of its id, and watches it.

    :param polls: it looks at the job so many times.
    """

    def __init__(self, *, job: dict[str, Any], polls: int, **kwargs: Any) -> None:
        super().__init__(job=job, **kwargs)
        self.polls = polls

    def execute(self, context: Context) -> None:
        """Wait until the job has ended."""
        self.hook = DataprocHook(gcp_conn_id=self.gcp_conn_id, impersonation_chain=self.impersonation_chain)
        self.job_id = str(self.job["reference"]["job_id"])
        try:
            self._ask("submit_job", job=self.job, request_id=self.request_id)
        except AlreadyExists:
            self.log.info("job %s is there already", self.job_id)
        if self.deferrable:
            self.defer(
                trigger=DataprocSubmitTrigger(
                    job_id=self.job_id,
                    project_id=self.project_id or self.hook.project_id,  # its own hook looks for none
                    region=self.region,
                    gcp_conn_id=self.gcp_conn_id,
                    impersonation_chain=self.impersonation_chain,
                    polling_interval_seconds=self.polling_interval_seconds,
                    cancel_on_kill=self.cancel_on_kill,
                ),
                method_name="execute_complete",
            )
        status = wait(self._ended, f"job {self.job_id}", self.polling_interval_seconds, self.polls)
        if status.state != JobStatus.State.DONE:
            raise AirflowException(f"job {self.job_id} has ended as {status.state.name}: {status.details}")

    def _ended(self) -> JobStatus | None:
        try:
            job: Job = self._ask("get_job", job_id=self.job_id)
        except NotFound:
            raise AirflowException(f"job {self.job_id} in region {self.region} is gone") from None
        return job.status if job.status.state in _ENDED else None

    def _ask(self, verb: str, **arguments: Any) -> Any:
        patience = {"retry": self.retry, "timeout": self.timeout, "metadata": self.metadata}
        return getattr(self.hook, verb)(region=self.region, project_id=self.project_id, **arguments, **patience)
