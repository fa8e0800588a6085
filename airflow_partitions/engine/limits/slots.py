"""The slots that limits leave to the values of dimensions: which runs have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, tuple_, update

from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.engine.timetables.limits import WorkSlot

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

_ROWS = 1_000
#: A limit and a value: what the slots of are counted together.
Pair = tuple[str, str]


def pair_of(slot: WorkSlot) -> Pair:
    """The limit and the value of a slot."""
    return slot.limit, slot.value


def lock(at: Connection, *, patiently: bool) -> bool:
    """Let nobody else give slots, or take them back, before the transaction ends; whether that is so.

    :param patiently: wait for whoever does it just now. A scheduler that lets runs begin does not: it holds the rows of
        others, which somebody may wait for who holds this one.
    """
    own = LimitedRun.run_id == 0
    if not patiently and at.dialect.name != "sqlite":  # where whoever has begun to write is alone
        if at.scalar(select(LimitedRun.run_id).where(own).with_for_update(skip_locked=True)) is not None:
            return True
        if at.scalar(select(LimitedRun.run_id).where(own)) is not None:
            return False
    elif at.execute(update(LimitedRun).where(own).values(slots=0)).rowcount:
        return True
    at.execute(insert(LimitedRun).values(run_id=0, name="", value="", most=0, slots=0))
    return True


def taken(at: Connection, pairs: Collection[Pair], *, but: int = 0) -> Counter[Pair]:
    """How many slots of limits and values runs have that are at work.

    :param but: number of a run that is not counted.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    numbers: Counter[Pair] = Counter()
    for portion in portions(sorted(pairs), _ROWS):
        query = (
            select(LimitedRun.name, LimitedRun.value, func.sum(LimitedRun.slots))
            .join(DagRun, DagRun.id == LimitedRun.run_id)
            .where(of_pairs(portion), LimitedRun.run_after.is_(None), LimitedRun.run_id != but)
            .where(DagRun.state == DagRunState.RUNNING)
            .group_by(LimitedRun.name, LimitedRun.value)
        )
        numbers.update({(name, value): int(number) for name, value, number in at.execute(query)})
    return numbers


def of_pairs(pairs: Iterable[Pair]) -> ColumnElement[bool]:
    """The rows of some limits and values."""
    return tuple_(LimitedRun.name, LimitedRun.value).in_(list(pairs))


def give(at: Connection, run_id: int, slots: Mapping[WorkSlot, int]) -> None:
    """Give slots to the run of that number, and nothing else: what it had, or waited for, it has no more.

    :param slots: how many of each.
    """
    at.execute(delete(LimitedRun).where(LimitedRun.run_id == run_id))
    rows = [
        {"run_id": run_id, "name": slot.limit, "value": slot.value, "most": slot.most, "slots": number}
        for slot, number in slots.items()
    ]
    for portion in portions(rows, _ROWS):
        at.execute(insert(LimitedRun), portion)
