"""Columns of a table that tell keys apart: what range of values a part of a key has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from difflib import get_close_matches
from typing import Any, ClassVar, NamedTuple

import attrs
from pyiceberg.expressions import And, BooleanExpression, EqualTo, GreaterThanOrEqual, LessThan, Reference
from pyiceberg.expressions.literals import literal
from pyiceberg.schema import Schema
from pyiceberg.types import (
    DateType,
    DecimalType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

from airflow_partitions.core.calendars.instants import DAY, instant, utc, wall_of
from airflow_partitions.core.definitions import (
    PartitionByInterval,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, Segment
from airflow_partitions.storage.filters.filter import And as Both
from airflow_partitions.storage.filters.filter import Condition, Filter

_DAY_ZERO = date(1970, 1, 1).toordinal()
_UTC = ("UTC", "Etc/UTC")


class Values(NamedTuple):
    """A range of a column's values, as Iceberg stores them: microseconds, days, numbers, text.

    :ivar low: the least value.
    :ivar high: the greatest value.
    """

    low: Any
    high: Any

    def contains(self, other: Values) -> bool:
        """Whether all of the *other* range is in this one."""
        return bool(self.low <= other.low and other.high <= self.high)

    def overlaps(self, other: Values) -> bool:
        """Whether the two share a value."""
        return bool(self.low <= other.high and other.low <= self.high)

    def both(self, other: Values) -> Values:
        """The values that are in both."""
        return Values(max(self.low, other.low), min(self.high, other.high))


@attrs.frozen
class KeyColumn(ABC):
    """A column of a table that holds a dimension.

    :ivar dimension: the dimension.
    :ivar field: the column.
    :cvar types: what types it may have.
    """

    dimension: PartitionDefinition
    field: NestedField
    name: str

    types: ClassVar[tuple[type[IcebergType], ...]]

    @abstractmethod
    def values(self, part: Interval | Segment) -> Values:
        """The values that *part* of a key has in the column.

        :raises InvalidDefinitionError: if it has none.
        """

    @abstractmethod
    def parts(self, values: Values) -> Iterable[Interval | Segment] | None:
        """The parts of keys that may have *values*; ``None`` if there are too many to say."""

    def part(self, value: Any) -> Interval | Segment | None:
        """The part of keys that rows with *value* are of, ``None`` if there is none."""
        one = Values(value, value)
        return next((part for part in self.parts(one) or () if self.values(part).contains(one)), None)

    @abstractmethod
    def filter(self, part: Interval | Segment) -> BooleanExpression:
        """The condition on the column that *part* of a key means."""

    def shown(self, value: Any) -> str:
        """A *value* of the column, as Iceberg stores it, for messages."""
        return str(_python(self.field.field_type, value))

    @abstractmethod
    def where(self, part: Interval | Segment) -> Filter:
        """The same condition as a filter, with values of the column's type."""

    @abstractmethod
    def sql(self, part: Interval | Segment) -> str:
        """The same condition in Spark's SQL."""

    @abstractmethod
    def value(self, part: Interval | Segment) -> Any:
        """The value of rows of *part* that say none: the start of an interval, the value of a segment."""


@attrs.frozen
class _Times(KeyColumn):
    """A column of times, in which a key is a half-open range."""

    dimension: PartitionByInterval

    @abstractmethod
    def _bound(self, at: int) -> int:
        """The column's value at the instant *at*."""

    @abstractmethod
    def _literal(self, at: int) -> datetime | date:
        """The column's value at the instant *at*, as pyiceberg takes it."""

    def values(self, part: Interval | Segment) -> Values:
        low, high = (self._bound(at) for at in _interval(part).time_range)
        return Values(low, high - 1)

    def filter(self, part: Interval | Segment) -> BooleanExpression:
        start, end = (self._literal(at) for at in _interval(part).time_range)
        return And(
            GreaterThanOrEqual(term=Reference(self.name), value=literal(start)),
            LessThan(term=Reference(self.name), value=literal(end)),
        )

    def where(self, part: Interval | Segment) -> Filter:
        start, end = (self._literal(at) for at in _interval(part).time_range)
        return Both((Condition(self.name, ">=", start), Condition(self.name, "<", end)))

    def value(self, part: Interval | Segment) -> Any:
        return self._literal(_interval(part).time_range[0])

    def sql(self, part: Interval | Segment) -> str:
        start, end = (self._literal(at) for at in _interval(part).time_range)
        return f"{self.name} >= {_sql(start)} AND {self.name} < {_sql(end)}"

    def _between(self, low: int, high: int) -> Iterator[Interval]:
        """The keys that overlap the instants from *low* to before *high*."""
        low, high = self.dimension.overlapping(low, high)
        yield from self.dimension.keys(utc(low), utc(high)) if low < high else ()


