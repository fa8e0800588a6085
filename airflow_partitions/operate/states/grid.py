"""Pictures of partitions: two dimensions, and in a cell one partition or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.operate.state import Status
from airflow_partitions.operate.states.axis import Slot
from airflow_partitions.operate.states.tally import by_state, provisional

if TYPE_CHECKING:
    from airflow_partitions.operate.states.asset_states import AssetStates

#: Numbers of partitions by status.
Cell = dict[Status, int]


@attrs.frozen
class Row:
    """A row of a grid.

    :ivar value: text of its segment; ``None`` where all are summed.
    :ivar runs: cells side by side that are the same: how many columns, and the number of the cell.
    """

    value: str | None
    runs: tuple[tuple[int, int], ...]


@attrs.frozen
class Grid:
    """A picture of partitions.

    :ivar across: name of the dimension whose keys are the columns, ``None`` if all are in one.
    :ivar down: name of the dimension whose keys are the rows, ``None`` if all are in one.
    :ivar unit: what a whole column is; ``None`` unless time runs across.
    :ivar time_range: of the picture; ``None`` without time.
    :ivar extent: all intervals that there are by now; ``None`` without any.
    :ivar cells: the different cells.
    :ivar rows: those of this page.
    :ivar row_count: number of all rows.
    :ivar more: whether there are rows after this page.
    :ivar counts: numbers of the partitions of all rows.
    """

    of: AssetStates = attrs.field(repr=False)
    across: str | None
    down: str | None
    unit: str | None
    time_range: TimeRange | None
    extent: Slot | None
    columns: tuple[Slot, ...]
    cells: tuple[Cell, ...]
    rows: tuple[Row, ...]
    row_count: int
    more: bool
    counts: Cell

    def to_json(self) -> dict[str, Any]:
        """JSON form: keys as texts, times with their UTC offset."""
        time = self.of.definition.time
        start, end = (None, None) if self.time_range is None else map(self._moment, self.time_range)
        form = cell_form(self.counts)
        return {
            "asset": self.of.asset.name,
            "now": self.of.now.isoformat(timespec="seconds"),
            "timezone": None if time is None else time.timezone,
            "across": self.across,
            "down": self.down,
            "start": start,
            "end": end,
            "unit": self.unit,
            "extent": None if self.extent is None else self._slot_form(self.extent),
            "columns": [self._slot_form(slot) for slot in self.columns],
            "cells": [cell_form(cell) for cell in self.cells],
            "rows": [{"value": row.value, "runs": row.runs} for row in self.rows],
            "row_count": self.row_count,
            "row_cursor": self.rows[-1].value if self.more else None,
            "counts": form["states"],
            "total": sum(self.counts.values()),
            "provisional": form.get("provisional", 0),
        }

    def _slot_form(self, slot: Slot) -> dict[str, Any]:
        form: dict[str, Any] = {"first": slot.first, "last": slot.last, "count": slot.count}
        if slot.time_range is not None:
            start, end = map(self._moment, slot.time_range)
            form |= {"start": start, "end": end}
        return form

    def _moment(self, at: int) -> str:
        time = self.of.definition.time
        assert time is not None  # noqa: S101 - only then there are instants
        return time.clock.datetime(at).isoformat()


def cell_form(cell: Cell) -> dict[str, Any]:
    """The JSON form of a *cell*."""
    form: dict[str, Any] = {"states": {str(state): number for state, number in by_state(cell).items()}}
    return form | ({"provisional": number} if (number := provisional(cell)) else {})
