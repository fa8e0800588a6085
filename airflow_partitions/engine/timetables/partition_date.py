"""A date of its own for every time partition, which Airflow uses to tell runs apart in backfills."""

from __future__ import annotations

from hashlib import blake2b

from airflow_partitions.core.calendars.instants import SECOND
from airflow_partitions.core.definitions import PartitionByProduct, PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key, ProductKey

#: More combinations than this can't get a microsecond each and still find their place quickly.
MAX_COMBINATIONS = 500_000


class PartitionDates:
    """The start of a key's interval plus a microsecond offset for its segments.

    The offset comes from a hash of the segments' texts, so that inserting a segment moves no other one, except those
    that happen to share its hash.

    :raises InvalidDefinitionError: for too many combinations of segments.
    """

    def __init__(self, definition: PartitionDefinition) -> None:
        self._definition = definition
        self._offsets: dict[str, int] = {}
        if not isinstance(definition, PartitionByProduct) or definition.time is None or definition.is_open:
            return
        if definition.combinations() > MAX_COMBINATIONS:
            raise InvalidDefinitionError(
                f"{definition!r} has {definition.combinations():,} combinations of segments per interval; expected at"
                f" most {MAX_COMBINATIONS:,}"
            )
        taken: set[int] = set()
        texts = sorted(_segments_text(key) for key in definition.segment_keys())
        for text in texts:
            offset = _offset(text)
            while offset in taken:
                offset = (offset + 1) % SECOND
            taken.add(offset)
            self._offsets[text] = offset

    def of(self, key: Key) -> int | None:
        """The partition date of *key* in microseconds since the epoch, ``None`` without a time dimension."""
        interval = self._definition.interval_of(key)
        if interval is None:
            return None
        if not isinstance(key, ProductKey):
            return interval.time_range[0]
        text = _segments_text(key)
        offset = self._offsets.get(text)  # none for combinations that were added since
        return interval.time_range[0] + (_offset(text) if offset is None else offset)


def _offset(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) % SECOND


def _segments_text(key: Key) -> str:
    from airflow_partitions.core.keys import Segment

    parts = key.parts if isinstance(key, ProductKey) else (key,)
    return "\n".join(part.text for part in parts if isinstance(part, Segment))
