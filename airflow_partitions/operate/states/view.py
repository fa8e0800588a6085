"""Pictures of what one sees of an asset's partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

import attrs

from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.operate.state import MISSING, WAITING, Status
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.axis import TimeAxis
from airflow_partitions.operate.states.grid import Cell, Grid, Row
from airflow_partitions.operate.states.sight import Sight, View
from airflow_partitions.operate.states.tally import Tally


def grid(of: AssetStates, view: View) -> Grid:
    """A picture of an asset's partitions; it costs as much as is in view.

    What is not over yet has nothing in its cells, as long as nothing is there.
    """
    return _Drawing(Sight(of, view)).grid()


@attrs.frozen(slots=False)
class _Drawing:
    """What is in the cells of what is in view, each worked out once."""

    sight: Sight

    def grid(self) -> Grid:
        self._fill()
        sight, across = self.sight, self.sight.across
        slots, rows = sight.down.slots(), sight.page
        painter = _Painter()
        painted = [Row(slots[i].first, painter.runs(self._totals[i], self._cells[i])) for i in rows]
        return Grid(
            of=sight.of,
            across=across.name,
            down=sight.down.name,
            unit=across.unit if isinstance(across, TimeAxis) else None,
            time_range=sight.time_range,
            extent=sight.extent,
            columns=tuple(across.slots()),
            cells=tuple(painter.cells),
            rows=tuple(painted),
            row_count=len(slots),
            more=bool(rows) and rows[-1] + 1 < len(slots),
            counts=self._tally.counts,
        )

    @cached_property
    def _tally(self) -> Tally:
        return Tally.of(self.sight.of, self.sight.partitions)

    @cached_property
    def _cells(self) -> dict[int, dict[int, Cell]]:
        """The cells of each row of the page that are not all missing, by column."""
        return {i: {} for i in self.sight.page}

    def _fill(self) -> None:
        """Put what is known of partitions into the cells."""
        of, row, column = self.sight.of, self.sight.down.position, self.sight.across.position
        timeless = of.definition.time is None
        for start, some in self._tally.known.items():
            is_over = timeless or start < of.closed
            for segments, status in some.items():
                self._put(row(start, segments), column(start, segments), status, 1, is_over=is_over)
        for box in self._tally.waiting.boxes:
            number, columns = self.sight.others(box), [*self.sight.across.counts(box)]
            for i, _ in self.sight.down.counts(box):
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
        rows = [frozenset(i for i, _ in self.sight.down.counts(box)) for box in boxes]
        totals: dict[int, list[int]] = {}
        alike: dict[tuple[int, ...], list[int]] = {}
        for i in self.sight.page:
            own = tuple(n for n in range(len(boxes)) if i in rows[n])
            if own not in alike:
                alike[own] = self._sums([boxes[n] for n in own])
            totals[i] = alike[own]
        return totals

    def _sums(self, boxes: Iterable[Box]) -> list[int]:
        """Numbers of the partitions of a row's *boxes* by column."""
        sums = [0] * len(self.sight.across.slots())
        for box in boxes:
            number = self.sight.others(box)
            for j, count in self.sight.across.counts(box):
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
