"""Partition columns: what of a key is written, and as what type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

import attrs

from airflow_partitions.core.errors import LayoutError
from airflow_partitions.core.keys import Interval, Segment
from airflow_partitions.core.keys.value import text_of

_DIMENSION = re.compile(r"\{(\w+)(?:\[(\d+)\])?\}")


def _whole(text: str, bits: int) -> int:
    number = int(text)
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError(f"{number} has more than {bits} bits")
    return number


#: Types a partition column can be declared with, and how their text is read.
TYPES: Mapping[str, Callable[[str], Any]] = {
    "string": str,
    "int": partial(_whole, bits=32),
    "bigint": partial(_whole, bits=64),
    "date": date.fromisoformat,
}
#: What a value of each of them is in a key.
VALUES: Mapping[str, type] = {"string": str, "int": int, "bigint": int, "date": date}

#: Digits of the numbers in strftime formats.
_DIGITS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2, "%j": 3, "%y": 2}


@attrs.frozen
class Column:
    """How one partition column is written.

    :param format: a strftime format of the start of the time dimension, in its zone (``"%Y-%m-%d"``), or
        ``"{dimension}"`` for that dimension's canonical text. ``"{dimension[0]}"`` is the first of the values of keys
        that are tuples and become known at runtime.
    :param type: the column's type when read: ``"string"``, ``"int"``, ``"bigint"`` or ``"date"``. Types are declared,
        never inferred: Spark would read the text ``01`` as the number 1.
    """

    format: str
    type: str = "string"

    def __attrs_post_init__(self) -> None:
        if self.type not in TYPES:
            raise LayoutError(f"column type {self.type!r} is not supported; expected one of: {', '.join(TYPES)}")

    @property
    def dimension(self) -> str | None:
        """The dimension whose text is written, or ``None`` for a strftime format."""
        match = _DIMENSION.fullmatch(self.format)
        return match[1] if match else None

    @property
    def position(self) -> int | None:
        """Which value of a tuple is written, ``None`` for the whole key."""
        match = _DIMENSION.fullmatch(self.format)
        return int(match[2]) if match and match[2] else None

    @property
    def digits(self) -> int:
        """How many digits its numbers are written with, at least; 0 for as many as there are."""
        return _DIGITS.get(self.format, 0) if self.type in ("int", "bigint") else 0

    def text(self, part: Interval | Segment) -> str:
        """The column's text for one part of a key."""
        if self.dimension is None and isinstance(part, Interval):
            return part.start.strftime(self.format)
        if self.position is not None and isinstance(part, Segment) and isinstance(part.value, tuple):
            return text_of(part.value[self.position])
        return str(part)