@attrs.frozen
class InstantColumn(_Times):
    """A column of instants: ``timestamptz``, Spark's ``timestamp``."""

    types = (TimestamptzType,)

    def _bound(self, at: int) -> int:
        return at

    def parts(self, values: Values) -> Iterable[Interval]:
        return self._between(values.low, values.high + 1)

    def _literal(self, at: int) -> datetime:
        return utc(at)


@attrs.frozen
class _Shown(_Times):
    """A column of what the clocks of the definition's zone show."""

    #: How many microseconds a value is.
    unit: ClassVar[int]

    def _bound(self, at: int) -> int:
        return wall_of(self.dimension.clock.datetime(at)) // self.unit

    def parts(self, values: Values) -> Iterable[Interval]:
        # Clocks leave out hours and even days, and are never more than a day from UTC.
        near = self._between(values.low * self.unit - DAY, (values.high + 1) * self.unit + DAY)
        return (part for part in near if self.values(part).overlaps(values))


@attrs.frozen
class WallTimeColumn(_Shown):
    """A column of times on the wall clock of the definition's zone: Spark's ``timestamp_ntz``."""

    types = (TimestampType,)
    unit = 1

    def __attrs_post_init__(self) -> None:
        if not self.dimension.clock.dates and self.dimension.timezone not in _UTC:
            raise InvalidDefinitionError(
                f"column {self.name!r} holds wall times without a zone, of which {self.dimension.timezone} shows some"
                f" twice: keys of {self.dimension!r} can't be told apart by them; expected a column of type timestamp"
                " (with time zone), or timezone='UTC'"
            )

    def _literal(self, at: int) -> datetime:
        return utc(self._bound(at)).replace(tzinfo=None)


@attrs.frozen
class DateColumn(_Shown):
    """A column of dates, in the zone of the definition."""

    types = (DateType,)
    unit = DAY

    def __attrs_post_init__(self) -> None:
        if not self.dimension.clock.dates:
            raise InvalidDefinitionError(
                f"column {self.name!r} holds dates, which don't tell keys of {self.dimension!r} apart; expected a"
                " column of times, or keys that begin at midnight"
            )

    def _literal(self, at: int) -> date:
        return date.fromordinal(self._bound(at) + _DAY_ZERO)


