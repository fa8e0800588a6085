"""Values of filters as values of columns, by Spark's names of types."""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import UTC, from_iso
from airflow_partitions.core.errors import FilterError
from airflow_partitions.storage.filters.filter import EVERYTHING, NOTHING, Condition, Filter
from airflow_partitions.storage.filters.scalar import is_finite

OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda value, chosen: value in chosen, "not in": lambda value, chosen: value not in chosen,
}  # fmt: skip
#: Bits of whole numbers.
_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}
_DECIMALS = ("decimal", "numeric", "dec")
_TEXTS = ("string", "varchar", "char")
_TIMES = ("timestamp", "timestamp_ltz", "timestamp_ntz")
#: Numbers with a floating point, as :mod:`struct` calls them.
FLOATS = {"float": "f", "real": "f", "double": "d"}
#: No decimal of Spark has more digits.
_MOST_DIGITS = 38
_EXACT = Context(prec=2 * _MOST_DIGITS)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: What comes behind whole microseconds.
_FINER = re.compile(r"\.\d{6}0*[1-9]")


def name_of(kind: str | None) -> str:
    """The type *kind* without what stands in brackets."""
    return re.split(r"[(<]", (kind or "").lower(), maxsplit=1)[0].strip()


def is_number(kind: str | None) -> bool:
    """Whether *kind* is a type of numbers."""
    return name_of(kind) in (*_BITS, *_DECIMALS, *FLOATS)


def typed(condition: Condition, kind: str | None) -> Filter:
    """What *condition* says of a column of type *kind*, with values of that type; as it is if the type is not known.

    A whole number or a decimal is compared exactly with any number. To a column of type ``float`` or ``double`` the
    value is rounded. Numbers, dates and times may be given as text: that is all that a REST caller or a file of
    arguments has.

    :raises FilterError: if it can't be said of such a column; the message begins with the condition.
    """
    value = condition.value
    if value is None or (kind is None and value != ()):
        return condition
    if not isinstance(value, tuple):
        return _compared(condition, str(kind), condition)
    if not value:  # of nothing at all, so that null is no exception
        return NOTHING if condition.op == "in" else EVERYTHING
    each = (_compared(attrs.evolve(condition, op="==", value=one), str(kind), condition) for one in value)
    values = tuple(one.value for one in each if isinstance(one, Condition))
    if not values:
        return NOTHING if condition.op == "in" else _every(condition, str(kind))
    return attrs.evolve(condition, value=values)


def test_of(condition: Condition, kind: str) -> Callable[[Any], bool]:
    """Whether a value of a column of type *kind* fits *condition*; null is ``None``.

    :raises FilterError: as :func:`typed`.
    """
    part = typed(condition, kind)
    if not isinstance(part, Condition):
        return lambda _: part == EVERYTHING
    if part.value is None:
        return lambda value: (value is None) == (part.op == "==")
    holds, operand = OPERATORS[part.op], frozenset(part.value) if isinstance(part.value, tuple) else part.value
    return lambda value: value is not None and value == value and bool(holds(value, operand))  # not NaN


def value_of(text: str, kind: str) -> Any:
    """The value of a column of type *kind* that an index calls *text*.

    The text means the same in every wider type: a ``float`` has its digits as a ``double``, a ``timestamp`` is known by
    its microseconds since 1970 in UTC. Spark and Arrow may write another text of the same value.

    :raises ValueError: if there is none.
    """
    name = name_of(kind)
    if name in _TEXTS:
        return text
    if name in _BITS:
        return int(text)
    if name in FLOATS:
        return struct.unpack(FLOATS[name], struct.pack(FLOATS[name], float(text)))[0]
    if name in _DECIMALS:
        return Decimal(text)
    if name == "boolean":
        return _bool(text)
    if name == "date":
        return date.fromisoformat(text)
    if name in ("timestamp", "timestamp_ltz"):
        return EPOCH + timedelta(microseconds=int(text))
    if name == "timestamp_ntz":
        return datetime.fromisoformat(text)
    raise ValueError(f"values of type {kind} have no index")


def check_microseconds(text: Any) -> None:
    """Refuse times that are finer than those of columns and partitions.

    :raises ValueError: if *text* is one.
    """
    if isinstance(text, str) and _FINER.search(text):
        raise ValueError(f"{text!r} is finer than a microsecond; expected a time in whole microseconds")


