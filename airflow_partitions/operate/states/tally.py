"""Partitions by what is known of them, without a list of those of which nothing is known."""

from __future__ import annotations

import attrs

from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.operate.state import MISSING, WAITING, State, Status
from airflow_partitions.operate.states.asset_states import AssetStates, Statuses
from airflow_partitions.operate.states.slabs import selection_of


@attrs.frozen
class Tally:
    """Partitions by what is known of them.

    :ivar known: the statuses of those of which anything is known.
    :ivar over: all that are over, or have no interval.
    :ivar waiting: those of these that wait, of which nothing else is known.
    :ivar missing: number of those of which nothing is known and that do not wait.
    """

    known: Statuses
    over: Selection
    waiting: Selection
    missing: int

    @classmethod
    def of(cls, states: AssetStates, partitions: Selection) -> Tally:
        """The tally of *partitions* that there are by now."""
        definition, known, over = states.definition, Statuses(), partitions
        for _, statuses in states.statuses(partitions):
            known |= statuses
        if definition.time is not None:
            over &= Selection(definition, (Box((FIRST, states.closed)),))
        of_over = {start: some for start, some in known.items() if definition.time is None or start < states.closed}
        missing = len(over) - sum(map(len, of_over.values()))
        waiting = Selection(definition)
        if missing and states.asset.upstreams:
            waiting = states.waiting(over - selection_of(definition, of_over))
        return cls(known, over, waiting, missing - len(waiting))

    @property
    def counts(self) -> dict[Status, int]:
        """Numbers of the partitions by status; those that are not 0."""
        counts: dict[Status, int] = {}
        for some in self.known.values():
            for status in some.values():
                counts[status] = counts.get(status, 0) + 1
        for status, number in ((WAITING, len(self.waiting)), (MISSING, self.missing)):
            if number:
                counts[status] = counts.get(status, 0) + number
        return counts


def by_state(counts: dict[Status, int]) -> dict[State, int]:
    """Numbers by state of those by status, in the order of states."""
    return {
        state: number
        for state in State
        if (number := sum(count for status, count in counts.items() if status.state is state))
    }


def provisional(counts: dict[Status, int]) -> int:
    """How many of those by status were made before their interval was over."""
    return sum(count for status, count in counts.items() if status.provisional)
