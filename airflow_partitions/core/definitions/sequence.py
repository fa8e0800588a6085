"""Partitions named by a fixed, ordered set of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from airflow_partitions.core.definitions.definition import Moment, PartitionDefinition, check_length, check_name
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Segment
from airflow_partitions.core.keys.keyed import key_of
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.keys.value import Value, to_json


class PartitionBySequence(PartitionDefinition):
    """One partition per value of a fixed, ordered sequence.

    .. code-block:: python

        airports = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")

    :param values: int, float, str, date, aware datetime, naive time, Decimal, UUID, tuple of these, or
        :class:`PartitionKey` objects. Members of an Enum become their values, dates and times of pendulum Python's own.
    :param name: name of the dimension, in products, templates and storage columns.
    :raises InvalidDefinitionError: for no values, or two whose texts are equal.
    :raises InvalidKeyError: for a value that can't be a key.
    """

    kind = "sequence"
    #: The values, wrapped, in order.
    segments: tuple[Segment, ...]
    _index: Mapping[str, int]

    def __init__(self, values: Sequence[Value], *, name: str = "segment") -> None:
        if isinstance(values, str | bytes) or not isinstance(values, Sequence):
            raise InvalidDefinitionError(f"PartitionBySequence got {values!r}; expected a list such as ['eu', 'us']")
        if not values:
            raise InvalidDefinitionError("PartitionBySequence got no values; expected at least one")
        segments, index = tuple(Segment.of(value) for value in values), dict[str, int]()
        for i, segment in enumerate(segments):
            check_length(segment.text, "PartitionBySequence")
            if (other := index.setdefault(segment.text, i)) != i:
                raise InvalidDefinitionError(
                    f"{segments[other].value!r} and {segment.value!r} have the same text {segment.text!r};"
                    " expected values with different texts"
                )
        vars(self).update(name=check_name(name), segments=segments, _index=index)

    @property
    def values(self) -> tuple[Value, ...]:
        """The plain values, in order."""
        return tuple(segment.value for segment in self.segments)

    def keys(self, start: Moment | None = None, end: Moment | None = None) -> Iterator[Segment]:
        return iter(self.segments)

    def count(self, start: Moment | None = None, end: Moment | None = None) -> int:
        return len(self.segments)

    def key(self, value: Any) -> Segment:
        value = key_of(value)
        segment = value if isinstance(value, Segment) else Segment.of(value)
        own = self.parse(segment.text)
        if own != segment:
            raise InvalidKeyError(f"{segment.value!r} is not {own.value!r}; they only look alike", given=value)
        return own

    @property
    def is_fixed(self) -> bool:
        return True

    def position(self, segment: Segment) -> int:
        """The position of one of the segments."""
        return self._index[segment.text]

    def parse(self, text: str) -> Segment:
        if isinstance(text, str) and (i := self._index.get(text)) is not None:
            return self.segments[i]
        raise InvalidKeyError(
            f"{text!r} is not one of the {len(self.segments)} values of {self.name!r}",
            given=text,
            nearest=partial(nearest_texts, str(text), self._index),
        )

    def previous(self, key: Any) -> Segment | None:
        i = self._index[self.key(key).text]
        return self.segments[i - 1] if i else None

    def next(self, key: Any) -> Segment | None:
        i = self._index[self.key(key).text] + 1
        return self.segments[i] if i < len(self.segments) else None

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": [to_json(value) for value in self.values], "name": self.name}

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.values[:5])) + (", …" if len(self.values) > 5 else "")
        return f"PartitionBySequence([{shown}], name={self.name!r})"
