"""Which partitions of two definitions belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from airflow_partitions.calendars.timeline import FIRST, LAST
from airflow_partitions.definitions import (
    PartitionAtRuntime,
    PartitionByProduct,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.dependencies.rule import Overlap, Rule
from airflow_partitions.dependencies.selection import Box, Selection
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.keys import Interval, Segment

ALWAYS = FIRST, LAST


@attrs.frozen
class Dependency:
    """How the partitions of a *downstream* definition depend on those of an *upstream* one.

    Times belong together if their half-open intervals share an instant, in whatever zones. Segments belong together if
    they are the same value. A dimension that only one side has leaves the other side's choice open: all of its values.
    Segment dimensions are matched by name, those left over by the values they share.

    .. code-block:: python

        hours, days = PartitionByInterval("@hourly"), PartitionByInterval("@daily")
        len(Dependency(downstream=days, upstream=hours).upstream("2013-02-08"))  # 24

    :param rule: replaces overlap between the times: :class:`Lookback`, :class:`Window`.
    :raises InvalidDefinitionError: if the two can never meet.
    """

    _downstream: PartitionDefinition
    _upstream: PartitionDefinition
    rule: Rule = attrs.field(factory=Overlap)
    #: Segment dimensions of downstream, and the dimension of upstream each belongs to.
    _pairs: Mapping[str, str] = attrs.field(init=False, eq=False, repr=False)

    @_pairs.default
    def _paired(self) -> Mapping[str, str]:
        return _pairs(self._downstream, self._upstream)

    def __attrs_post_init__(self) -> None:
        kinds = [isinstance(d, PartitionAtRuntime) for d in (self._downstream, self._upstream)]
        if any(kinds) and self._downstream != self._upstream:
            raise InvalidDefinitionError(
                f"{self._downstream!r} and {self._upstream!r} can never meet: keys known only at runtime"
                " belong together with keys of the same PartitionAtRuntime"
            )
        for name, other in self._pairs.items():
            mine, theirs = self._downstream.dimensions[name], self._upstream.dimensions[other]
            if not _shared(mine, theirs):
                raise InvalidDefinitionError(f"{mine!r} and {theirs!r} can never meet: they share no value")
        if not isinstance(self.rule, Overlap) and (self._downstream.time is None or self._upstream.time is None):
            raise InvalidDefinitionError(
                f"{self.rule!r} needs time on both sides; {self._downstream!r} or {self._upstream!r} has none"
            )
        if self._upstream.time is not None and self._downstream.time is None and self._upstream.time.start is None:
            raise InvalidDefinitionError(
                f"{self._downstream!r} would need every interval of {self._upstream!r}, which is open to the past;"
                " give the upstream definition a start="
            )

    def upstream(self, key: Any) -> Selection:
        """The upstream keys that the downstream *key* needs."""
        return _selected(self._downstream, key, self._upstream, self._pairs, self._needed)

    def downstream(self, key: Any) -> Selection:
        """The downstream keys that need the upstream *key*."""
        pairs = {theirs: mine for mine, theirs in self._pairs.items()}
        return _selected(self._upstream, key, self._downstream, pairs, self._needing)

    def _needed(self, interval: Interval) -> tuple[int, int]:
        time = self._upstream.time
        return interval.bounds if time is None else self.rule.needed(interval, time)

    def _needing(self, interval: Interval) -> tuple[int, int]:
        time = self._upstream.time
        return interval.bounds if time is None else self.rule.needing(interval, time)


def _selected(
    source: PartitionDefinition,
    key: Any,
    target: PartitionDefinition,
    pairs: Mapping[str, str],
    reach: Callable[[Interval], tuple[int, int]],
) -> Selection:
    wrapped = source.parse(key) if isinstance(key, str) else source.key(key)
    span, interval = None, source.interval_of(wrapped)
    if target.time is not None:
        if interval is None and (target.time.start is None or target.time.end is None):
            raise InvalidDefinitionError(
                f"{source!r} has no time, so it means every interval of {target!r}, which has no end;"
                " give it start= and end="
            )
        span = target.time.span(*(ALWAYS if interval is None else reach(interval)))
        if span[0] >= span[1]:
            return Selection(target)
    parts, segments = source.dimensions_of(wrapped), {}
    for mine, theirs in pairs.items():
        dimension, part = target.dimensions[theirs], parts[mine]
        try:
            chosen = dimension.key(part)
        except InvalidKeyError:  # a value only the source has: nothing on the other side belongs to it
            return Selection(target)
        if isinstance(chosen, Segment):
            segments[theirs] = (chosen,)
    return Selection(target, (Box(span, segments),))


def _pairs(source: PartitionDefinition, target: PartitionDefinition) -> Mapping[str, str]:
    """Segment dimensions of *source* and the dimension of *target* each belongs to."""
    mine = {n: d for n, d in source.dimensions.items() if isinstance(d, PartitionBySequence | PartitionAtRuntime)}
    theirs = {n: d for n, d in target.dimensions.items() if isinstance(d, PartitionBySequence | PartitionAtRuntime)}
    pairs = {name: name for name in mine if name in theirs}
    left = [name for name in mine if name not in pairs], [name for name in theirs if name not in pairs]
    shared = [(name, other) for name in left[0] for other in left[1] if _shared(mine[name], theirs[other])]
    for side in (0, 1):
        for name in left[side]:
            others = [pair[1 - side] for pair in shared if pair[side] == name]
            if len(others) > 1:
                raise InvalidDefinitionError(
                    f"dimension {name!r} shares values with {', '.join(others)};"
                    " give the two that belong together one name"
                )
    if not shared and not isinstance(source, PartitionByProduct) and not isinstance(target, PartitionByProduct):
        shared = list(zip(*left, strict=False))
    return pairs | dict(shared)


def _shared(mine: PartitionDefinition, theirs: PartitionDefinition) -> bool:
    if isinstance(mine, PartitionBySequence) and isinstance(theirs, PartitionBySequence):
        return not {s.identity for s in mine.segments}.isdisjoint(s.identity for s in theirs.segments)
    return mine == theirs
