"""Skip of scheduled runs whose partition was made by hand already."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import UnreadableEventsError
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.ledger.forgotten import Forgotten
from airflow_partitions.engine.ledger.ledger_pages import FORGOTTEN

if TYPE_CHECKING:
    from airflow.sdk import Asset

    from airflow_partitions.core.partition import Partition

log = logging.getLogger(__name__)

#: Key of the XCom in which a task leaves the reason why it did nothing.
SKIP_REASON = "partition_skipped"

_ALWAYS = datetime.max.replace(tzinfo=UTC)


def skip_if_materialized(context: Mapping[str, Any]) -> None:
    """End the task as skipped if its partition was made by hand after the partition's interval was over.

    That is: by an event from outside, or by a run that is there still and that no schedule has started. If the Dag's
    assets all had it when the run began, none of its tasks works; if they have it since, those do not that write it.

    Only in scheduled runs, and neither in a cleared run nor for a refresh: whoever clears a run, or asks for one, wants
    it to work. What was made before the interval's end is provisional and is made again.

    :raises AirflowSkipException: naming the run. The reason is in the task's XCom too, for the note of the run.
    """
    from airflow.sdk import Asset

    partition: Partition = context["partition"]
    run, timetable = context["dag_run"], context["dag"].timetable
    if run.run_type != "scheduled" or run.clear_number or partition.end is None:
        return
    if not timetable.makes_due(partition.wrapped, run.run_after):
        return
    own, of_dag = (
        {outlet.name: outlet for task in tasks for outlet in task.outlets or () if isinstance(outlet, Asset)}
        for tasks in ([context["task"]], context["dag"].tasks)
    )
    makers = _makers(own.values(), context, _ALWAYS) or _makers(of_dag.values(), context, run.start_date)
    if makers:
        from airflow.sdk.exceptions import AirflowSkipException

        reason = f"partition {partition} was made already, after its end: {', '.join(makers)}"
        context["ti"].xcom_push(SKIP_REASON, reason)
        raise AirflowSkipException(reason)


def _makers(assets: Collection[Asset], context: Mapping[str, Any], before: datetime) -> list[str]:
    """The makers by hand, before an instant, of the run's partition of each asset; none if one has not been made."""
    makers: dict[str, None] = {}
    for asset in assets:
        maker = next(_makers_of(asset, context, before), None)
        if maker is None:
            return []
        makers[maker] = None
    return list(makers)


def _makers_of(asset: Asset, context: Mapping[str, Any], before: datetime) -> Iterator[str]:
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor, InletEventsAccessor
    from airflow.utils.types import DagRunType

    from airflow_partitions.engine.runs.asset_events import read_events

    by_schedule = DagRunType.SCHEDULED, DagRunType.ASSET_TRIGGERED
    partition: Partition = context["partition"]
    if partition.end is None:
        return
    forgotten: Forgotten | None = None
    since_end = InletEventsAccessor(asset_name=asset.name, asset_uri=asset.uri).after(partition.end.isoformat())
    try:
        events = read_events(since_end, asset.name)
    except UnreadableEventsError as error:
        log.warning("Whether somebody has made the partition by hand can't be told, so it is made: %s", error)
        return
    for event in events:
        dag_id, run_id = event.source_dag_id, event.source_run_id
        if event.partition_key != partition.text or event.timestamp >= before:
            continue
        if forgotten is None:
            form = AssetStateStoreAccessor(name=asset.name).get(FORGOTTEN)
            name = f"the cell {FORGOTTEN} of asset {asset.name!r}"
            forgotten = read_form(form, Forgotten.from_json, name, log.warning) or Forgotten()
        if forgotten.hides(partition.wrapped, event.id):
            continue
        if dag_id is None or run_id is None:
            yield "an event from outside"
        elif DagRunType.from_run_id(run_id) not in by_schedule and context["ti"].get_dr_count(dag_id, run_ids=[run_id]):
            yield f"run {run_id} of {dag_id}"
