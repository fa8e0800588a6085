"""Scheduled runs whose partition was made by hand before they begin: what need not work is skipped.

No task is begun for it, and none has to read the events of an asset, of which there may be very many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from sqlalchemy import select, update

from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.ledger.addresses import Addresses
from airflow_partitions.engine.ledger.dag_runs import runs_where
from airflow_partitions.engine.ledger.forgotten import read_forgotten
from airflow_partitions.engine.ledger.ledger import read_progress
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.partition_rows import stored_records
from airflow_partitions.engine.runs.run_note import SKIPPED, partition_of_run, words, write_note
from airflow_partitions.engine.runs.skip import FROM_OUTSIDE, gives_way, reason_of
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.engine.runs.transaction import within

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection

    from airflow_partitions.core.partition import Partition


@hookimpl
def on_dag_run_running(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Skip the tasks that write what was made by hand; all tasks, if that is all that the Dag writes."""
    from airflow.utils.state import DagRunState

    partition = partition_of_run(dag_run)
    if partition is None or dag_run.state != DagRunState.RUNNING:  # its limits have left it no slot
        return
    timetable: Any = getattr(dag_run.dag, "timetable", None)
    if not gives_way(timetable, dag_run, partition):
        return
    with within(dag_run, "what was made by hand is made again") as at:
        outlets = _outlets(at, dag_run.dag_id)
        of_dag = sorted({asset_id for written in outlets.values() for asset_id in written})
        makers = {asset_id: maker for asset_id in of_dag for maker in makers_of(at, asset_id, [partition]).values()}
        if not makers:
            return
        some = [task_id for task_id, written in outlets.items() if written <= makers.keys()]
        _skip_tasks(at, dag_run, None if len(makers) == len(of_dag) else some)
        reason = reason_of(partition, makers.values())
        write_note(dag_run, f"{dag_run.note or words(partition)}{SKIPPED}{reason}")


def makers_of(at: Connection, asset_id: int, partitions: Sequence[Partition]) -> dict[str, str]:
    """Who has made *partitions* of an asset by hand after their ends, in words, by the texts of their keys.

    That is: an event from outside, or a run that is there still and that no schedule has started. What was made again
    by a schedule since is not among them, nor is what was forgotten.

    :param partitions: of one definition, each with an end.
    """
    ends = {partition.text: partition.end for partition in partitions if partition.end is not None}
    newest = _newest_records(at, asset_id, {partition.text: partition for partition in partitions}, min(ends.values()))
    records = {text: record for text, record in newest.items() if record.last >= ends[text]}
    runs = {text: (record.dag_id, record.run_id) for text, record in records.items() if record.dag_id and record.run_id}
    by_hand = _by_hand(at, set(runs.values()))
    makers = {text: "run {1} of {0}".format(*run) for text, run in runs.items() if run in by_hand}
    return makers | dict.fromkeys(records.keys() - runs.keys(), FROM_OUTSIDE)


def _newest_records(
    at: Connection, asset_id: int, partitions: Mapping[str, Partition], since: datetime
) -> dict[str, LedgerRecord]:
    """The newest materialization of each of *partitions* that is not forgotten, by the texts of their keys.

    :param since: what was before this instant need not be among them.
    """
    from airflow.models.asset import AssetEvent as E

    definition = next(iter(partitions.values())).definition
    addresses, progress = Addresses.by(definition), read_progress(at, asset_id)
    # The ledger has what those up to its last event tell, also where Airflow keeps them no longer.
    last = progress.event if progress is not None and progress.addresses.family == addresses.family else 0
    events: dict[str, LedgerRecord] = {}
    for texts in portions(sorted(partitions)):
        query = select(E.partition_key, E.timestamp, E.id, E.source_dag_id, E.source_run_id).where(
            E.asset_id == asset_id, E.partition_key.in_(texts), E.timestamp >= since, E.id > last
        )
        for key, time, event, dag_id, run_id in at.execute(query):
            text = str(key)
            events[text] = LedgerRecord(text, time, time, event, dag_id, run_id).after(events.get(text))
    if events:
        forgotten = read_forgotten(at, asset_id)
        events = {
            text: event for text, event in events.items() if not forgotten.hides(partitions[text].wrapped, event.event)
        }
    texts_at = {addresses.of(partition.wrapped): text for text, partition in partitions.items()}
    for address, record in stored_records(at, asset_id, addresses, texts_at, forgotten=False).items():
        text = texts_at[address]
        events[text] = record.after(events.get(text))
    return events


def _by_hand(at: Connection, runs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of *runs*, by Dag and id, that are there and that no schedule has started."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.types import DagRunType

    by_hand = DagRun.run_type.not_in([DagRunType.SCHEDULED, DagRunType.ASSET_TRIGGERED])
    return runs_where(at, runs, by_hand)


def _outlets(at: Connection, dag_id: str) -> dict[str, set[int]]:
    """The ids of the assets that each task of a Dag writes, if it writes any."""
    from airflow.models.asset import TaskOutletAssetReference as Outlet

    outlets: dict[str, set[int]] = defaultdict(set)
    for task_id, asset_id in at.execute(select(Outlet.task_id, Outlet.asset_id).where(Outlet.dag_id == dag_id)):
        outlets[task_id].add(asset_id)
    return outlets


def _skip_tasks(at: Connection, dag_run: DagRun, task_ids: Collection[str] | None) -> None:
    """Skip tasks of a run that have not been at work.

    :param task_ids: of those; ``None`` for all.
    """
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import TaskInstanceState

    table, now = TaskInstance.__table__, datetime.now(UTC)
    skip = update(table).where(
        table.c.dag_id == dag_run.dag_id, table.c.run_id == dag_run.run_id, table.c.state.is_(None), is_live(table)
    )
    if task_ids is not None:
        skip = skip.where(table.c.task_id.in_(task_ids))
    values = {"state": TaskInstanceState.SKIPPED, "start_date": now, "end_date": now, "duration": 0, "updated_at": now}
    at.execute(skip.values(values))
