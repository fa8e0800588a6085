"""A value in each cell of what is in view of an asset, and a scale that is fair to all but the outermost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Any, Literal

import attrs

from airflow_partitions.core.calendars.instants import TimeRange, instant
from airflow_partitions.engine.ledger.measured import measured
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.axis import TimeAxis
from airflow_partitions.operate.states.by_start import ByStart, by_time_range, those_of
from airflow_partitions.operate.states.sight import Sight
from airflow_partitions.operate.states.slot_form import columns_form
from airflow_partitions.operate.states.tries import newest_tries

#: So much of the cells is outside of a scale at each end.
_OUTSIDE = 0.01
#: Of fewer cells none is.
_FEW = 5
_SECOND = 1_000_000


@attrs.frozen
class Scale:
    """A scale of values.

    :ivar least: the smallest.
    :ivar low: where the scale begins: a hundredth of the values is below that, at least one if there are several.
    :ivar high: where it ends, likewise.
    :ivar most: the largest.
    """

    least: float
    low: float
    high: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Scale | None:
        """The scale of some *values*; ``None`` without any."""
        ordered = sorted(values)
        if not ordered:
            return None
        last = len(ordered) - 1
        outside = 0.0 if len(ordered) < _FEW else _OUTSIDE * last
        return cls(ordered[0], ordered[ceil(outside)], ordered[floor(last - outside)], ordered[last])


@attrs.frozen
class ValueGrid:
    """A value in each cell of a picture of partitions.

    :ivar of_several: what a cell of several partitions tells.
    :ivar rows: those of the page: texts of segments, with a value or ``None`` for each column.
    :ivar line: the same of all rows together.
    :ivar line_told: number of partitions that tell one, for each column.
    :ivar scale: of the cells of all rows; ``None`` without any.
    :ivar told: number of partitions that tell a value.
    :ivar untold: number of those that could, and do not.
    """

    sight: Sight
    of_several: Literal["mean", "most"]
    rows: tuple[tuple[str | None, tuple[float | None, ...]], ...]
    line: tuple[float | None, ...]
    line_told: tuple[int, ...]
    scale: Scale | None
    told: int
    untold: int

    def to_json(self) -> dict[str, Any]:
        """JSON form: that of the picture's columns, and the values."""
        sight, across, scale = self.sight, self.sight.across, self.scale
        slots = sight.down.slots()
        rows = sight.page
        more = bool(rows) and rows[-1] + 1 < len(slots)
        return {
            "asset": sight.of.asset.name,
            "now": sight.of.now.isoformat(timespec="seconds"),
            "of_several": self.of_several,
            "across": across.name,
            "down": sight.down.name,
            "unit": across.unit if isinstance(across, TimeAxis) else None,
            **columns_form(sight.of.definition, sight.time_range, across.slots()),
            "rows": [{"value": value, "values": list(values)} for value, values in self.rows],
            "row_count": len(slots),
            "row_cursor": slots[rows[-1]].first if more else None,
            "line": list(self.line),
            "line_told": list(self.line_told),
            **({"least": None, "low": None, "high": None, "most": None} if scale is None else attrs.asdict(scale)),
            "told": self.told,
            "untold": self.untold,
        }


def value_grid(sight: Sight, value: str) -> ValueGrid:
    """A *value* in each cell of what is in view.

    :param value: ``tries``, ``age``, or the name of one of :class:`.Measures`.
    """
    of_several: Literal["mean", "most"] = "most" if value in ("tries", "age") else "mean"
    row, column = sight.down.position, sight.across.position
    cells: dict[tuple[int, int], list[float]] = {}
    untold = told = 0
    read = _reader(sight.of, value)
    for time_range, part in by_time_range(sight.partitions):
        for start, some in those_of(part, read(time_range)).items():
            for segments, number in some.items():
                i, j = row(start, segments), column(start, segments)
                if i is None or j is None:
                    continue
                if number is None:
                    untold += 1
                    continue
                told += 1
                cells.setdefault((i, j), []).append(number)
    total = _most if of_several == "most" else _mean
    values = {at: total(numbers) for at, numbers in cells.items()}
    columns = range(len(sight.across.slots()))
    slots = sight.down.slots()
    by_column: dict[int, list[float]] = {}
    for (_, j), numbers in cells.items():
        by_column.setdefault(j, []).extend(numbers)
    return ValueGrid(
        sight,
        of_several,
        tuple((slots[i].first, tuple(values.get((i, j)) for j in columns)) for i in sight.page),
        tuple(total(by_column[j]) if j in by_column else None for j in columns),
        tuple(len(by_column.get(j, ())) for j in columns),
        Scale.of(values.values()),
        told,
        untold,
    )


def _reader(of: AssetStates, value: str) -> Callable[[TimeRange | None], ByStart[float | None]]:
    """What reads the *value* of the partitions of a range of time."""
    if value == "tries":
        tries = newest_tries(of.times.places, of.tasks)
        return lambda time_range: _between(tries, time_range)
    if value == "age":
        now = instant(of.now)
        return lambda time_range: {
            start: {segments: max(0, now - at) // _SECOND for segments, at in some.items()}
            for start, some in of.times.between(time_range).items()
        }
    return lambda time_range: measured(of.asset.name, of.asset.meaning, value, time_range)


def _between(by_start: Mapping[int, dict[tuple[str, ...], float | None]], time_range: TimeRange | None) -> ByStart[Any]:
    low, high = time_range or (0, 1)
    return {start: some for start, some in by_start.items() if low <= start < high}


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else round(sum(values) / len(values), 3)


def _most(values: Sequence[float]) -> float:
    return max(values)
