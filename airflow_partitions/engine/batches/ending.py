"""The end of a batch: the runs whose partitions their leader has made end as if each had made its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs
from sqlalchemy import bindparam, delete, func, insert, select, update

from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.batches.batch_leader import Leader
from airflow_partitions.engine.batches.outcome import Ending, Outcome
from airflow_partitions.engine.batches.waiting_dags import wake_waiting
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.runs.run_note import FAILED, LONGEST_NOTE, SKIPPED, words
from airflow_partitions.engine.runs.task_rows import is_live, next_try

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from airflow_partitions.engine.timetables.base import PartitionTimetable

#: In the note of a run that another one has ended with its own; the other's id follows.
IN_BATCH = "Made in the batch of run "
_ROWS = 1_000


@attrs.frozen
class Ended:
    """A run that has ended with its batch.

    :ivar id: its number.
    """

    id: int
    run_id: str
    key: str
    partition_date: datetime | None
    outcome: Outcome


def end_batch(at: Connection, leader: Leader, timetable: PartitionTimetable) -> list[Ended]:
    """End the runs whose partitions *leader* has made, each with its own event; those that it has not stay queued.

    One that failed is left to itself: its run tries by itself when it begins. To do it twice does nothing.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    outcomes = leader.outcomes(at)
    leader.forget(at)
    query = (
        select(DagRun.id, DagRun.run_id, DagRun.partition_key, DagRun.partition_date, DagRun.state)
        .join(BatchMember, BatchMember.run_id == DagRun.id)
        .where(BatchMember.leader_id == leader.id, BatchMember.outcome.is_(None))
        .order_by(DagRun.id)
    )
    members = at.execute(query.with_for_update(of=DagRun, key_share=True)).all()
    if not members:
        return []
    # Also of a run that was cancelled meanwhile: what was published has its event.
    told = [row for row in members if row.run_id in outcomes]
    made = [
        Ended(row.id, row.run_id, row.partition_key, row.partition_date, outcomes[row.run_id])
        for row in told
        if outcomes[row.run_id].ending is not Ending.FAILED and row.state != DagRunState.RUNNING
    ]
    queued = {row.id for row in members if row.state == DagRunState.QUEUED}
    _end_runs(at, leader, [run for run in made if run.id in queued], timetable)
    _send_events(at, leader, [run for run in made if run.outcome.ending is Ending.MADE])
    _keep(at, leader, {row.id: outcomes[row.run_id] for row in told})
    return made


def _end_runs(at: Connection, leader: Leader, runs: Sequence[Ended], timetable: PartitionTimetable) -> None:
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import DagRunState, TaskInstanceState

    if not runs:
        return
    now = datetime.now(UTC)
    run_table, task_table = DagRun.__table__, TaskInstance.__table__
    spans = [
        {
            "number": run.id,
            "run": run.run_id,
            "begin": run.outcome.begin,
            "end": run.outcome.end,
            "seconds": (run.outcome.end - run.outcome.begin).total_seconds(),
            "task_state": TaskInstanceState.SUCCESS if run.outcome.ending is Ending.MADE else TaskInstanceState.SKIPPED,
        }
        for run in runs
    ]
    at.execute(
        update(run_table)
        .where(run_table.c.id == bindparam("number"))
        .values(state=DagRunState.SUCCESS, start_date=bindparam("begin"), end_date=bindparam("end"), updated_at=now),
        spans,
    )
    at.execute(
        update(task_table)
        .where(
            task_table.c.dag_id == leader.dag_id,
            task_table.c.run_id == bindparam("run"),
            task_table.c.task_id == leader.task_id,
            is_live(task_table),
        )
        .values(
            state=bindparam("task_state"),
            start_date=bindparam("begin"),
            end_date=bindparam("end"),
            duration=bindparam("seconds"),
            try_number=next_try(task_table),
            updated_at=now,
        ),
        spans,
    )
    _write_notes(at, leader, runs, timetable)
    _delete_met_deadlines(at, runs)


