"""Pictures of partitions: two dimensions, and in a cell one partition or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.operate.state import Status
from airflow_partitions.operate.states.axis import Slot
from airflow_partitions.operate.states.slot_form import columns_form, slot_form
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
        definition = self.of.definition
        form = cell_form(self.counts)
        return {
            "asset": self.of.asset.name,
            "now": self.of.now.isoformat(timespec="seconds"),
            "across": self.across,
            "down": self.down,
            "unit": self.unit,
            "extent": None if self.extent is None else slot_form(definition.time, self.extent),
            **columns_form(definition, self.time_range, self.columns),
            "cells": [cell_form(cell) for cell in self.cells],
            "rows": [{"value": row.value, "runs": row.runs} for row in self.rows],
            "row_count": self.row_count,
            "row_cursor": self.rows[-1].value if self.more else None,
            "counts": form["states"],
            "total": sum(self.counts.values()),
            "provisional": form.get("provisional", 0),
        }


def cell_form(cell: Cell) -> dict[str, Any]:
    """The JSON form of a *cell*."""
    form: dict[str, Any] = {"states": {str(state): number for state, number in by_state(cell).items()}}
    return form | ({"provisional": number} if (number := provisional(cell)) else {})
