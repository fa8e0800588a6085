"""Boards: many assets over one stretch of time, in one scale."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, tzinfo
from itertools import pairwise

import attrs

from airflow_partitions.core.calendars.instants import TimeRange, instant
from airflow_partitions.core.calendars.timeline import FIRST, LAST, timeline
from airflow_partitions.core.calendars.units import UNITS
from airflow_partitions.core.definitions import PartitionByInterval
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.axis import Slot
from airflow_partitions.operate.states.grid import Cell, Row
from airflow_partitions.operate.states.kept import Kept
from airflow_partitions.operate.states.sight import View
from airflow_partitions.operate.states.view import grid

#: So many rows are shown of what is folded into one.
MOST_OPENED = 100
log = logging.getLogger(__name__)


@attrs.frozen
class BoardColumns:
    """The columns of a board, the same for all assets.

    :ivar edges: the instants at which they begin, and at last where the last one ends.
    :ivar unit: what each is, such as ``6 hours``.
    """

    edges: tuple[int, ...]
    unit: str

    @classmethod
    def of(cls, start: datetime, end: datetime, zone: tzinfo, most: int) -> BoardColumns:
        """Whole ones of the shortest unit of which at most so many hold all from *start* to *end*.

        :param start: aware, before *end*.
        :param zone: by whose clocks they begin.
        """
        low, high, line = instant(start), instant(end), timeline(zone)
        for unit in UNITS:
            if (high - low) // unit.longest > most:
                continue
            span = max(FIRST, low - 2 * unit.longest), min(LAST, high + 2 * unit.longest)
            around = list(unit.beginnings(*span, line))
            columns = [(begin, after) for begin, after in pairwise(around) if begin < high and low < after]
            if 0 < len(columns) <= most and columns[0][0] <= low and high <= columns[-1][1]:
                return cls((*(begin for begin, _ in columns), columns[-1][1]), str(unit))
        return cls((low, high), "all")

    def at(self, moment: int) -> int:
        """The number of the column that an instant is in; of those before and after it that of the end."""
        return min(max(bisect_right(self.edges, moment) - 1, 0), len(self.edges) - 1)


@attrs.frozen
class Strip:
    """The partitions of an asset along the columns of a board.

    A partition is in the column in which its interval begins; one that is longer goes on through the columns after it.

    :ivar slots: where along the columns partitions are: the first column, the number of columns, and which. ``None``
        without time.
    :ivar cells: the different cells.
    :ivar runs: slots side by side that are the same: how many, and the number of the cell; without time one for all.
    :ivar counts: numbers of the partitions by status.
    :ivar rows: of its segments, where it is opened.
    :ivar row_count: number of all of these.
    :ivar error: why nothing can be told.
    """

    slots: tuple[tuple[int, int, Slot], ...] | None
    cells: tuple[Cell, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()
    counts: Cell = attrs.field(factory=dict)
    rows: tuple[Row, ...] = ()
    row_count: int = 0
    error: str | None = None


_STRIPS: Kept[Strip] = Kept(2_000)


def strips_of(
    assets: Sequence[PartitionedAsset], columns: BoardColumns, now: datetime, *, opened: bool = False
) -> dict[str, Strip]:
    """The strips of *assets* by name, each worked out once for each version of its states.

    :param now: aware.
    :param opened: with the rows of the first dimension that is not time.
    """

    def broken(asset: PartitionedAsset, error: Exception) -> Strip:
        log.warning("The partitions of asset %r can't be shown", asset.name, exc_info=error)
        return Strip((), error=f"{type(error).__name__}: {error}")

    return _STRIPS.of(assets, now, lambda of: _strip(of, columns, opened=opened), broken, (columns, opened))


def _strip(of: AssetStates, columns: BoardColumns, *, opened: bool) -> Strip:
    time = of.definition.time
    time_range = None if time is None else _time_range(time, columns)
    if time is not None and time_range is None:
        return Strip(())
    down = next((name for name, one in of.definition.dimensions.items() if one.time is None), None)
    view = View(
        time_range=time_range or (None, None),
        across=None if time is None else time.name,
        down=None,
        columns=1,
        beginnings=columns.edges,
        row_limit=MOST_OPENED,
    )
    whole = grid(of, view)
    strip = Strip(
        None if time is None else _placed(whole.columns, columns), whole.cells, whole.rows[0].runs, whole.counts
    )
    if not opened or down is None:
        return strip
    picture = grid(of, attrs.evolve(view, down=down))
    more = len(strip.cells)
    rows = tuple(Row(row.value, tuple((length, more + cell) for length, cell in row.runs)) for row in picture.rows)
    return attrs.evolve(strip, cells=(*strip.cells, *picture.cells), rows=rows, row_count=picture.row_count)


def _time_range(time: PartitionByInterval, columns: BoardColumns) -> TimeRange | None:
    """From the first interval that is on the board to its end; ``None`` if there is none.

    One that has begun before is on it as far as none begins in the first column.
    """
    first, second, *_ = columns.edges
    low, high = time.overlapping(first, columns.edges[-1])
    if low < first and (following := time.calendar.after(first - 1)) is not None and following < second:
        low = following
    return (low, high) if low < high else None


def _placed(slots: Sequence[Slot], columns: BoardColumns) -> tuple[tuple[int, int, Slot], ...]:
    placed = []
    for slot in slots:
        if slot.time_range is not None:
            low, high = map(columns.at, slot.time_range)
            placed.append((low, max(1, high - low), slot))
    return tuple(placed)
