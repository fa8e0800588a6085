"""The runs that wait for a slot: they stay queued, out of the scheduler's sight, until one is free for them.

The scheduler looks at the first queued runs in each of its loops, and at those behind them only once these have begun.
So the ``run_after`` of a run that waits is put off, as if it were due later; it has its own back as it gets its turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.database.models import BatchMember, LimitedRun
from airflow_partitions.engine.limits.slots import Pair, of_pairs, taken
from airflow_partitions.engine.timetables.limits import ValueLimits, WorkSlot

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection

#: A run that nobody has told that its turn has come looks by itself after this.
LOOK_AGAIN = timedelta(hours=1)
# So many of a Dag's queued runs are looked at when one of them has to wait.
_AT_ONCE = 1_000


def put_off(at: Connection, run: DagRun, limits: ValueLimits, full: Collection[WorkSlot]) -> None:
    """Let a run that would begin wait, and with it those that are queued behind it for the same.

    :param full: the slots of which none is left.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    now = datetime.now(UTC)
    is_made = select(BatchMember.run_id).where(BatchMember.run_id == DagRun.id, BatchMember.outcome.is_(None))
    query = (
        select(DagRun.id, DagRun.partition_key)
        .where(
            DagRun.dag_id == run.dag_id,
            DagRun.state == DagRunState.QUEUED,
            DagRun.run_after <= now,
            DagRun.partition_key.is_not(None),
            DagRun.id != run.id,
            ~is_made.exists(),
        )
        .order_by(DagRun.id)
        .limit(_AT_ONCE)
    )
    if at.dialect.name != "sqlite":
        query = query.with_for_update(of=DagRun, skip_locked=True, key_share=True)
    keys: dict[int, str | None] = {run.id: run.partition_key}
    keys.update((number, key) for number, key in at.execute(query))
    waiting: dict[int, WorkSlot] = {}
    for number, key in keys.items():
        slot = next((slot for slot in limits.slots(str(key)) if slot in full), None)
        if slot is not None:
            waiting[number] = slot
    _put_off(at, waiting, now)


def _put_off(at: Connection, waiting: Mapping[int, WorkSlot], now: datetime) -> None:
    from airflow.models.dagrun import DagRun

    rows: list[dict[str, Any]] = []
    for portion in portions(sorted(waiting)):
        own = (
            select(DagRun.id, func.coalesce(LimitedRun.run_after, DagRun.run_after, type_=DagRun.run_after.type))
            .join(LimitedRun, LimitedRun.run_id == DagRun.id, isouter=True)
            .where(DagRun.id.in_(portion))
        )
        rows += [
            {
                "run_id": number, "name": (slot := waiting[number]).limit, "value": slot.value, "most": slot.most,
                "slots": 0, "run_after": run_after,
            }
            for number, run_after in at.execute(own).all()
        ]  # fmt: skip
        at.execute(delete(LimitedRun).where(LimitedRun.run_id.in_(portion)))
        at.execute(update(DagRun.__table__).where(DagRun.id.in_(portion)).values(run_after=now + LOOK_AGAIN))
    at.execute(insert(LimitedRun), rows)


def waits(at: Connection, run_id: int) -> bool:
    """Whether the run of that number waits, and is not to look again yet."""
    from airflow.models.dagrun import DagRun

    query = (
        select(LimitedRun.run_id)
        .join(DagRun, DagRun.id == LimitedRun.run_id)
        .where(LimitedRun.run_id == run_id, LimitedRun.run_after.is_not(None), DagRun.run_after > datetime.now(UTC))
    )
    return at.scalar(query) is not None


def let_begin(at: Connection, pairs: Collection[Pair] | None = None) -> int:
    """Give the runs that have waited longest their turn, as many as there are slots; returns how many.

    Those of Dags and requests that are paused keep waiting: they would not begin.

    :param pairs: limits and values of which slots have become free; all if not given.
    """
    from airflow.models.backfill import Backfill
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    is_waiting = LimitedRun.run_after.is_not(None)
    most = select(LimitedRun.name, LimitedRun.value, func.max(LimitedRun.most)).where(is_waiting)
    if pairs is not None:
        most = most.where(of_pairs(pairs))
    most = most.group_by(LimitedRun.name, LimitedRun.value)
    limits = {(name, value): number for name, value, number in at.execute(most)}
    busy = taken(at, limits.keys())
    turns: list[tuple[int, datetime]] = []
    free = {pair: number - busy[pair] for pair, number in limits.items() if number > busy[pair]}
    for pair, number in sorted(free.items()):
        query = (
            select(DagRun.id, LimitedRun.run_after)
            .join(LimitedRun, LimitedRun.run_id == DagRun.id)
            .join(DagModel, DagModel.dag_id == DagRun.dag_id)
            .join(Backfill, Backfill.id == DagRun.backfill_id, isouter=True)
            .where(
                of_pairs([pair]),
                is_waiting,
                DagRun.state == DagRunState.QUEUED,
                DagModel.is_paused.is_(False),
                or_(Backfill.id.is_(None), Backfill.is_paused.is_(False)),
            )
            .order_by(DagRun.id)
            .limit(number)
        )
        turns += [(run_id, run_after) for run_id, run_after in at.execute(query) if run_after is not None]
    bring_back(at, turns)
    return len(turns)


def wait_no_more(at: Connection, run_id: int) -> None:
    """Let the run of that number wait no more, if it does."""
    own = select(LimitedRun.run_after).where(LimitedRun.run_id == run_id, LimitedRun.run_after.is_not(None))
    bring_back(at, [(run_id, run_after) for run_after in at.scalars(own) if run_after is not None])


def bring_back(at: Connection, runs: Sequence[tuple[int, datetime]]) -> None:
    """Let runs wait no more, and give them their own ``run_after`` back.

    :param runs: their numbers, with that.
    """
    from airflow.models.dagrun import DagRun

    if not runs:
        return
    table = DagRun.__table__
    rows = [{"number": number, "own": run_after} for number, run_after in runs]
    at.execute(update(table).where(table.c.id == bindparam("number")).values(run_after=bindparam("own")), rows)
    for portion in portions([number for number, _ in runs]):
        at.execute(delete(LimitedRun).where(LimitedRun.run_id.in_(portion)))
