"""Checks of the single values of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from decimal import Decimal
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.checks.check import Check, check_columns, column_names
from airflow_partitions.checks.result import SHOWN, Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.filters.expressions import arrow_condition, in_utc
from airflow_partitions.storage.filters.filter import EVERYTHING, Condition
from airflow_partitions.storage.filters.scalar import is_finite, scalar
from airflow_partitions.storage.filters.values import OPERATORS, is_number, typed
from airflow_partitions.storage.metadata.arrow_types import spark_name
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc


@attrs.frozen
class _Values(Check):
    """A check that every row passes or fails by itself."""

    @abstractmethod
    def fails(self, schema: pa.Schema) -> pc.Expression:
        """Where a row fails, of columns that are as *schema* says."""

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        condition = self.fails(rows.schema)
        failing = rows.select(list(self.columns or ())).filter(condition).num_rows
        if not failing:
            return Observation(True, f"all of {count(rows.num_rows, 'row')}")
        observed = f"{count(failing, 'failing row')} of {rows.num_rows:,}"
        return Observation(False, observed, staged.sample(condition, SHOWN))


@attrs.frozen
class NotNull(_Values):
    """No value is null.

    :param columns: one column, or several: each of them. NaN is not null: see :class:`ValueRange`.
    """

    _columns: tuple[str, ...] = attrs.field(converter=column_names, validator=check_columns)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def name(self) -> str:
        return f"no nulls in {', '.join(self._columns)}"

    @property
    def expected(self) -> str:
        return "no nulls"

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
        nulls = [statistics.columns[name].nulls for name in self._columns if name in statistics.columns]
        if len(nulls) < len(self._columns) or any(nulls):
            return None
        return Observation(True, f"none in {count(staged.rows, 'row')}")

    def fails(self, schema: pa.Schema) -> pc.Expression:
        import pyarrow.compute as pc

        return reduce(or_, (pc.field(name).is_null() for name in self._columns))


@attrs.frozen
class ValueRange(_Values):
    """Every value is within bounds. Nulls are left out; NaN is in no range.

    Numbers are compared as filters do: exactly, or rounded to the type of a column of floating point.

    :param column: of numbers, text, dates or times.
    :param at_least: the smallest value allowed.
    :param at_most: the greatest value allowed.
    """

    column: str
    at_least: Any = attrs.field(default=None, kw_only=True)
    at_most: Any = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        check_range(self.at_least, self.at_most, f"ValueRange({self.column!r})")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def name(self) -> str:
        return f"range of {self.column}"

    @property
    def expected(self) -> str:
        return range_in_words(self.at_least, self.at_most)

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
        told = statistics.columns.get(self.column)
        if told is None:
            return None
        if told.nulls == statistics.rows:
            return Observation(True, "no values")
        if told.minimum is None:
            return None
        try:
            within = (self.at_least is None or self.at_least <= told.minimum) and (
                self.at_most is None or told.maximum <= self.at_most
            )
        except TypeError:  # Arrow knows more of what can be compared
            return None
        return Observation(True, f"{told.minimum} to {told.maximum}") if within else None

    def fails(self, schema: pa.Schema) -> pc.Expression:
        import pyarrow.compute as pc

        given = [(">=", self.at_least), ("<=", self.at_most)]
        bounds = [_compared(schema, self.column, op, bound) for op, bound in given if bound is not None]
        return pc.field(self.column).is_valid() & ~reduce(and_, bounds)


def _values(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str) or not (accepted := tuple(values)):
        raise InvalidDefinitionError(f"values={values!r}; expected the values allowed, such as ['EWR', 'JFK']")
    return accepted


@attrs.frozen
class AcceptedValues(_Values):
    """Every value is one of some. Nulls are left out: see :class:`NotNull`.

    Numbers are compared as filters do: exactly, or rounded to the type of a column of floating point.

    :param column: the column.
    :param values: the values allowed.
    """

    column: str
    values: tuple[Any, ...] = attrs.field(converter=_values)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def name(self) -> str:
        return f"values of {self.column}"

    @property
    def expected(self) -> str:
        more = f", … ({len(self.values):,})" if len(self.values) > SHOWN else ""
        return f"one of {', '.join(map(repr, self.values[:SHOWN]))}{more}"

    def fails(self, schema: pa.Schema) -> pc.Expression:
        import pyarrow.compute as pc

        value = pc.field(self.column)
        finite = tuple(each for each in self.values if _is_finite(each))
        others = [in_utc(each) for each in self.values if each is not None and not _is_finite(each)]
        accepted = [_compared(schema, self.column, "in", finite)] if finite else []
        accepted += [value.isin(others)] if others else []
        return value.is_valid() & ~reduce(or_, accepted, pc.scalar(False))


def _compared(schema: pa.Schema, column: str, op: str, value: Any) -> pc.Expression:
    """Where *column* compares so with *value*."""
    import pyarrow.compute as pc

    kind = spark_name(schema.field(column).type)
    if is_number(kind) and all(map(_is_finite, value if isinstance(value, tuple) else (value,))):
        kept = tuple(map(scalar, value)) if isinstance(value, tuple) else scalar(value)
        part = typed(Condition(column, op, kept), kind)
        return arrow_condition(part, kind) if isinstance(part, Condition) else pc.scalar(part == EVERYTHING)
    return pc.field(column).isin(list(value)) if op == "in" else OPERATORS[op](pc.field(column), value)


def _is_finite(value: Any) -> bool:
    """Whether it is a number, and not infinite or NaN."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and is_finite(value)


def check_range(at_least: Any, at_most: Any, who: str) -> None:
    """Refuse a range without bounds, or with none between them."""
    if at_least is None and at_most is None:
        raise InvalidDefinitionError(f"{who}: expected at_least=, at_most= or both")
    if at_least is not None and at_most is not None and not at_least <= at_most:
        raise InvalidDefinitionError(f"{who}: at_least={at_least!r} is greater than at_most={at_most!r}; expected less")


def range_in_words(at_least: Any, at_most: Any) -> str:
    """A range, such as ``1 to 5`` or ``at least 1``."""
    low, high = (f"{each:,}" if isinstance(each, int | float) else str(each) for each in (at_least, at_most))
    if at_most is None:
        return f"at least {low}"
    return f"at most {high}" if at_least is None else f"{low} to {high}"
