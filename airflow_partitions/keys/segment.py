"""Segments: keys that name a value instead of a time."""

from __future__ import annotations

from typing import Any

import attrs

from airflow_partitions.keys.value import Value, text_of


@attrs.frozen(slots=True, eq=False, repr=False)
class Segment:
    """A segment's *value* and its canonical *text*. Two segments are the same if value types and texts agree.

    Plain values are wrapped and unwrapped by the definitions; authors rarely meet this class.
    """

    value: Value
    text: str

    @classmethod
    def of(cls, value: Value) -> Segment:
        """Wrap a plain *value*.

        :raises InvalidKeyError: if the value is not immutable data of a supported type.
        """
        return cls(value, text_of(value))

    @property
    def identity(self) -> tuple[str, str]:
        """What makes two segments the same: the value's type and its text."""
        return type(self.value).__name__, self.text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Segment({self.value!r})"

    def __eq__(self, other: Any) -> bool:
        return self.identity == other.identity if isinstance(other, Segment) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)
