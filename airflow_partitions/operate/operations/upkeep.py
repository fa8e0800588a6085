"""What keeps an estate in order: reconciliation, and whether upkeep is alive."""

from __future__ import annotations

from typing import Any

from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import ledger_changes, update_ledger
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.upkeep import Reconcile, ShowUpkeep
from airflow_partitions.operate.upkeep.leader import leader


def show_upkeep(_: ShowUpkeep, __: Asker) -> dict[str, Any]:
    """Whether an upkeep process is alive."""
    return {"alive": leader() is not None}


def reconcile(asked: Reconcile, asker: Asker) -> dict[str, Any]:
    """What reading all events of an asset again has changed."""
    meaning = partitioned_asset(asked.asset).meaning
    if asked.dry_run:
        update = ledger_changes(asked.asset, meaning, go_on=asker.check_waiting)
    else:
        update = update_ledger(asked.asset, meaning, anew=True, go_on=asker.check_waiting)
    return {
        "asset": update.asset,
        "events": update.events,
        "written": update.records,
        "malformed": dict(update.malformed),
        "dry_run": asked.dry_run,
    }
