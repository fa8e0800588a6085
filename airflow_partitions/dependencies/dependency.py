"""Which partitions of two definitions belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.definitions import (
    PartitionAtRuntime,
    PartitionByProduct,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.dependencies.selection import Box, Selection
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.keys import Segment


@attrs.frozen
class Dependency:
    """Overlap of a *downstream* and an *upstream* definition.

    Times belong together if their half-open intervals share an instant, in whatever zones. Segments belong together if
    they are the same value. A dimension that only one side has leaves the other side's choice open: all of its values.
    Segment dimensions are matched by name, those left over by the values they share.

    :raises InvalidDefinitionError: if the two can never meet.
    """

    _downstream: PartitionDefinition
    _upstream: PartitionDefinition

    def __attrs_post_init__(self) -> None:
        kinds = [isinstance(d, PartitionAtRuntime) for d in (self._downstream, self._upstream)]
        if any(kinds) and self._downstream != self._upstream:
            raise InvalidDefinitionError(
                f"{self._downstream!r} and {self._upstream!r} can never meet: keys known only at runtime belong together"
                " with keys of the same PartitionAtRuntime"
            )
        for name, other in _pairs(self._downstream, self._upstream).items():
            mine, theirs = self._downstream.dimensions[name], self._upstream.dimensions[other]
            if not _shared(mine, theirs):
                raise InvalidDefinitionError(
                    f"{mine!r} and {theirs!r} can never meet: they share no value"
                )
        if self._upstream.time is not None and self._downstream.time is None and self._upstream.time.start is None:
            raise InvalidDefinitionError(
                f"{self._downstream!r} would need every interval of {self._upstream!r}, which is open to the past;"
                " give the upstream definition a start="
            )

    def upstream(self, key: Any) -> Selection:
        """The upstream keys that the downstream *key* needs."""
        return _overlap(self._downstream, key, self._upstream)

    def downstream(self, key: Any) -> Selection:
        """The downstream keys that need the upstream *key*."""
        return _overlap(self._upstream, key, self._downstream)


def _overlap(source: PartitionDefinition, key: Any, target: PartitionDefinition) -> Selection:
    wrapped = source.parse(key) if isinstance(key, str) else source.key(key)
    span, interval = None, source.interval_of(wrapped)
    if target.time is not None:
        if interval is None:
            raise InvalidDefinitionError(f"{source!r} has no time, so it can't say which intervals of {target!r} it means")
        span = target.time.span(*interval.bounds)
        if span[0] >= span[1]:
            return Selection(target)
    parts, segments = source.dimensions_of(wrapped), {}
    for mine, theirs in _pairs(source, target).items():
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
    for name in [n for n in mine if n not in pairs]:
        left = [n for n in theirs if n not in pairs.values()]
        sharing = [other for other in left if _shared(mine[name], theirs[other])]
        if len(sharing) > 1:
            raise InvalidDefinitionError(
                f"dimension {name!r} shares values with {', '.join(sharing)}; give the two that belong together one name"
            )
        if sharing or (left and not isinstance(source, PartitionByProduct) and not isinstance(target, PartitionByProduct)):
            pairs[name] = (sharing or left)[0]
    return pairs


def _shared(mine: PartitionDefinition, theirs: PartitionDefinition) -> bool:
    if isinstance(mine, PartitionBySequence) and isinstance(theirs, PartitionBySequence):
        return not {s.identity for s in mine.segments}.isdisjoint(s.identity for s in theirs.segments)
    return mine == theirs
