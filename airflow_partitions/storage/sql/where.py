"""Partitions as a condition of SQL on the columns that tell them apart."""

from __future__ import annotations

from airflow_partitions.core.calendars.instants import utc
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import FilterError
from airflow_partitions.storage.filters.filter import And, Condition, Filter, Or, all_of, flatten
from airflow_partitions.storage.sql.dialect import Dialect

_OPERATORS = {"==": "=", "!=": "<>", "in": "IN", "not in": "NOT IN"}


def filter_of(selection: Selection) -> Filter:
    """*selection* as a filter on the dimensions of its definition. Of a range of time no key is listed."""
    return Or(tuple(_box(selection, box) for box in selection.canonical))


def sql_condition(where: Filter, dialect: Dialect) -> str:
    """*where*, each of whose values has the type of its column, as a condition of SQL in this *dialect*.

    :raises FilterError: if it can't be said of columns.
    """
    plain = _plain(where)
    if isinstance(plain, Condition):
        return _compared(plain, dialect)
    if not isinstance(plain, And | Or):
        raise FilterError(
            f"{plain}: the texts of its columns don't sort like times, so that no SQL can compare them; expected"
            " partition columns in UTC, or paths(…) in place of where(…)"
        )
    parts = flatten(type(plain), map(_plain, plain.parts))
    if not parts:
        return "TRUE" if isinstance(plain, And) else "FALSE"
    shown = [sql_condition(part, dialect) for part in parts]
    if isinstance(plain, And):
        return " AND ".join(shown)
    return f"({' OR '.join(shown)})"  # so that a condition may be added behind it


def _plain(where: Filter) -> Filter:
    """*where* without words that join nothing."""
    while isinstance(where, And | Or) and len(where.parts) == 1:
        where = where.parts[0]
    return where


def _box(selection: Selection, box: Box) -> Filter:
    conditions: list[Filter] = []
    if box.time_range is not None and (time := selection.definition.time) is not None:
        low, high = box.time_range
        bounds = ((">=", low, FIRST), ("<", high, LAST))
        conditions += [Condition(time.name, op, utc(at).isoformat()) for op, at, endless in bounds if at != endless]
    conditions += [
        Condition(name, "in", tuple(str(segment) for segment in segments)) for name, segments in box.segments.items()
    ]
    return all_of(conditions)


def _compared(condition: Condition, dialect: Dialect) -> str:
    name, value = dialect.name(condition.field), condition.value
    if value is None:
        return f"{name} IS NULL" if condition.op == "==" else f"{name} IS NOT NULL"
    if not isinstance(value, tuple):
        return f"{name} {_OPERATORS.get(condition.op, condition.op)} {dialect.value(value)}"
    if len(value) == 1:
        return f"{name} {'=' if condition.op == 'in' else '<>'} {dialect.value(value[0])}"
    return f"{name} {_OPERATORS[condition.op]} ({', '.join(map(dialect.value, value))})"