def _compared(condition: Condition, kind: str, where: Condition) -> Filter:
    """What the *condition*, which has one value, says."""
    name, value = name_of(kind), condition.value
    try:
        if name in _BITS:
            most = 2 ** (_BITS[name] - 1)
            return _exact(condition, kind, _number(value), 0, (-most, most - 1))
        if name in _DECIMALS:
            precision, scale = _digits(kind)
            return _exact(condition, kind, _number(value), scale, (1 - 10**precision, 10**precision - 1))
        if name in FLOATS:
            return _rounded(condition, kind, _number(value))
        return attrs.evolve(condition, value=_parsed(value, name))
    except (ValueError, TypeError, KeyError, InvalidOperation) as error:
        reason = f" ({error})" if isinstance(error, ValueError) else ""
        raise FilterError(f"{where}: {value!r} is no {kind}{reason}") from None


def _exact(condition: Condition, kind: str, number: float | Decimal, scale: int, ends: tuple[int, int]) -> Filter:
    """A comparison with *number* of a column whose values are whole, in units of the last of *scale* digits.

    :param ends: the least and the greatest of them.
    """
    low, high = ends
    units = _fraction(number) * 10**scale
    bound, whole, op = math.floor(units), units.denominator == 1, condition.op
    if op in ("==", "!="):
        fits = whole and low <= bound <= high
        otherwise = NOTHING if op == "==" else _every(condition, kind)
    else:
        if not whole:
            op = "<=" if op in ("<", "<=") else ">"
        last = bound - (op in ("<", ">="))  # all up to this one are on the lower side
        fits = low <= last < high
        otherwise = _every(condition, kind) if (last < low) == (op in (">", ">=")) else NOTHING
    if not fits:
        return otherwise
    return attrs.evolve(condition, op=op, value=Decimal(bound).scaleb(-scale, _EXACT) if scale else bound)


def _fraction(number: float | Decimal) -> Fraction:
    """*number* itself, or another that compares like it to all decimals: its digits may be too many to write down."""
    exact = Decimal(number)
    if not exact or abs(exact.adjusted()) <= _EXACT.prec:
        return Fraction(exact) if exact else Fraction(0)
    size = Fraction(10) ** (_EXACT.prec if exact.adjusted() > 0 else -_EXACT.prec)
    return -size if exact < 0 else size


def _rounded(condition: Condition, kind: str, number: float | Decimal) -> Filter:
    """A comparison with *number*, rounded to what a column with a floating point can hold."""
    code = FLOATS[name_of(kind)]
    try:
        value: float = struct.unpack(code, struct.pack(code, float(number)))[0]
    except OverflowError:
        value = math.inf
    if math.isfinite(value):
        return attrs.evolve(condition, value=value + 0.0)  # one zero
    if condition.op in ("==", "!="):
        return NOTHING if condition.op == "==" else _every(condition, kind)
    lower, above = condition.op in ("<", "<="), number > 0
    ops = {(True, True): "<", (False, True): ">=", (True, False): "<=", (False, False): ">"}
    return attrs.evolve(condition, op=ops[lower, above], value=math.inf if above else -math.inf)


def _every(condition: Condition, kind: str) -> Condition:
    """What holds of every value that can be compared."""
    if name_of(kind) in FLOATS:
        return attrs.evolve(condition, op="<=", value=math.inf)
    return attrs.evolve(condition, op="!=", value=None)


def _parsed(value: Any, name: str) -> Any:
    """*value* as one of the type *name*, which is none of numbers."""
    if name in _TEXTS:
        return _exactly(value, str)
    if name == "boolean":
        return _bool(value) if isinstance(value, str) else _exactly(value, bool)
    if name == "date":
        return date.fromisoformat(_exactly(value, str))
    if name in _TIMES:
        return _moment(_exactly(value, str), aware=name != "timestamp_ntz")
    raise ValueError("expected is None or is not None, or a condition on numbers, text, bools, dates or times")


def _number(value: Any) -> int | float | Decimal:
    number: int | float | Decimal = Decimal(value) if isinstance(value, str) else _exactly(value, int, float)
    if not is_finite(number):
        raise ValueError("expected a finite number")
    return number


def _digits(kind: str) -> tuple[int, int]:
    """Precision and scale of a decimal; Spark's defaults are 10 and 0."""
    digits = [int(text) for text in re.findall(r"\d+", kind)]
    return (digits or [10])[0], (digits[1:] or [0])[0]


def _bool(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _exactly(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise TypeError(value)
    return value


def _moment(text: str, *, aware: bool) -> datetime:
    check_microseconds(text)
    moment = from_iso(text)
    if (moment.utcoffset() is not None) != aware:
        raise ValueError("expected it with a UTC offset" if aware else "expected it without a UTC offset")
    return moment
