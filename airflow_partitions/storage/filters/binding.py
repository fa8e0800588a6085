"""Binding of a filter to the columns of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, TypeAlias

import attrs

from airflow_partitions.core.definitions import PartitionByInterval, PartitionBySequence, PartitionDefinition
from airflow_partitions.core.errors import FilterError, InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Segment
from airflow_partitions.storage.filters.filter import And, Condition, Filter, Or, all_of, flatten
from airflow_partitions.storage.filters.time_columns import TimeColumns
from airflow_partitions.storage.filters.values import check_microseconds, test_of, typed
from airflow_partitions.storage.layout.layout import Layout

#: Texts of partition columns by name.
Texts: TypeAlias = Mapping[str, str]


@attrs.frozen
class DirectoryTest(Filter):
    """A condition that only a look at the folder's name decides: no engine's filter can say it.

    :ivar condition: what was asked.
    :ivar columns: the partition columns it looks at.
    :ivar accepts: whether their texts fit.
    """

    __test__ = False  # pytest

    condition: Filter
    columns: tuple[str, ...]
    accepts: Callable[[Texts], bool]

    def __invert__(self) -> Filter:
        return DirectoryTest(~self.condition, self.columns, lambda texts: not self.accepts(texts))

    def conditions(self) -> Iterator[Condition]:
        yield from self.condition.conditions()

    def to_json(self) -> dict[str, Any]:
        return self.condition.to_json()

    def __str__(self) -> str:
        return str(self.condition)


class BoundColumns:
    """The fields of a dataset: its dimensions, its partition columns, and the columns of its files.

    :param layout: its folders, ``None`` without partitions.
    :param schema: column to type of the files, ``None`` if that is not known.
    """

    def __init__(self, layout: Layout | None, schema: Mapping[str, str] | None) -> None:
        self.layout = layout
        self.schema = schema
        self.types = {name: column.type for name, column in layout.columns.items()} if layout else {}

    def bind(self, where: Filter) -> Filter:
        """*where* in terms of columns alone, be it of folders or of files.

        :raises FilterError: if there is no such field, or it can't be compared so.
        """
        if isinstance(where, Condition):
            return self._bind(where.field, [where])
        if isinstance(where, Or):
            return Or(flatten(Or, map(self.bind, where.parts)))
        if not isinstance(where, And):
            return where
        ranges: dict[str, list[Condition]] = {}
        others: list[Filter] = []
        for part in where.parts:
            if isinstance(part, Condition) and part.op in ("<", "<=", ">", ">="):
                ranges.setdefault(part.field, []).append(part)
            else:
                others.append(self.bind(part))
        return all_of([*(self._bind(name, both) for name, both in ranges.items()), *others])

    def _bind(self, name: str, bounds: list[Condition]) -> Filter:
        """Conditions on the field *name*; several only if they are bounds of a range."""
        dimensions = self.layout.definition.dimensions if self.layout else {}
        try:
            if self.layout is not None and name in dimensions:
                dimension = dimensions[name]
                if bounds[0].value is None:
                    return attrs.evolve(bounds[0], field=self.layout.columns_of(name)[0])
                if isinstance(dimension, PartitionByInterval):
                    return _time(TimeColumns(self.layout, dimension), bounds)
                return all_of(_segment(self.layout, dimension, bound) for bound in bounds)
            if name in self.types or (self.schema is not None and name in self.schema):
                return all_of(map(self.typed, bounds))
        except (InvalidKeyError, InvalidDefinitionError) as error:
            raise FilterError(f"{all_of(bounds)}: {error}") from None
        names = list(dict.fromkeys([*dimensions, *self.types, *(self.schema or {})]))
        if self.schema is not None or get_close_matches(name, names, n=1, cutoff=0.75):
            near = get_close_matches(name, names, n=1, cutoff=0)
            raise FilterError(f"there is no field {name!r}; nearest: {near[0] if near else 'none'}, of {names}")
        return all_of(bounds)  # a column of files whose schema is not known

    def typed(self, condition: Condition) -> Condition:
        """*condition*, if its values fit the type of its column."""
        typed(condition, self.type_of(condition.field))
        return condition

    def type_of(self, column: str) -> str | None:
        """Spark's name of the column's type, ``None`` if it is not known."""
        return self.types.get(column) or (self.schema or {}).get(column)


def _time(times: TimeColumns, bounds: list[Condition]) -> Filter:
    for bound in bounds:
        for value in bound.value if isinstance(bound.value, tuple) else (bound.value,):
            try:
                check_microseconds(value)
            except ValueError as error:
                raise FilterError(f"{bound}: {error}") from None
    if bounds[0].op in ("==", "!=", "in", "not in"):
        return times.among(bounds[0])
    keys = times.within(bounds)
    return keys if isinstance(keys, Filter) else DirectoryTest(all_of(bounds), times.names, keys)


def _segment(layout: Layout, dimension: PartitionDefinition, condition: Condition) -> Filter:
    column = layout.columns_of(dimension.name)[0]
    if layout.fields:
        return _tuples(layout, condition)
    if isinstance(dimension, PartitionBySequence):
        return Condition(column, "in", tuple(s.text for s in dimension.segments if _holds(dimension, s, condition)))
    if condition.op in ("==", "!=", "in", "not in"):
        values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        texts = tuple(str(_key(dimension, value)) for value in values)
        return Condition(column, "in" if condition.op in ("==", "in") else "not in", texts)
    return DirectoryTest(condition, (column,), lambda texts: _compare(dimension.parse(texts[column]), condition))


def _tuples(layout: Layout, condition: Condition) -> Filter:
    """A condition on keys that are tuples, as conditions on the columns of their values."""
    if condition.op not in ("==", "!=", "in", "not in"):
        raise FilterError(f"{condition}: tuples have no order; expected == or in, or a range of {[*layout.fields]}")
    chosen = [condition.value] if condition.op in ("==", "!=") else condition.value
    keys = [layout.values_of(layout.key(value)) for value in chosen]
    directories = Or(tuple(all_of(Condition(name, "==", text) for name, text in texts.items()) for texts in keys))
    return directories if condition.op in ("==", "in") else ~directories


def _holds(dimension: PartitionBySequence, segment: Segment, condition: Condition) -> bool:
    if condition.op in ("in", "not in"):
        chosen = {str(_key(dimension, value)) for value in condition.value}
        return (segment.text in chosen) == (condition.op == "in")
    if condition.op in ("==", "!="):
        return (segment.text == str(_key(dimension, condition.value))) == (condition.op == "==")
    return _compare(segment, condition)


def _key(dimension: PartitionDefinition, value: Any) -> Any:
    return dimension.parse(value) if isinstance(value, str) else dimension.key(value)


def _compare(segment: Any, condition: Condition) -> bool:
    """Whether the order of the segment's value and that of the *condition* is the wanted one."""
    value, kind = segment.value, _KINDS.get(type(segment.value))
    if kind is None:
        raise FilterError(f"{condition}: values of type {type(value).__name__} have no order; expected == or in")
    return test_of(condition, kind)(value)


_KINDS = {str: "string", int: "bigint", float: "double", date: "date", datetime: "timestamp"}
