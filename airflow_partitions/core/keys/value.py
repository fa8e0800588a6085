"""Values a segment can have: their canonical text, and a form for JSON that keeps their types."""

from __future__ import annotations

import math
import sys
from datetime import date, datetime, time, timezone
from decimal import Context, Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from airflow_partitions.core.calendars.instants import from_iso
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys.partition_key import PartitionKey, is_partition_key
from airflow_partitions.core.keys.printable import is_printable

if TYPE_CHECKING:
    from uuid import UUID

Value: TypeAlias = "int | float | str | date | datetime | time | Decimal | UUID | tuple[Any, ...] | PartitionKey"

SUPPORTED = "int, float, str, date, aware datetime, naive time, Decimal, UUID, a tuple of these, or a PartitionKey"
_PLAIN = (int, float, str, date, datetime, time, Decimal, tuple)
_EXACT = Context(prec=2_000)
_MOST_BITS = 1_000  # 300 digits: more than Airflow stores of a key


def own_value(value: Any) -> Any:
    """*value* in the form in which it comes back from JSON: plain dates and times, members of an Enum as their values.

    Dates and times of pendulum become Python's. A zone becomes the UTC offset. A Decimal has no zeros at its end.
    """
    if isinstance(value, Enum):
        return own_value(value.value)
    if isinstance(value, datetime | date | time) and type(value).__module__.partition(".")[0] == "pendulum":
        value = _plain_time(value)
    if type(value) is datetime and (offset := value.utcoffset()) is not None:
        return value.replace(tzinfo=timezone(offset), fold=0)
    if type(value) is float:
        return value + 0.0  # nobody tells 0.0 and -0.0 apart
    if type(value) is Decimal and value.is_finite() and abs(value.adjusted()) < _MOST_BITS:
        return value.normalize(_EXACT) + 0
    if type(value) is tuple:
        return tuple(map(own_value, value))
    return value


def text_of(value: Value) -> str:
    """Canonical text of a segment's value: the value's own text.

    Subclasses (numpy's ``float64``, pandas' ``Timestamp``) are refused: they come back from JSON as something else.

    :raises InvalidKeyError: for a value of another type, a naive datetime, an aware time, NaN or infinity, a number of
        more than 300 digits, or empty text.
    """
    if isinstance(value, bool):
        raise InvalidKeyError(f"{value!r} is a bool, which reads like an int; expected {SUPPORTED}", given=value)
    if type(value) not in _PLAIN and not _is_uuid(value) and not is_partition_key(value):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        raise InvalidKeyError(
            f"{value!r} of type {name} can't be a key; expected {SUPPORTED}, no subclass of them", given=value
        )
    if isinstance(value, str):
        if not value.strip() or value != value.strip() or not is_printable(value):
            raise InvalidKeyError(
                f"{value!r} can't be a partition key: expected printable text without space at its ends", given=value
            )
        return value
    if isinstance(value, int | float | Decimal):
        return _text_of_number(value)
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise InvalidKeyError(f"{value!r} has no UTC offset; expected an aware datetime", given=value)
    if isinstance(value, time) and value.tzinfo is not None:
        raise InvalidKeyError(
            f"{value!r} has a zone, whose offset is another one on other days; expected a naive time", given=value
        )
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, tuple):
        if not value:
            raise InvalidKeyError(f"{value!r} is empty; expected {SUPPORTED}", given=value)
        return ",".join(_part(item) for item in value)
    if is_partition_key(value):
        return ",".join(f"{name}={_part(getattr(value, name))}" for name in type(value).fields())
    return str(value)


def _text_of_number(value: float | Decimal) -> str:
    if not (value.is_finite() if isinstance(value, Decimal) else isinstance(value, int) or math.isfinite(value)):
        raise InvalidKeyError(f"{value!r} can't be a partition key: expected a finite float or Decimal", given=value)
    if isinstance(value, float):
        return repr(value + 0.0)
    bits = abs(value.adjusted()) if isinstance(value, Decimal) else value.bit_length()
    if bits > _MOST_BITS:
        shown = repr(value) if isinstance(value, Decimal) else f"an int of {bits} bits"  # Python refuses to print it
        raise InvalidKeyError(f"{shown} has more than 300 digits, too many for a key", given=value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


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
    if isinstance(value, Decimal):
        return ["decimal", text_of(value)]
    if isinstance(value, time):
        return ["time", value.isoformat()]
    if _is_uuid(value):
        return ["uuid", str(value)]
    if isinstance(value, datetime):
        return ["datetime", value.isoformat()]
    if isinstance(value, date):
        return ["date", value.isoformat()]
    if isinstance(value, tuple):
        return ["tuple", *map(to_json, value)]
    if not is_partition_key(value):
        raise InvalidKeyError(f"{value!r} can't be a key; expected {SUPPORTED}", given=value)
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
        case ["datetime" | "date" | "time" | "decimal" | "uuid" as kind, str(text)]:
            try:
                return read_value(kind, text)
            except (ValueError, ArithmeticError) as error:
                raise InvalidKeyError(f"{data!r} is not the JSON of a key: {error}", given=data) from None
        case ["tuple", *items]:
            return tuple(map(from_json, items))
        case ["key", str(name), dict(fields)]:
            return PartitionKey.make(name, {field: from_json(value) for field, value in fields.items()})
    raise InvalidKeyError(f"{data!r} is not the JSON of a key", given=data)


def read_value(kind: str, text: str) -> Value:
    """The value of a *kind* whose text is *text*.

    :raises ValueError: if there is none; for a decimal, an :class:`ArithmeticError`.
    """
    match kind:
        case "str":
            return text
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "decimal":
            return Decimal(text)
        case "date":
            return date.fromisoformat(text)
        case "time":
            return time.fromisoformat(text)
        case "datetime":
            return from_iso(text)
    from uuid import UUID

    return UUID(text)


def _is_uuid(value: object) -> TypeGuard[UUID]:
    """Whether *value* is a UUID; whoever has one has imported its module, which takes long."""
    module = sys.modules.get("uuid")
    return module is not None and type(value) is module.UUID


def _plain_time(value: date | time) -> date | time:
    """A date or time of pendulum as Python's own."""
    if isinstance(value, datetime):
        return datetime.fromisoformat(value.isoformat())
    return (date if isinstance(value, date) else time).fromisoformat(value.isoformat())
