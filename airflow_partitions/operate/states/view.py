"""Views of an asset's partitions, and the pictures that one sees in them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.steps import back
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionBySequence, PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box, in_order
from airflow_partitions.core.errors import InvalidKeyError, SelectionError
from airflow_partitions.core.keys import Segment
from airflow_partitions.operate.state import MISSING, WAITING, Status
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.axis import Axis, SegmentAxis, Single, Slot, TimeAxis, others
from airflow_partitions.operate.states.grid import Cell, Grid, Row
from airflow_partitions.operate.states.tally import Tally

#: So many intervals are shown of a calendar without a start of which nothing is known.
_OF_NOTHING = 30


@attrs.frozen(kw_only=True)
class View:
    """What of an asset is to be seen.

    :ivar time_range: instants; an end that is ``None`` is that of what there is by now.
    :ivar selection: only these.
    :ivar across: name of the dimension whose keys are the columns; ``None`` for none.
    :ivar down: name of the dimension whose keys are the rows, not time; ``None`` for none.
    :ivar columns: the most of them.
    :ivar beginnings: the moments at which columns of time begin, each with the next interval; by default it depends on
        the range.
    :ivar search: a part of the texts of rows, in capitals or not.
    :ivar row_limit: the most rows of a page.
    :ivar row_cursor: the last row of the page before.
    """

    time_range: tuple[int | None, int | None] = (None, None)
    selection: Selection | None = None
    across: str | None
    down: str | None
    columns: int
    beginnings: tuple[int, ...] | None = None
    search: str = ""
    row_limit: int
    row_cursor: str | None = None


def grid(of: AssetStates, view: View) -> Grid:
    """A picture of an asset's partitions; it costs as much as is in view.

    What is not over yet has nothing in its cells, as long as nothing is there.
    """
    return _Sight(of, view).grid()


@attrs.frozen(slots=False)
class _Sight:
    """What is in view of an asset, each worked out once."""

    of: AssetStates
    view: View

    def grid(self) -> Grid:
        self._fill()
        slots, rows = self._down.slots(), self._page
        painter = _Painter()
        painted = [Row(slots[i].first, painter.runs(self._totals[i], self._cells[i])) for i in rows]
        across = self._across
        return Grid(
            of=self.of,
            across=across.name,
            down=self._down.name,
            unit=across.unit if isinstance(across, TimeAxis) else None,
            time_range=self._time_range,
            extent=self._extent,
            columns=tuple(across.slots()),
            cells=tuple(painter.cells),
            rows=tuple(painted),
            row_count=len(slots),
            more=bool(rows) and rows[-1] + 1 < len(slots),
            counts=self._tally.counts,
        )

    @cached_property
    def _extent(self) -> Slot | None:
        """All intervals that there are by now; of an open calendar without any the newest ones."""
        of, time = self.of, self.of.definition.time
        if time is None:
            return None
        ranges = [box.time_range for box in of.everything().boxes if box.time_range is not None]
        if ranges:
            low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        elif time.start is None and of.closed > FIRST:
            low, high = back(time.calendar, of.closed, _OF_NOTHING), of.closed
        else:
            return None
        text, calendar = time.clock.text, time.calendar
        return Slot(text(low), text(calendar.floor(high - 1) or low), calendar.count(low, high), (low, high))

    @cached_property
    def _time_range(self) -> TimeRange | None:
        """From the begin of the first interval in view to the end of the last."""
        time = self.of.definition.time
        if time is None:
            return None
        first, last = (0, 0) if self._extent is None or self._extent.time_range is None else self._extent.time_range
        low, high = self.view.time_range
        low, high = time.overlapping(first if low is None else low, last if high is None else high)
        return low, max(low, time.calendar.after(high - 1) or LAST)

    @cached_property
    def _partitions(self) -> Selection:
        """Those in view that there are by now."""
        of, definition = self.of, self.of.definition
        chosen = self.view.selection
        if self._time_range is None:
            partitions = of.everything() if chosen is None else chosen
        else:
            low, high = self._time_range
            partitions = Selection(definition, (Box((low, high)),) if low < high else ())
            partitions = of.existing(partitions if chosen is None else partitions & chosen)
        if not self.view.search or self.view.down is None:
            return partitions
        part = self.view.search.casefold()
        segments = [one for one in self._segments(self.view.down, partitions) if part in one.text.casefold()]
        box = Box(self._time_range, {self.view.down: tuple(segments)})
        return partitions & Selection(definition, (box,) if segments else ())

    @cached_property
    def _across(self) -> Axis:
        time, name = self.of.definition.time, self.view.across
        if name is None:
            return Single()
        if time is not None and name == time.name:
            time_range, beginnings = self._time_range or (0, 0), self.view.beginnings
            if beginnings is not None:
                return TimeAxis.beginning(time, time_range, beginnings, "")
            return TimeAxis.of(time, time_range, self.view.columns)
        segments = self._segments(name, self._partitions)
        return SegmentAxis.of(self.of.definition, name, segments, self.view.columns)

    @cached_property
    def _down(self) -> Axis:
        name = self.view.down
        if name is None:
            return Single()
        return SegmentAxis.of(self.of.definition, name, self._segments(name, self._partitions), None)

    def _segments(self, name: str, partitions: Selection) -> tuple[Segment, ...]:
        """The segments of a dimension that *partitions* have, in order."""
        dimension = self.of.definition.dimensions[name]
        chosen = [box.segments.get(name) for box in partitions.boxes]
        if None in chosen:
            return dimension.segments if isinstance(dimension, PartitionBySequence) else ()
        return in_order(dimension, {segment for some in chosen for segment in some or ()})

    @cached_property
    def _page(self) -> range:
        """The numbers of the rows of the page."""
        values = [slot.first for slot in self._down.slots()]
        first = 0 if self.view.row_cursor is None else self._row_after(self.view.row_cursor, values)
        return range(first, min(len(values), first + self.view.row_limit))

    def _row_after(self, cursor: str, values: Sequence[str | None]) -> int:
        """The number of the row after that of a segment, which may be gone meanwhile.

        :raises SelectionError: if it is none.
        """
        if cursor in values:
            return values.index(cursor) + 1
        dimension = self.of.definition.dimensions.get(self.view.down or "")
        if dimension is None or not _is_key(dimension, cursor):
            raise SelectionError(f"row_cursor {cursor!r} is not one of a page; expected that of the page before")
        if isinstance(dimension, PartitionBySequence):
            return 0  # of another selection: all are shown again rather than one left out
        return bisect(values, cursor, key=str)

    @cached_property
    def _tally(self) -> Tally:
        return Tally.of(self.of, self._partitions)

    @cached_property
    def _cells(self) -> dict[int, dict[int, Cell]]:
        """The cells of each row of the page that are not all missing, by column."""
        return {i: {} for i in self._page}

    def _fill(self) -> None:
        """Put what is known of partitions into the cells."""
        of, row, column = self.of, self._down.position, self._across.position
        timeless = of.definition.time is None
        for start, some in self._tally.known.items():
            is_over = timeless or start < of.closed
            for segments, status in some.items():
                self._put(row(start, segments), column(start, segments), status, 1, is_over=is_over)
        for box in self._tally.waiting.boxes:
            number, columns = others(of.definition, box, (self._across, self._down)), [*self._across.counts(box)]
            for i, _ in self._down.counts(box):
                for j, count in columns:
                    self._put(i, j, WAITING, count * number, is_over=True)

    def _put(self, i: int | None, j: int | None, status: Status, count: int, *, is_over: bool) -> None:
        """Put so many partitions, which were missing if they are over, into a cell."""
        if i is None or j is None or (row := self._cells.get(i)) is None:
            return
        cell = row.get(j)
        if cell is None:
            cell = row[j] = {MISSING: self._totals[i][j]}
        cell[status] = cell.get(status, 0) + count
        if is_over:
            cell[MISSING] -= count

    @cached_property
    def _totals(self) -> dict[int, list[int]]:
        """Numbers of the partitions that are over, by row of the page and column; rows that are alike share them."""
        boxes = self._tally.over.boxes
        rows = [frozenset(i for i, _ in self._down.counts(box)) for box in boxes]
        totals: dict[int, list[int]] = {}
        alike: dict[tuple[int, ...], list[int]] = {}
        for i in self._page:
            own = tuple(n for n in range(len(boxes)) if i in rows[n])
            if own not in alike:
                alike[own] = self._sums([boxes[n] for n in own])
            totals[i] = alike[own]
        return totals

    def _sums(self, boxes: Iterable[Box]) -> list[int]:
        """Numbers of the partitions of a row's *boxes* by column."""
        sums = [0] * len(self._across.slots())
        for box in boxes:
            number = others(self.of.definition, box, (self._across, self._down))
            for j, count in self._across.counts(box):
                sums[j] += count * number
        return sums


