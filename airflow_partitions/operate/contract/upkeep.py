"""Operations about what keeps an estate in order."""

from __future__ import annotations

from pydantic import Field

from airflow_partitions.operate.contract.fields import AssetName, DryRun
from airflow_partitions.operate.contract.operation import Answer, Operation


class UpkeepStatus(Answer):
    """Whether upkeep runs."""

    alive: bool = Field(description="Whether an upkeep process has sent a heartbeat within 30 seconds")


class Reconciliation(Answer):
    """What making a ledger again has changed, or would."""

    asset: str
    events: int = Field(description="Number of events that were read")
    written: int = Field(description="Number of partitions that were written")
    malformed: dict[str, str] = Field(description="Keys of events that are none of the asset's, each with the reason")
    dry_run: bool


class ShowUpkeep(Operation, route="GET /upkeep", answer=UpkeepStatus, noun="upkeep"):
    """Whether an upkeep process is alive."""


class Reconcile(
    Operation, route="POST /assets/{asset}/reconcile", answer=Reconciliation, noun="upkeep", refusals=(404, 429)
):
    """Read all events of an asset again, and write what is missing in its ledger."""

    asset: AssetName
    dry_run: DryRun = False

    @property
    def is_heavy(self) -> bool:
        """Always: there may be many events."""
        return True
