"""One run of a partition at a time.

Airflow allows several runs of one key. The run that works on an asset's partition leaves its name in the asset's state
store; another one that comes meanwhile is put back and looks again later.

The store only knows get and set. Of several runs that come at the same moment a splitter lets at most one through: each
writes its name at the door, goes on only if nobody has passed it lately, and wins only if its name is still at the door
(L. Lamport, "A fast mutual exclusion algorithm", 1987).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow_partitions.errors import StorageError
from airflow_partitions.versions import check_version

if TYPE_CHECKING:
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

log = logging.getLogger(__name__)

_VERSION = 1
_LOOK_AGAIN = timedelta(seconds=15)
# How long a run that passed the door keeps others from passing, far longer than the few calls between door and claim
# take. When several came together, none may have won; after this time the door is open again.
_PASSING = timedelta(seconds=30)


def claim(context: Mapping[str, Any], text: str) -> None:
    """Claim the partition with the key *text* of each asset the task writes; with no text, its set of keys.

    :raises AirflowRescheduleException: if another run of the same partition is at work.
    :raises UnknownVersionError: if a run of another release has claimed it.
    """
    stores = context.get("asset_state_store")
    if stores is None:
        return
    from airflow.sdk import Asset
    from airflow.sdk.exceptions import AirflowRescheduleException

    for outlet in context["task"].outlets:
        if isinstance(outlet, Asset) and (other := _other_at_work(stores[outlet], context, text)):
            log.info("Run %s is at work on %s; looking again later", other, f"partition {text}" if text else "the keys")
            raise AirflowRescheduleException(datetime.now(UTC) + _LOOK_AGAIN)


def _other_at_work(store: AssetStateStoreAccessor, context: Mapping[str, Any], text: str) -> str | None:
    """The run that this one gives way to; ``None`` if the claim is now this one's."""
    claimed, door, passed = (f"{cell}|{text}" for cell in ("claim", "door", "passed"))
    own = context["dag_run"].run_id
    if other := _running(store.get(claimed), context):
        return other
    store.set(door, _note(own))
    if (other := _running(passing := store.get(passed), context)) and _lately(passing):
        return other
    store.set(passed, _note(own))
    last = store.get(door)
    if not isinstance(last, dict):
        raise StorageError("the asset's state store lost what was just written; expected a backend that keeps it")
    if last["run_id"] != own:
        return str(last["run_id"])
    store.set(claimed, _note(own))
    return None


def _running(note: Any, context: Mapping[str, Any]) -> str | None:
    """The run in a note, if it is another one and still running."""
    if isinstance(note, dict):
        check_version(note, _VERSION, "the claim of a partition")
    run_id: str | None = note["run_id"] if isinstance(note, dict) else None
    if run_id is None or run_id == context["dag_run"].run_id:
        return None
    running = context["ti"].get_dr_count(context["dag_run"].dag_id, run_ids=[run_id], states=["running"])
    return run_id if running else None


def _note(run_id: str) -> Any:
    return {"version": _VERSION, "run_id": run_id, "at": datetime.now(UTC).isoformat()}


def _lately(note: Any) -> bool:
    return isinstance(note, dict) and abs(datetime.now(UTC) - datetime.fromisoformat(note["at"])) < _PASSING
