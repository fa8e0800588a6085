"""Rows of many keys, as one condition on the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
from pyiceberg.expressions import AlwaysFalse, And, BooleanExpression, Or

from airflow_partitions.core.definitions import PartitionByInterval
from airflow_partitions.core.keys import Interval, Key, Segment
from airflow_partitions.storage.filters.filter import And as AllOf
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.filters.filter import Or as EitherOf
from airflow_partitions.storage.iceberg.table.key_column import ValueColumn
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

_Part = Interval | Segment


@attrs.frozen
class RowFilter:
    """The rows of some keys: any of several combinations of parts.

    Times that follow each other are one range, and segments with the same times stand together, so that a year of days
    of three airports is one short condition.

    :ivar keys: how keys are told by the columns of the table.
    :ivar terms: each has some parts for every dimension, in the order of the columns of *keys*.
    """

    keys: KeyFilter
    terms: Sequence[Sequence[Sequence[_Part]]]

    @classmethod
    def of(cls, keys: KeyFilter, selected: Iterable[Key]) -> RowFilter:
        """The rows of the keys *selected*."""
        names = list(keys.columns)
        dimensions_of = keys.layout.definition.dimensions_of
        combinations = [tuple(parts[name] for name in names) for parts in map(dimensions_of, selected)]
        time = next((n for n, name in enumerate(names) if _is_range(keys, name)), None)
        if time is None and len(names) == 1:
            return cls(keys, [[list(dict.fromkeys(parts[0] for parts in combinations))]] if combinations else [])
        if time is None:
            return cls(keys, [[[part] for part in parts] for parts in combinations])
        times: dict[tuple[_Part, ...], list[Interval]] = {}
        for parts in combinations:
            interval = parts[time]
            assert isinstance(interval, Interval)  # noqa: S101 - of a dimension of time
            times.setdefault((*parts[:time], *parts[time + 1 :]), []).append(interval)
        by_times: dict[tuple[Interval, ...], list[tuple[_Part, ...]]] = {}
        for group, intervals in times.items():
            by_times.setdefault(tuple(_merged(intervals)), []).append(group)
        terms: list[list[Sequence[_Part]]] = []
        for ranges, groups in by_times.items():
            # Of one other dimension any of its parts will do; of several, their combinations count.
            others = [[[part for (part,) in groups]]] if len(names) == 2 else [[[part] for part in g] for g in groups]
            terms += [[*each[:time], ranges, *each[time:]] for each in others]
        return cls(keys, terms)

    @property
    def expression(self) -> BooleanExpression:
        """As pyiceberg says it."""
        columns = self.keys.columns.values()
        return _any(
            _all(_any(map(column.filter, parts)) for column, parts in zip(columns, term, strict=True))
            for term in self.terms
        )

    @property
    def where(self) -> Filter:
        """As a filter on columns of the table, with values of their types."""
        columns = list(self.keys.columns.values())
        return EitherOf(
            tuple(
                AllOf(tuple(EitherOf(tuple(map(one.where, parts))) for one, parts in zip(columns, term, strict=True)))
                for term in self.terms
            )
        )

    @property
    def sql(self) -> str:
        """As Spark's SQL says it."""
        columns = self.keys.columns.values()
        return _or(
            " AND ".join(f"({_or(map(column.sql, parts))})" for column, parts in zip(columns, term, strict=True))
            for term in self.terms
        )


def _is_range(keys: KeyFilter, name: str) -> bool:
    """Whether the column of the dimension *name* holds times, of which a key is a range."""
    dimension = keys.layout.definition.dimensions[name]
    return isinstance(dimension, PartitionByInterval) and not isinstance(keys.columns[name], ValueColumn)


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The same times, in as few intervals as they can be."""
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda each: each.time_range):
        if merged and merged[-1].time_range[1] >= interval.time_range[0]:
            end = max(merged[-1].end, interval.end, key=lambda moment: moment.timestamp())
            merged[-1] = Interval(merged[-1].start, end)
        else:
            merged.append(interval)
    return merged


def _any(conditions: Iterable[BooleanExpression]) -> BooleanExpression:
    parts = list(conditions)
    if not parts:
        return AlwaysFalse()
    return parts[0] if len(parts) == 1 else Or(*parts)


def _all(conditions: Iterable[BooleanExpression]) -> BooleanExpression:
    parts = list(conditions)
    return parts[0] if len(parts) == 1 else And(*parts)


def _or(conditions: Iterable[str]) -> str:
    """A condition whose depth grows with the logarithm of their number: Spark looks at it level by level."""
    parts = [f"({condition})" for condition in conditions]
    if not parts:
        return "false"
    while len(parts) > 1:
        pairs = [parts[n : n + 2] for n in range(0, len(parts), 2)]
        parts = [f"({' OR '.join(pair)})" if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]
