"""Scheduled runs give way to what was made by hand.

What was made before a run begins is seen by the scheduler, which skips its tasks before one of them begins: see
:mod:`.made_by_hand`. What was made since is seen by the task.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import UnreadableEventsError
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.ledger.clocks import CLOCKS
from airflow_partitions.engine.ledger.forgotten import Forgotten
from airflow_partitions.engine.ledger.ledger_pages import FORGOTTEN
from airflow_partitions.engine.runs.asset_events import newest_events

if TYPE_CHECKING:
    from airflow.sdk import Asset

    from airflow_partitions.core.partition import Partition

log = logging.getLogger(__name__)

#: Key of the XCom in which a task leaves the reason why it did nothing.
SKIP_REASON = "partition_skipped"

#: Maker of what no run has made.
FROM_OUTSIDE = "an event from outside"

# Events of an asset since the run began. What has had more is looked at in vain, and made once more.
_MOST = 1_000


def gives_way(timetable: Any, run: Any, partition: Partition) -> bool:
    """Whether a run leaves its *partition* as it is, if it was made by hand after its interval was over.

    Only scheduled runs do, and neither a cleared run nor a refresh: whoever clears a run, or asks for one, wants it to
    work. What was made before the interval's end is provisional and is made again.

    :param timetable: of its Dag.
    :param run: with ``run_type``, ``clear_number`` and ``run_after``, as Airflow has them.
    """
    return bool(
        run.run_type == "scheduled"
        and not run.clear_number
        and partition.end is not None
        and timetable.makes_due(partition.wrapped, run.run_after)
    )


def reason_of(partition: Partition, makers: Iterable[str]) -> str:
    """Why nothing is done, in words: who has made the *partition*."""
    return f"partition {partition} was made already, after its end: {', '.join(dict.fromkeys(makers))}"


def skip_if_materialized(context: Mapping[str, Any]) -> None:
    """End the task as skipped if all that it writes was made by hand since its run began, and the run gives way.

    :raises AirflowSkipException: naming the run. The reason is in the task's XCom too, for the note of the run.
    """
    from airflow.sdk import Asset
    from airflow.sdk.exceptions import AirflowSkipException

    partition: Partition = context["partition"]
    if not gives_way(context["dag"].timetable, context["dag_run"], partition):
        return
    outlets = {outlet.name: outlet for outlet in context["task"].outlets or () if isinstance(outlet, Asset)}
    makers = []
    for outlet in outlets.values():
        if (maker := _maker(outlet, context)) is None:
            return
        makers.append(maker)
    if makers:
        reason = reason_of(partition, makers)
        context["ti"].xcom_push(SKIP_REASON, reason)
        raise AirflowSkipException(reason)


def _maker(asset: Asset, context: Mapping[str, Any]) -> str | None:
    """Who has made the run's partition of an asset by hand since it began; ``None`` if nobody has."""
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor
    from airflow.utils.types import DagRunType

    by_schedule = DagRunType.SCHEDULED, DagRunType.ASSET_TRIGGERED
    partition: Partition = context["partition"]
    began: datetime = context["dag_run"].start_date
    try:
        # The scheduler has seen what was there as the run began; what came in that moment it may have missed.
        since = max(partition.end or began, began - CLOCKS)
        events = islice(newest_events(asset.name, since), _MOST)
        event = next((event for event in events if event.partition_key == partition.text), None)
    except UnreadableEventsError as error:
        log.warning("Whether somebody has made the partition by hand can't be told, so it is made: %s", error)
        return None
    if event is None:
        return None
    form = AssetStateStoreAccessor(name=asset.name).get(FORGOTTEN)
    forgotten = read_form(form, Forgotten.from_json, f"the cell {FORGOTTEN} of asset {asset.name!r}", log.warning)
    if forgotten is not None and forgotten.hides(partition.wrapped, event.id):
        return None
    dag_id, run_id = event.source_dag_id, event.source_run_id
    if dag_id is None or run_id is None:
        return FROM_OUTSIDE
    if DagRunType.from_run_id(run_id) in by_schedule or not context["ti"].get_dr_count(dag_id, run_ids=[run_id]):
        return None
    return f"run {run_id} of {dag_id}"