class _Painter:
    """Run lengths of rows, and the different cells that they are made of."""

    def __init__(self) -> None:
        self._numbers: dict[frozenset[tuple[Status, int]], int] = {}
        self._all_missing: dict[int, int] = {}

    @property
    def cells(self) -> Iterator[Cell]:
        """The different cells, by their numbers."""
        return map(dict, self._numbers)

    def runs(self, totals: Sequence[int], cells: Mapping[int, Cell]) -> tuple[tuple[int, int], ...]:
        """The run lengths of a row: of what is in *cells*, all else is missing.

        :param totals: numbers of the partitions that are over, by column.
        """
        numbers = (self._number(cells[j]) if j in cells else self._missing(total) for j, total in enumerate(totals))
        return tuple((sum(1 for _ in run), number) for number, run in groupby(numbers))

    def _missing(self, total: int) -> int:
        if (number := self._all_missing.get(total)) is None:
            number = self._all_missing[total] = self._number({MISSING: total})
        return number

    def _number(self, cell: Cell) -> int:
        return self._numbers.setdefault(frozenset(one for one in cell.items() if one[1]), len(self._numbers))


def _is_key(definition: PartitionDefinition, text: str) -> bool:
    try:
        definition.parse(text)
    except InvalidKeyError:
        return False
    return True