def _delete_met_deadlines(at: Connection, runs: Sequence[Ended]) -> None:
    """Delete the deadlines that the runs have met, as Airflow does when a run ends well: else they are told of."""
    from airflow.models.callback import Callback
    from airflow.models.deadline import Deadline

    ends = {run.id: run.outcome.end for run in runs}
    for portion in portions(list(ends)):
        query = select(Deadline.id, Deadline.callback_id, Deadline.dagrun_id, Deadline.deadline_time)
        rows = at.execute(query.where(Deadline.dagrun_id.in_(portion), ~Deadline.missed)).all()
        met = [row for row in rows if ends[row.dagrun_id] <= row.deadline_time]
        if met:
            at.execute(delete(Deadline).where(Deadline.id.in_([row.id for row in met])))
            at.execute(delete(Callback).where(Callback.id.in_([row.callback_id for row in met])))


def _write_notes(at: Connection, leader: Leader, runs: Sequence[Ended], timetable: PartitionTimetable) -> None:
    """Say in the note of each run who has made its partition, below what stands there."""
    from airflow.models.dagrun import DagRunNote

    before: dict[int, str | None] = {}
    for portion in portions([run.id for run in runs]):
        query = select(DagRunNote.dag_run_id, DagRunNote.content).where(DagRunNote.dag_run_id.in_(portion))
        before.update((number, content) for number, content in at.execute(query))
    notes = [{"number": run.id, "text": _note(run, leader, timetable, before.get(run.id))} for run in runs]
    new = [{"dag_run_id": note["number"], "content": note["text"]} for note in notes if note["number"] not in before]
    if new:
        at.execute(insert(DagRunNote), new)
    if old := [note for note in notes if note["number"] in before]:
        table = DagRunNote.__table__
        change = update(table).where(table.c.dag_run_id == bindparam("number"))
        at.execute(change.values(content=bindparam("text")), old)


def _note(run: Ended, leader: Leader, timetable: PartitionTimetable, before: str | None) -> str:
    own = before or f"Partition {run.key}"
    if not before and timetable.partition is not None:
        with suppress(InvalidKeyError):  # of an older definition
            own = words(Partition(timetable.partition, run.key))
    lines = [own, f"{IN_BATCH}{leader.run_id}"]
    if run.outcome.text:
        lines.append((SKIPPED if run.outcome.ending is Ending.SKIPPED else FAILED).strip("\n") + run.outcome.text)
    return "\n".join(lines)[:LONGEST_NOTE]


def _send_events(at: Connection, leader: Leader, runs: Sequence[Ended]) -> None:
    """Put the events of the partitions that were made, each with its own run as its source, and wake who waits."""
    from airflow.models.asset import AssetEvent

    for name in leader.assets:
        asset_id = asset_id_of(at, name)
        if asset_id is None:
            continue
        rows = [
            {
                "asset_id": asset_id,
                "extra": dict(run.outcome.extras.get(name) or {}),
                "source_task_id": leader.task_id,
                "source_dag_id": leader.dag_id,
                "source_run_id": run.run_id,
                "source_map_index": -1,
                "timestamp": datetime.now(UTC),
                "partition_key": run.key,
            }
            for run in runs
        ]
        newest = at.scalar(select(func.max(AssetEvent.id))) or 0
        for portion in portions(rows, _ROWS):
            at.execute(insert(AssetEvent), portion)
        sent = select(AssetEvent.id, AssetEvent.partition_key, AssetEvent.source_run_id).where(
            AssetEvent.id > newest, AssetEvent.asset_id == asset_id, AssetEvent.source_dag_id == leader.dag_id
        )
        own = {run.run_id for run in runs}
        events = {number: str(key) for number, key, run_id in at.execute(sent) if run_id in own}
        wake_waiting(at, name, asset_id, events)


def _keep(at: Connection, leader: Leader, outcomes: Mapping[int, Outcome]) -> None:
    """Keep what became of the members, by their numbers; the others are free for the next leader."""
    at.execute(delete(BatchMember).where(BatchMember.leader_id == leader.id, BatchMember.outcome.is_(None)))
    rows = [
        {
            "run_id": number,
            "leader_id": leader.id,
            "outcome": outcome.ending,
            "error": outcome.text if outcome.ending is Ending.FAILED else None,
        }
        for number, outcome in outcomes.items()
    ]
    for portion in portions(rows, _ROWS):
        at.execute(insert(BatchMember), portion)
