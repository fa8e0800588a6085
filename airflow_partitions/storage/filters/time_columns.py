"""Conditions on the time of partitions, in terms of the columns that it fills."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from airflow_partitions.core.calendars.instants import from_iso, instant, utc
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionByInterval
from airflow_partitions.core.keys import Interval
from airflow_partitions.storage.filters.filter import NOTHING, And, Condition, Filter, Or, all_of
from airflow_partitions.storage.layout.layout import Layout

#: More times than this are not listed in a filter.
_MOST = 10_000
_DIRECTIVE = re.compile(r"%([-_0^#]?[A-Za-z%])")
_SHORT = {"F": "Ymd", "T": "HMS", "R": "HM"}
#: Directives from the greatest to the least: texts of fixed width written in such an order sort like the times.
_ORDERS = ("YmdHMSf", "YjHMSf", "GVuHMSf")
#: Decides by the texts of partition columns.
Decide: TypeAlias = Callable[[Mapping[str, str]], bool]


class TimeColumns:
    """The columns of a *layout* that hold its time *dimension*.

    :ivar names: their names.
    """

    def __init__(self, layout: Layout, dimension: PartitionByInterval) -> None:
        self.dimension = dimension
        self.layout = layout
        self.names = layout.columns_of(dimension.name)
        self._ordered = _ordered({name: _format(layout, dimension, name) for name in self.names}, dimension.timezone)

    def among(self, condition: Condition) -> Filter:
        """A condition on which partitions it may be: ``==``, ``in`` or their inverse.

        :raises InvalidKeyError: if there is no such partition.
        """
        values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        intervals = self._among([self.dimension.parse(str(value)) for value in values])
        return intervals if condition.op in ("==", "in") else ~intervals

    def within(self, bounds: Sequence[Condition]) -> Filter | Decide:
        """Conditions on when partitions start, all of which hold. Where no filter can say that: what decides by texts.

        :raises InvalidDefinitionError: if a bound is no time.
        """
        time, low, high = self.dimension, FIRST, LAST
        for bound in bounds:
            at = time.moment(str(bound.value), bound.field) + (bound.op in ("<=", ">"))
            low, high = (low, min(high, at)) if bound.op in ("<", "<=") else (max(low, at), high)
        low, high = self._boundary(low), self._boundary(high)
        if self._ordered is not None:
            lower = () if low == FIRST else (_lexicographic(self._texts(low), ">", ">="),)
            upper = () if high == LAST else (_lexicographic(self._texts(high), "<", "<"),)
            return NOTHING if low >= high else all_of(lower + upper)
        first, last = time.start, time.end
        listed = self._listed(
            low if first is None else max(low, instant(first)), high if last is None else min(high, instant(last))
        )
        return listed if listed is not None else lambda texts: low <= self._start(texts) < high

    def _boundary(self, at: int) -> int:
        """The first start of an interval at or after the instant *at*."""
        if at in (FIRST, LAST):
            return at
        boundary = self.dimension.calendar.after(at - 1)
        return LAST if boundary is None else boundary

    def _listed(self, low: int, high: int) -> Filter | None:
        """Starts in ``[low, high)``, one by one; ``None`` if they have no end or are too many."""
        if high <= low:
            return NOTHING
        if low == FIRST or high == LAST or self.dimension.count(utc(low), utc(high)) > _MOST:
            return None
        return self._among(list(self.dimension.keys(utc(low), utc(high))))

    def _among(self, intervals: list[Interval]) -> Filter:
        columns = self.layout.columns
        texts = [tuple(columns[name].text(interval) for name in self.names) for interval in intervals]
        if len(self.names) == 1:
            return Condition(self.names[0], "in", tuple(text for (text,) in texts))
        exact = (And(tuple(Condition(n, "==", t) for n, t in zip(self.names, some, strict=True))) for some in texts)
        return Or(tuple(exact))

    def _texts(self, at: int) -> list[tuple[str, str]]:
        """The columns from the greatest to the least, each with its text at the instant *at*."""
        moment = self.dimension.clock.datetime(at)
        return [(name, moment.strftime(form)) for name, form in self._ordered or ()]

    def _start(self, texts: Mapping[str, str]) -> int:
        """When the interval with these *texts* starts."""
        if len(self.names) == 1:
            try:
                moment = from_iso(texts[self.names[0]])
                if moment.utcoffset() is not None:
                    return instant(moment)
            except ValueError:
                pass  # not written in ISO's way
        return self.layout.interval_of({name: texts[name] for name in self.names}).time_range[0]


def _format(layout: Layout, dimension: PartitionByInterval, name: str) -> str:
    """The strftime format of a column, if the canonical text is a date also of that."""
    column = layout.columns[name]
    if column.dimension is None:
        return column.format
    return "%Y-%m-%d" if dimension.clock.dates else ""


def _ordered(formats: Mapping[str, str], timezone: str) -> list[tuple[str, str]] | None:
    """The columns from the greatest part of the time to the least, ``None`` if their texts don't sort like times."""
    parts = {name: "".join(_SHORT.get(d, d) for d in _DIRECTIVE.findall(form)) for name, form in formats.items()}
    for order in _ORDERS:
        columns = sorted(formats, key=lambda name: order.find(parts[name][:1]))
        if order.startswith("".join(parts[name] for name in columns)) and all(parts.values()):
            clocked = any("H" in part for part in parts.values())
            # Where the clock is set back, later times have smaller texts.
            return None if clocked and timezone not in ("UTC", "Etc/UTC") else [(n, formats[n]) for n in columns]
    return None


def _lexicographic(bounds: list[tuple[str, str]], strict: str, last: str) -> Filter:
    (name, text), *rest = bounds
    if not rest:
        return Condition(name, last, text)
    same = And((Condition(name, "==", text), _lexicographic(rest, strict, last)))
    return Or((Condition(name, strict, text), same))
