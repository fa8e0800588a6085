"""A wait for the end of a batch of Dataproc, without a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.providers.google.cloud.triggers.dataproc import DataprocBatchTrigger
from asgiref.sync import sync_to_async

if TYPE_CHECKING:
    from airflow.providers.google.cloud.hooks.dataproc import DataprocHook


class CancellingBatchTrigger(DataprocBatchTrigger):
    """Airflow's own, which also cancels the batch if its task is ended."""

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """As Airflow keeps it."""
        kind = type(self)
        return f"{kind.__module__}.{kind.__qualname__}", super().serialize()[1]

    async def on_kill(self) -> None:
        """Cancel the batch."""
        hook = self.get_sync_hook()  # type: ignore[no-untyped-call]
        await sync_to_async(cancel)(hook, self.region, self.project_id, self.batch_id)


def cancel(hook: DataprocHook, region: str, project_id: str, batch_id: str) -> None:
    """Cancel a batch: by the operation that makes it, which is all that Dataproc offers."""
    batch = hook.get_batch(batch_id=batch_id, region=region, project_id=project_id)
    hook.get_operations_client(region).cancel_operation(batch.operation)
