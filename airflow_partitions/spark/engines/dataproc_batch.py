"""A batch of Dataproc that is known by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.providers.google.cloud.operators.dataproc import DataprocCreateBatchOperator
from airflow.sdk.exceptions import AirflowException
from google.api_core.exceptions import AlreadyExists, NotFound
from google.cloud.dataproc_v1 import Batch

from airflow_partitions.spark.engines.dataproc_batch_trigger import CancellingBatchTrigger, cancel
from airflow_partitions.spark.engines.wait import wait

if TYPE_CHECKING:
    from airflow.sdk import Context

_ENDED = (Batch.State.SUCCEEDED, Batch.State.FAILED, Batch.State.CANCELLED)


class DataprocBatchOperator(DataprocCreateBatchOperator):
    """Airflow's own asks without end while Dataproc answers with errors, and does not cancel a batch that it has found.

    This one makes a batch unless there is one of its id, watches it, and cancels it when its task is ended.

    :param polls: it looks at the batch so many times.
    """

    def __init__(self, *, batch_id: str, polls: int, **kwargs: Any) -> None:
        super().__init__(batch_id=batch_id, **kwargs)
        self.polls = polls

    def execute(self, context: Context) -> None:
        """Wait until the batch has ended."""
        try:
            self._ask("create_batch", batch=self.batch, request_id=self.request_id)
        except AlreadyExists:
            self.log.info("batch %s is there already", self.batch_id)
        if self.deferrable:
            self.defer(
                trigger=CancellingBatchTrigger(
                    batch_id=str(self.batch_id),
                    project_id=self.project_id or self.hook.project_id,  # its own hook looks for none
                    region=self.region,
                    gcp_conn_id=self.gcp_conn_id,
                    impersonation_chain=self.impersonation_chain,
                    polling_interval_seconds=self.polling_interval_seconds,
                ),
                method_name="execute_complete",
            )
        batch = wait(self._ended, f"batch {self.batch_id}", self.polling_interval_seconds, self.polls)
        self.handle_batch_status(context, batch.state.name, str(self.batch_id), batch.state_message)

    def on_kill(self) -> None:
        """Cancel the batch."""
        cancel(self.hook, self.region, self.project_id, str(self.batch_id))

    def _ended(self) -> Batch | None:
        try:
            batch: Batch = self._ask("get_batch")
        except NotFound:
            raise AirflowException(f"batch {self.batch_id} in region {self.region} is gone") from None
        return batch if batch.state in _ENDED else None

    def _ask(self, verb: str, **arguments: Any) -> Any:
        patience = {"retry": self.retry, "timeout": self.timeout, "metadata": self.metadata}
        place = {"region": self.region, "project_id": self.project_id, "batch_id": self.batch_id}
        return getattr(self.hook, verb)(**place, **arguments, **patience)
