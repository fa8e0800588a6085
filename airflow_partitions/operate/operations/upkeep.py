"""What keeps an estate in order: reconciliation, and whether upkeep is alive."""

from __future__ import annotations

from typing import Any

from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.operate.upkeep.leader import leader


def show_upkeep() -> dict[str, Any]:
    """Whether an upkeep process is alive."""
    return {"alive": leader() is not None}


def reconcile(asset: str) -> dict[str, Any]:
    """Read all events of an asset again, and write what is missing in its ledger.

    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises StorageError: if Airflow's state store is not in its database.
    :raises UnknownVersionError: if another release wrote a part of the ledger.
    """
    update = update_ledger(asset, partitioned_asset(asset).meaning, anew=True)
    return {
        "asset": update.asset,
        "events": update.events,
        "written": update.records,
        "malformed": dict(update.malformed),
    }
