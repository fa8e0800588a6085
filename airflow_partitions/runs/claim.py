"""One run of a partition at a time.

Airflow allows several runs of one key. The run that works on an asset's partition leaves its name in the asset's state
store; another one that comes meanwhile is put back and looks again later.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

log = logging.getLogger(__name__)

_LOOK_AGAIN = timedelta(seconds=15)
# Two runs that start in the same moment both find no claim and both write one. The store keeps the last; each reads it
# again after this many seconds, longer than a write takes, and the one overwritten gives way.
_SETTLE = 0.5


def claim(context: Mapping[str, Any]) -> None:
    """Claim the run's partition of each asset the task writes.

    :raises AirflowRescheduleException: if another run of the same partition is at work.
    """
    stores = context.get("asset_state_store")
    if stores is None:
        return
    from airflow.sdk import Asset

    for outlet in context["task"].outlets:
        if isinstance(outlet, Asset):
            _claim(stores[outlet], context)


def _claim(store: AssetStateStoreAccessor, context: Mapping[str, Any]) -> None:
    from airflow.sdk.exceptions import AirflowRescheduleException

    cell = f"claim|{context['partition']}"
    mine = context["dag_run"].run_id
    holder = _run_at_work(store.get(cell), mine, context)
    if holder is None:
        store.set(cell, {"run_id": mine, "since": datetime.now(UTC).isoformat()})
        time.sleep(_SETTLE)
        holder = _run_at_work(store.get(cell), mine, context)
    if holder is not None:
        log.info(
            "Run %s is at work on partition %s; run %s gives way and looks again", holder, context["partition"], mine
        )
        raise AirflowRescheduleException(datetime.now(UTC) + _LOOK_AGAIN)


def _run_at_work(claimed: Any, mine: str, context: Mapping[str, Any]) -> str | None:
    """The run that holds the claim, if it is another one and still running."""
    holder: str | None = claimed["run_id"] if isinstance(claimed, dict) else None
    if holder is None or holder == mine:
        return None
    running = context["ti"].get_dr_count(context["dag_run"].dag_id, run_ids=[holder], states=["running"])
    return holder if running else None
