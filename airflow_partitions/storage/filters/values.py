"""Values of filters as values of columns, by Spark's names of types."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from airflow_partitions.errors import FilterError

_NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "byte", "short", "integer", "long", "real"}


def typed(value: Any, kind: str | None, where: object) -> Any:
    """The filter's *value* as one of a column of type *kind*; as it is if the type is not known or nested.

    Numbers, dates and times may be given as text: that is all that a REST caller or a file of arguments has.

    :raises FilterError: if it is none; the message begins with *where*.
    """
    name = (kind or "").lower().partition("(")[0]
    try:
        if name in ("string", "varchar", "char"):
            return _exactly(value, str)
        if name in _NUMBERS:
            return _number(value)
        if name in ("decimal", "numeric", "dec"):
            return Decimal(str(_exactly(value, str, int, float)))
        if name == "boolean":
            return {"true": True, "false": False}[value.lower()] if isinstance(value, str) else _exactly(value, bool)
        if name == "date":
            return date.fromisoformat(_exactly(value, str))
        if name in ("timestamp", "timestamp_ltz", "timestamp_ntz"):
            return _moment(_exactly(value, str), aware=name != "timestamp_ntz")
    except (ValueError, TypeError, KeyError, InvalidOperation) as error:
        reason = f" ({error})" if isinstance(error, ValueError) else ""
        raise FilterError(f"{where}: {value!r} is no {kind}{reason}") from None
    return value


def _exactly(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise TypeError(value)
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, str):
        return float(value) if set(value) & set(".eE") else int(value)
    number: int | float = _exactly(value, int, float)
    return number


def _moment(text: str, *, aware: bool) -> datetime:
    moment = datetime.fromisoformat(text)
    if (moment.utcoffset() is not None) != aware:
        raise ValueError("expected it with a UTC offset" if aware else "expected it without a UTC offset")
    return moment
