"""Measures of the work on a partition, as its event tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import attrs


@attrs.frozen
class Measures:
    """What was written and read to make a partition; ``None`` where nothing tells.

    :ivar seconds: from the look at the inputs to the end of the write.
    :ivar read_rows: of all inputs.
    :ivar read_bytes: of all inputs.
    :ivar read_files: of all inputs.
    :ivar unproven: names of the inputs whose reads nothing counted where the job ran.
    """

    rows: int | None = None
    files: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    read_rows: int | None = None
    read_bytes: int | None = None
    read_files: int | None = None
    unproven: str | None = None

    @classmethod
    def of(cls, extra: Mapping[str, Any]) -> Measures:
        """The measures in the *extra* of an event, which anybody may have written."""
        written = {name: _number(extra.get(name)) for name in ("rows", "files", "bytes")}
        reads = extra.get("reads")
        inputs = [one for one in reads.values() if isinstance(one, Mapping)] if isinstance(reads, Mapping) else []
        return cls(
            **written,
            seconds=_seconds(extra.get("seconds")),
            read_rows=_sum(_number(one.get("rows")) for one in inputs),
            read_bytes=_sum(_number(one.get("bytes")) for one in inputs),
            read_files=_sum(_number(one.get("files")) for one in inputs),
            unproven=_text(extra.get("unproven")),
        )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(value: Any) -> float | None:
    """A *value* in seconds; not a number, and what is endless, tells nothing, and no JSON may have it."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) else None


def _sum(numbers: Iterable[int | None]) -> int | None:
    """The sum of those of the *numbers* that are there; ``None`` without any."""
    there = [number for number in numbers if number is not None]
    return sum(there) if there else None