@attrs.frozen
class ValueColumn(KeyColumn):
    """A column with one value for each key: that of a segment, or the text of a time."""

    types = (StringType, IntegerType, LongType, DateType, TimestamptzType, DecimalType)

    def values(self, part: Interval | Segment) -> Values:
        value = _stored(self._plain(part))
        return Values(value, value)

    def parts(self, values: Values) -> Iterable[Interval | Segment] | None:
        if values.low == values.high:
            try:
                return [self._part(values.low)]
            except InvalidKeyError:
                return ()
        if isinstance(self.dimension, PartitionBySequence):
            return [segment for segment in self.dimension.segments if values.overlaps(self.values(segment))]
        return None

    def filter(self, part: Interval | Segment) -> BooleanExpression:
        return EqualTo(term=Reference(self.name), value=literal(self._plain(part)))

    def where(self, part: Interval | Segment) -> Filter:
        return Condition(self.name, "==", self._plain(part))

    def value(self, part: Interval | Segment) -> Any:
        return self._plain(part)

    def sql(self, part: Interval | Segment) -> str:
        return f"{self.name} = {_sql(self._plain(part))}"

    def _plain(self, part: Interval | Segment) -> Any:
        """The value as pyiceberg takes it."""
        value = str(part) if isinstance(part, Interval) else part.value
        if not isinstance(value, _PYTHON[type(self.field.field_type)]) or isinstance(value, tuple):
            raise InvalidDefinitionError(
                f"key {str(part)!r} of {self.dimension.name!r} is a {type(value).__name__}, which is no value of the"
                f" column {self.name!r} of type {self.field.field_type}; expected a column of its type"
            )
        kind = self.field.field_type
        return self._scaled(value, kind) if isinstance(value, Decimal) and isinstance(kind, DecimalType) else value

    def _scaled(self, value: Decimal, kind: DecimalType) -> Decimal:
        """*value* with as many digits behind the point as the column has: keys are written without zeros at the end."""
        try:
            digits = Context(prec=kind.precision, traps=[Inexact, InvalidOperation])
            return value.quantize(Decimal(1).scaleb(-kind.scale), context=digits)
        except (Inexact, InvalidOperation):
            raise InvalidDefinitionError(
                f"key {str(value)!r} of {self.dimension.name!r} is no value of the column {self.name!r} of type {kind};"
                f" expected at most {kind.scale} digits behind the point and {kind.precision - kind.scale} before it"
            ) from None

    def _part(self, stored: Any) -> Interval | Segment:
        if isinstance(self.dimension, PartitionByInterval):
            return self.dimension.parse(stored)
        key = self.dimension.key(_python(self.field.field_type, stored))
        assert isinstance(key, Segment)  # noqa: S101 - no product is a dimension
        return key


#: What segments a column of a type can hold.
_PYTHON: Mapping[type[IcebergType], type] = {
    StringType: str,
    IntegerType: int,
    LongType: int,
    DateType: date,
    TimestamptzType: datetime,
    DecimalType: Decimal,
}


def key_column(dimension: PartitionDefinition, name: str, schema: Schema) -> KeyColumn:
    """The column *name* of a table, that holds *dimension*.

    :raises InvalidDefinitionError: if there is none, or it can't hold it.
    """
    try:
        field = schema.find_field(name)
    except ValueError:
        names = [each.name for each in schema.fields]
        nearest = get_close_matches(name, names, n=1, cutoff=0)
        raise InvalidDefinitionError(
            f"partition_on={{{dimension.name!r}: {name!r}}}: the table has no column {name!r}; nearest:"
            f" {nearest[0] if nearest else '(it has none)'!r}"
        ) from None
    kinds: tuple[type[KeyColumn], ...] = (ValueColumn,)
    if isinstance(dimension, PartitionByInterval):
        kinds = (InstantColumn, WallTimeColumn, DateColumn)
        if isinstance(field.field_type, StringType):
            kinds = (ValueColumn,)
    for kind in kinds:
        if isinstance(field.field_type, kind.types):
            return kind(dimension=dimension, field=field, name=name)
    expected = ", ".join(sorted({str(each).rpartition(".")[2][:-2] for kind in kinds for each in kind.types}))
    raise InvalidDefinitionError(
        f"column {name!r} is of type {field.field_type}, which can't hold {dimension.name!r}, keys of {dimension!r};"
        f" expected one of: {expected}"
    )


def _interval(part: Interval | Segment) -> Interval:
    assert isinstance(part, Interval)  # noqa: S101 - of a dimension of time
    return part


def _stored(value: Any) -> Any:
    """A plain *value* as Iceberg stores it."""
    if isinstance(value, datetime):
        return instant(value)
    return value.toordinal() - _DAY_ZERO if isinstance(value, date) else value


def _python(kind: IcebergType, stored: Any) -> Any:
    """The inverse of :func:`_stored`."""
    if isinstance(kind, TimestamptzType):
        return utc(stored)
    if isinstance(kind, TimestampType):
        return utc(stored).replace(tzinfo=None)
    if isinstance(kind, DateType):
        return date.fromordinal(stored + _DAY_ZERO)
    return stored


def _sql(value: Any) -> str:
    if isinstance(value, datetime):
        kind = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
        return f"{kind} '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)
