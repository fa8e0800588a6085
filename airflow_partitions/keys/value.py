"""Values a segment can have: their canonical text, and a form for JSON that keeps their types."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any, TypeAlias

from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.keys.partition_key import PartitionKey, is_partition_key

Value: TypeAlias = "int | float | str | date | datetime | tuple[Any, ...] | PartitionKey"

_PLAIN = (int, float, str, date, datetime, tuple)
SUPPORTED = "int, float, str, date, aware datetime, a tuple of these, or a PartitionKey"


def text_of(value: Value) -> str:
    """Canonical text of a segment's value: the value's own text.

    Subclasses (an ``Enum``, numpy's ``float64``) are refused: they come back from JSON as something else.

    :raises InvalidKeyError: for a value of another type, a naive datetime, NaN or infinity, or empty text.
    """
    if isinstance(value, bool):
        raise InvalidKeyError(f"{value!r} is a bool, which reads like an int; expected {SUPPORTED}", given=value)
    if type(value) not in _PLAIN and not is_partition_key(value):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        raise InvalidKeyError(
            f"{value!r} of type {name} can't be a key; expected {SUPPORTED}, no subclass of them", given=value
        )
    if isinstance(value, str):
        if not value.strip() or value != value.strip() or not value.isprintable():
            raise InvalidKeyError(
                f"{value!r} can't be a partition key: expected printable text without space at its ends", given=value
            )
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidKeyError(f"{value!r} equals nothing, not even itself; expected a finite float", given=value)
        return repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise InvalidKeyError(f"{value!r} has no UTC offset; expected an aware datetime", given=value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        if not value:
            raise InvalidKeyError(f"{value!r} is empty; expected {SUPPORTED}", given=value)
        return ",".join(_part(item) for item in value)
    return ",".join(f"{name}={_part(getattr(value, name))}" for name in type(value).fields())


def _part(value: Value) -> str:
    text = text_of(value)
    for char in "\\,=":
        text = text.replace(char, "\\" + char)
    return text


def to_json(value: Value) -> Any:
    """*value* as JSON: text stays itself, everything else is ``[type, ...]``."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return [type(value).__name__, value]
    if isinstance(value, datetime):
        return ["datetime", value.isoformat()]
    if isinstance(value, date):
        return ["date", value.isoformat()]
    if isinstance(value, tuple):
        return ["tuple", *map(to_json, value)]
    fields = {name: to_json(getattr(value, name)) for name in type(value).fields()}
    return ["key", type(value).__name__, fields]


def from_json(data: Any) -> Value:
    """The inverse of :func:`to_json`.

    A :class:`PartitionKey` comes back as one of its author's class where that is imported already, else as one of a
    class that has its fields and nothing else: no code of an author is imported for it.

    :raises InvalidKeyError: if *data* was not made by :func:`to_json`.
    """
    if isinstance(data, str):
        return data
    match data:
        case ["int", int(value)]:
            return value
        case ["float", int(value) | float(value)]:
            return float(value)
        case ["datetime" | "date" as kind, str(text)]:
            try:
                return datetime.fromisoformat(text) if kind == "datetime" else date.fromisoformat(text)
            except ValueError as error:
                raise InvalidKeyError(f"{data!r} is not the JSON of a key: {error}", given=data) from None
        case ["tuple", *items]:
            return tuple(map(from_json, items))
        case ["key", str(name), dict(fields)]:
            return PartitionKey.make(name, {field: from_json(value) for field, value in fields.items()})
    raise InvalidKeyError(f"{data!r} is not the JSON of a key", given=data)
