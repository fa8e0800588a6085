"""Conditions as expressions of the engines. All of them say the same.

Null fits nothing but ``is None``, which is what each engine does by itself, but for some ``not in``. NaN fits no
comparison, and ``-0.0`` is ``0.0``: for these an engine, or the statistics of files by which it leaves some out, has
ideas of its own.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.storage.filters.filter import Condition
from airflow_partitions.storage.filters.values import EPOCH, FLOATS, OPERATORS, name_of
from airflow_partitions.storage.metadata.arrow_types import arrow_type

if TYPE_CHECKING:
    from pyspark.sql import Column

_MICROSECOND = timedelta(microseconds=1)


def spark_condition(condition: Condition, kind: str | None) -> Column:
    """A condition of Spark on a bare column.

    :param condition: its values are of the column's type.
    :param kind: that type, ``None`` if it is not known.
    """
    from pyspark.sql import functions as f

    column = f.col("`" + condition.field.replace("`", "``") + "`")
    op, value = condition.op, condition.value
    if value is None:
        return column.isNull() if op == "==" else column.isNotNull()

    values = value if isinstance(value, tuple) else (value,)
    if name_of(kind) in ("timestamp", "timestamp_ltz") and any(each.microsecond % 1000 for each in values):
        # Where Spark looks into ORC files it cuts such times to milliseconds, and leaves out rows.
        column, values, kind = f.unix_micros(column), tuple((each - EPOCH) // _MICROSECOND for each in values), "bigint"
        value = values if isinstance(value, tuple) else values[0]

    def literal(plain: Any) -> Any:
        if isinstance(plain, date | Decimal):  # as text: Python's times go through the zones of both machines
            text = f"{plain:f}" if isinstance(plain, Decimal) else plain.isoformat()
            return f.lit(text) if kind is None else f.lit(text).cast(kind)
        return plain if kind is None or name_of(kind) not in ("float", "real") else f.lit(plain).cast(kind)

    if name_of(kind) in FLOATS:
        return _spark_float(column, op, value, literal)
    if op in ("in", "not in"):
        among = column.isin(list(map(literal, value)))
        return among if op == "in" else ~among
    return OPERATORS[op](column, literal(value))  # type: ignore[no-any-return]


def _spark_float(column: Column, op: str, value: Any, literal: Any) -> Column:
    """To Spark NaN is the greatest number; where it looks into Parquet and ORC files, -0.0 is less than 0.0."""
    from pyspark.sql import functions as f

    number = ~f.isnan(column)
    zero: Column = (column >= literal(-0.0)) & (column <= literal(0.0))
    if op in ("in", "not in"):
        others = [literal(each) for each in value if each]
        among = column.isin(others) if others else zero
        if others and len(others) < len(value):
            among |= zero
        return among if op == "in" else ~among & number
    if op == "==" and not value:
        return zero
    compared: Column = OPERATORS[op](column, literal(value or (-0.0 if op == ">=" else 0.0)))
    return compared & number if op in (">", ">=", "!=") else compared


def arrow_condition(condition: Condition, kind: str | None) -> Any:
    """An expression of pyarrow on a bare column; the parameters are those of :func:`spark_condition`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column, op, value = pc.field(condition.field), condition.op, condition.value
    if value is None:
        return column.is_null() if op == "==" else column.is_valid()
    value = tuple(map(in_utc, value)) if isinstance(value, tuple) else in_utc(value)
    type_, floating = None if kind is None else arrow_type(kind), name_of(kind) in FLOATS
    if op in ("in", "not in"):
        both = [*value, -0.0] if floating and 0.0 in value else list(value)
        compared = column.isin(pa.array(both, type_))
        if op == "not in":
            compared = ~compared & column.is_valid()
    else:
        compared = OPERATORS[op](column, pa.scalar(value, type_))
    return compared & ~pc.is_nan(column) if floating and op in ("!=", "not in") else compared


def in_utc(value: Any) -> Any:
    """*value* as it is or, an instant, in UTC: where pandera is imported, arrays of pyarrow leave offsets out."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo is not None else value
