"""The choice of a batch: which queued runs of a Dag the one that begins makes together with its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import and_, delete, insert, select

from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.batches.batch_leader import Leader
from airflow_partitions.engine.batches.member import Member
from airflow_partitions.engine.batches.outcome import Ending
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.dag_runs import runs_where
from airflow_partitions.engine.ledger.state_store import form_of
from airflow_partitions.engine.limits.batch_slots import fitting, take
from airflow_partitions.engine.runs.claim import (
    Claimant,
    claim_cell,
    claimant_in,
    door_cell,
    is_lately,
    note_of,
    passed_cell,
)
from airflow_partitions.engine.runs.made_by_hand import makers_of
from airflow_partitions.engine.runs.skip import gives_way, reason_of
from airflow_partitions.engine.runs.task_rows import is_live, next_try
from airflow_partitions.engine.timetables.limits import ValueLimits

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection

    from airflow_partitions.engine.timetables.base import PartitionTimetable

_ROWS = 1_000


def choose(at: Connection, dag_run: DagRun, leader: Leader, timetable: PartitionTimetable, size: int) -> int:
    """Give the run that begins others that are queued, whose partitions its task makes with its own; returns how many.

    They are runs of the same Dag, bundle version, backfill and conf, in the order in which they were made. Left out are
    those that a batch has failed already, those whose partition another run is making, and those that wait for runs at
    work on the same value.

    :param dag_run: the run that begins, which leads no batch.
    :param leader: the same run.
    :param timetable: of its Dag.
    :param size: the most partitions of a batch, with the leader's own.
    """
    own = at.execute(select(BatchMember.outcome).where(BatchMember.run_id == leader.id)).one_or_none()
    if own is not None:
        if own.outcome is None:  # another run makes its partition just now
            return 0
        at.execute(delete(BatchMember).where(BatchMember.run_id == leader.id))
        if own.outcome == Ending.FAILED:
            return 0
    runs, limits = _queued(at, dag_run, leader.task_id, size), ValueLimits.of(timetable)
    if limits is not None:
        fits = fitting(at, dag_run, limits, {number: member.key for number, member in runs.items()})
        runs = {number: member for number, member in runs.items() if number in fits}
    claimant = Claimant(leader.dag_id, leader.run_id)
    ids = sorted(asset_id for name in leader.assets if (asset_id := asset_id_of(at, name)) is not None)
    taken = _claim(at, claimant, ids, [member.key for member in runs.values()])
    members = {number: member for number, member in runs.items() if member.key not in taken}
    if members:
        rows = [{"run_id": number, "leader_id": leader.id} for number in members]
        at.execute(delete(BatchMember).where(BatchMember.run_id.in_(list(members))))
        at.execute(insert(BatchMember), rows)
        leader.leave(at, _with_skips(at, timetable, ids, list(members.values())))
        if limits is not None:
            take(at, dag_run, limits, [member.key for member in members.values()])
    return len(members)


def _queued(at: Connection, dag_run: DagRun, task_id: str, size: int) -> dict[int, Member]:
    """The runs that it may make, by their numbers; they stay locked, one for each key."""
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import DagRunState

    is_taken = BatchMember.outcome.is_(None) | (BatchMember.outcome == Ending.FAILED)
    query = (
        select(
            DagRun.id,
            DagRun.run_id,
            DagRun.partition_key,
            DagRun.run_after,
            DagRun.run_type,
            DagRun.clear_number,
            next_try(TaskInstance),
            DagRun.conf,
        )
        .join(
            TaskInstance,
            and_(
                TaskInstance.dag_id == DagRun.dag_id,
                TaskInstance.run_id == DagRun.run_id,
                TaskInstance.task_id == task_id,
                is_live(TaskInstance),
            ),
        )
        .where(
            DagRun.dag_id == dag_run.dag_id,
            DagRun.state == DagRunState.QUEUED,
            DagRun.id != dag_run.id,
            DagRun.partition_key.is_not(None),
            DagRun.run_after <= datetime.now(UTC),
            DagRun.backfill_id.is_not_distinct_from(dag_run.backfill_id),
            DagRun.bundle_version.is_not_distinct_from(dag_run.bundle_version),
            ~select(BatchMember.run_id).where(BatchMember.run_id == DagRun.id, is_taken).exists(),
        )
        .order_by(DagRun.id)
        .limit(size - 1)
        .with_for_update(of=DagRun, skip_locked=True, key_share=True)
    )
    members: dict[int, Member] = {}
    keys = {dag_run.partition_key}
    for number, run_id, key, run_after, run_type, clear_number, try_number, conf in at.execute(query):
        if (conf or {}) == (dag_run.conf or {}) and key not in keys:
            keys.add(key)
            members[number] = Member(run_id, key, run_after, run_type, clear_number, try_number)
    return members


def _with_skips(
    at: Connection, timetable: PartitionTimetable, asset_ids: Sequence[int], members: Sequence[Member]
) -> list[Member]:
    """The members, those with the reason that need not be made: somebody has made all of it by hand already."""
    partitions: dict[str, Partition] = {}
    definition: Any = timetable.partition
    for member in members:
        with suppress(InvalidKeyError):  # of an older definition: its own error says so
            partition = Partition(definition, member.key)
            if gives_way(timetable, member, partition):
                partitions[member.key] = partition
    if not partitions or not asset_ids:
        return list(members)
    makers = [makers_of(at, asset_id, list(partitions.values())) for asset_id in asset_ids]
    reasons = {
        key: reason_of(partition, [each[key] for each in makers])
        for key, partition in partitions.items()
        if all(key in each for each in makers)
    }
    return [attrs.evolve(member, skip=reasons.get(member.key, "")) for member in members]


def _claim(at: Connection, claimant: Claimant, asset_ids: Sequence[int], keys: Sequence[str]) -> set[str]:
    """Claim *keys* of each asset for a run; those of them that another run has claimed, which it keeps.

    It goes through the same door as :func:`.claim`, all of them at once: whoever comes meanwhile waits for the rows of
    the door until this is done, and finds that somebody has passed it.
    """
    cells = [(asset_id, key) for asset_id in asset_ids for key in keys]
    _put(at, [(asset_id, door_cell(key)) for asset_id, key in cells], note_of(claimant))
    notes = _notes(at, asset_ids, [name for key in keys for name in (claim_cell(key), passed_cell(key))])
    others: dict[tuple[int, str], set[Claimant]] = {}
    for asset_id, key in cells:
        passing = notes.get((asset_id, passed_cell(key)))
        for note in (notes.get((asset_id, claim_cell(key))), passing if is_lately(passing) else None):
            other = claimant_in(note)
            if other is not None and other != claimant:
                others.setdefault((asset_id, key), set()).add(other)
    running = _running(at, {other for each in others.values() for other in each})
    taken = {key for (_, key), claimants in others.items() if claimants & running}
    own = [(asset_id, key) for asset_id, key in cells if key not in taken]
    _put(at, [(asset_id, passed_cell(key)) for asset_id, key in own], note_of(claimant))
    _put(at, [(asset_id, claim_cell(key)) for asset_id, key in own], note_of(claimant))
    return taken


def _put(at: Connection, cells: Sequence[tuple[int, str]], form: Any) -> None:
    """Put one *form* into many cells of assets."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell
    from airflow.utils.sqlalchemy import build_upsert_stmt

    values = {"value": json.dumps(form), "updated_at": datetime.now(UTC)}
    upsert = build_upsert_stmt(at.dialect.name, Cell, ["asset_id", "key"], {}, values)
    for portion in portions(cells, _ROWS):
        at.execute(upsert, [{"asset_id": asset_id, "key": name, **values} for asset_id, name in portion])


def _notes(at: Connection, asset_ids: Sequence[int], names: Sequence[str]) -> dict[tuple[int, str], Any]:
    """What is in those of the cells *names* of assets that there are."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    notes: dict[tuple[int, str], Any] = {}
    for portion in portions(names):
        query = select(Cell.asset_id, Cell.key, Cell.value).where(Cell.asset_id.in_(asset_ids), Cell.key.in_(portion))
        notes.update(((asset_id, name), form_of(text)) for asset_id, name, text in at.execute(query))
    return notes


def _running(at: Connection, claimants: Iterable[Claimant]) -> set[Claimant]:
    """Those of the runs that are at work."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    runs = {(run.dag_id, run.run_id) for run in claimants}
    return {Claimant(*run) for run in runs_where(at, runs, DagRun.state == DagRunState.RUNNING)}
