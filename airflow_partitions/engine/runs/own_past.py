"""The wait of a run for the partitions before its own."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.runs.claim import LOOK_AGAIN, Claimant, last_claimant
from airflow_partitions.engine.runs.materialized import AssetHistory

if TYPE_CHECKING:
    from airflow.sdk import Asset

    from airflow_partitions.core.keys import Key

log = logging.getLogger(__name__)


def wait_for_past(context: Mapping[str, Any], made: Collection[Key] = ()) -> None:
    """Put the first tasks of a run back while a partition is not there that its own needs, of an asset of the Dag.

    The run has claimed its partition already, so that those after it know who is to make it.

    :param made: keys that this task has made by now, of which no event tells yet.
    :raises AirflowRescheduleException: if the run is to look again later.
    :raises AirflowFailException: if waiting would keep the run that is waited for from ever starting.
    """
    own_past = context["dag"].timetable.own_past
    if own_past is None or context["task"].upstream_task_ids:
        return
    past = own_past.upstream(context["partition"].wrapped)
    if made:
        past -= Selection.of(past.definition, *made)
    for asset in written_by(context["dag"]):
        _wait(context, asset, past)


def written_by(dag: Any) -> list[Asset]:
    """The assets that a Dag writes, each once."""
    from airflow.sdk import Asset

    outlets = [outlet for task in dag.tasks for outlet in task.outlets or () if isinstance(outlet, Asset)]
    return list({outlet.name: outlet for outlet in outlets}.values())


def _wait(context: Mapping[str, Any], asset: Asset, past: Selection) -> None:
    from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException

    needed = next((key for key in past if _in_flight(context, last_claimant(asset.name, str(key)))), None)
    if needed is None:
        missing = AssetHistory(asset, context["dag"].timetable, past).missing(past)
        needed = next(iter(missing), None)
    if needed is None:
        return
    words = f"partition {context['partition'].text} of {asset.name} waits for {needed}"
    failed = _failed(context, asset, needed)
    if failed is not None:
        key, run = failed
        words += f": {run}, which was to make {key}, has failed; clear it"
        # A run that waits has one of the places that the failed one needs, once it is cleared.
        if context["dag_run"].run_type == "backfill" or _is_last_place(context, asset):
            raise AirflowFailException(f"{words}, and then this one")
    log.info("%s; looking again later", words)
    raise AirflowRescheduleException(datetime.now(UTC) + LOOK_AGAIN)


def _failed(context: Mapping[str, Any], asset: Asset, needed: Key) -> tuple[Key, Claimant] | None:
    """The failed run that holds up the partition *needed*, past the runs that wait for it themselves, and its key."""
    key: Key | None = needed
    while key is not None:
        run = last_claimant(asset.name, str(key))
        if run is not None and _is(context, run, "failed"):
            return key, run
        if not _in_flight(context, run):
            return None
        key = context["partition"].definition.previous(key)
    return None


def _is_last_place(context: Mapping[str, Any], asset: Asset) -> bool:
    """Whether the runs of the Dag have all places, and this one, of those that wait, makes the last partition."""
    run, most = context["dag_run"], context["dag"].max_active_runs
    if not most or context["ti"].get_dr_count(run.dag_id, states=["running"]) < most:
        return False
    partition = context["partition"]
    following = partition.definition.next(partition.wrapped)
    return following is None or not _in_flight(context, last_claimant(asset.name, str(following)))


def _in_flight(context: Mapping[str, Any], run: Claimant | None) -> bool:
    return run is not None and _is(context, run, "running", "queued")


def _is(context: Mapping[str, Any], run: Claimant, *states: str) -> bool:
    return bool(context["ti"].get_dr_count(run.dag_id, run_ids=[run.run_id], states=list(states)))
