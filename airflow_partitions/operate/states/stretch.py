"""Stretches of partitions that are in one state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.keys import Key, Segment
from airflow_partitions.operate.state import State, Status


@attrs.frozen
class UpstreamCount:
    """What a stretch that waits needs of one upstream asset.

    :ivar there: number of the partitions that were materialized.
    :ivar needed: number of all that are needed.
    :ivar lacking: those that were not materialized.
    """

    asset: str
    there: int
    needed: int
    lacking: Selection

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        from airflow_partitions.core.dependencies.selection_text import selection_text
        from airflow_partitions.core.dependencies.selection_words import selection_words

        return {
            "asset": self.asset,
            "there": self.there,
            "needed": self.needed,
            "lacking": selection_text(self.lacking) if self.lacking else "",
            "lacks": selection_words(self.lacking),
        }


@attrs.frozen
class Stretch:
    """Partitions side by side that are in one state.

    With a time dimension they are those of a range of time, of all segments or of some; without, those between two keys
    in the definition's order.

    :ivar box: the partitions.
    :ivar count: number of them.
    :ivar upstream: what it waits for; empty in other states.
    """

    definition: PartitionDefinition = attrs.field(repr=False)
    box: Box
    count: int
    status: Status
    upstream: tuple[UpstreamCount, ...] = ()

    @property
    def state(self) -> State:
        """The state of all of them."""
        return self.status.state

    @property
    def selection(self) -> Selection:
        """The partitions as a selection."""
        return Selection(self.definition, (self.box,))

    @property
    def first(self) -> Key:
        """The first of them, in the definition's order."""
        return self._end(0)

    @property
    def last(self) -> Key:
        """The last of them."""
        return self._end(-1)

    def to_json(self) -> dict[str, Any]:
        """JSON form: keys as texts, times with their UTC offset, segments only where they are not all."""
        form: dict[str, Any] = {
            "state": str(self.state),
            "first": str(self.first),
            "last": str(self.last),
            "count": self.count,
        }
        time = self.definition.time
        if time is not None and self.box.time_range is not None:
            start, end = (time.clock.datetime(at).isoformat() for at in self.box.time_range)
            form |= {"start": start, "end": end}
        if self.box.segments and (time is not None or len(self.definition.dimensions) > 1):
            form["segments"] = {name: [one.text for one in some] for name, some in self.box.segments.items()}
        if self.status.provisional:
            form["provisional"] = True
        if self.upstream:
            form["upstream"] = [one.to_json() for one in self.upstream]
        return form

    def _end(self, i: int) -> Key:
        parts: dict[str, Any] = {}
        for name, dimension in self.definition.dimensions.items():
            if self.box.time_range is not None and dimension.time is not None:
                low, high = self.box.time_range
                parts[name] = dimension.time.interval_at(low if i == 0 else high - 1)
            else:
                parts[name] = self._segments(name, dimension)[i]
        return next(iter(parts.values())) if len(parts) == 1 else self.definition.key(parts)

    def _segments(self, name: str, dimension: PartitionDefinition) -> tuple[Segment, ...]:
        chosen: Mapping[str, tuple[Segment, ...]] = self.box.segments
        return chosen[name] if name in chosen else getattr(dimension, "segments", ())
