"""The slots of a batch: its leader has them for all of its members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import select

from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.engine.limits.slots import give, pair_of, taken
from airflow_partitions.engine.timetables.limits import ValueLimits, WorkSlot

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection


def fitting(at: Connection, leader: DagRun, limits: ValueLimits, keys: Mapping[int, str]) -> set[int]:
    """Those of the runs that a leader could make together with its own of whose values a slot is left.

    What is made one after the other takes one slot of each value, which the leader has for all of them.

    :param keys: of the runs, by their numbers.
    """
    waits = select(LimitedRun.run_id).where(LimitedRun.run_id.in_(list(keys)), LimitedRun.run_after.is_not(None))
    waiting = set(at.scalars(waits))  # they begin by themselves
    slots = {number: limits.slots(key) for number, key in keys.items() if number not in waiting}
    busy = taken(at, {pair_of(slot) for some in slots.values() for slot in some}, but=leader.id)
    own = Counter(limits.slots(str(leader.partition_key)))
    fits: set[int] = set()
    for number, some in slots.items():
        more = _more(own, some, limits)
        if all(busy[pair_of(slot)] + own[slot] < slot.most for slot in more):
            own.update(more)
            fits.add(number)
    return fits


def take(at: Connection, leader: DagRun, limits: ValueLimits, keys: Iterable[str]) -> None:
    """Give the leader of a batch the slots that it needs for its own partition and for those of its members."""
    own = Counter(limits.slots(str(leader.partition_key)))
    for key in keys:
        own.update(_more(own, limits.slots(key), limits))
    give(at, leader.id, own)


def _more(own: Counter[WorkSlot], slots: Iterable[WorkSlot], limits: ValueLimits) -> list[WorkSlot]:
    """Those that one more partition takes of its *slots*."""
    return [slot for slot in slots if limits.at_once or not own[slot]]
