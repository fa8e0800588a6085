"""Matching of the dimensions of two definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, TypeAlias

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.definitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.core.dependencies.box import Box, in_order
from airflow_partitions.core.dependencies.dimension_rule import (
    ALWAYS,
    NEVER,
    DimensionRule,
    Images,
    SegmentRule,
    TimeRule,
    Times,
)
from airflow_partitions.core.dependencies.rule import Sides
from airflow_partitions.core.dependencies.time_rule import AllPartitions, Overlap
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Segment

Tick: TypeAlias = tuple[datetime | None, datetime]


class Link(NamedTuple):
    """Two dimensions of segments that belong together, downstream first.

    *images* has for each segment of the one the segments of the other; ``None``: itself, whatever it is.
    """

    names: tuple[str, str]
    images: tuple[Images | None, Images | None]


class Matching:
    """Boxes of keys that belong together, found dimension by dimension.

    :param sides: the two definitions.
    :param rules: instead of overlap of times and sameness of segments, by a dimension's name on either side.
    :raises InvalidDefinitionError: if the two can never meet, or a rule is about nothing they have.
    """

    def __init__(self, sides: Sides, rules: Mapping[str, DimensionRule]) -> None:
        self._down, self._up = sides.downstream, sides.upstream
        self.rule = _time_rule(sides, rules)
        self.links = tuple(_links(sides, rules))
        everything = all(isinstance(rules.get(name), AllPartitions) for name in self._up.dimensions)
        #: Whether only the downstream has time, and no rule says which intervals are meant.
        self.needs_tick = self._up.time is None and self._down.time is not None and not everything
        for side, definition in enumerate((self._down, self._up)):
            linked = {link.names[side] for link in self.links}
            if any(isinstance(d, PartitionAtRuntime) and n not in linked for n, d in definition.dimensions.items()):
                raise _strangers(self._down, self._up)

    def upstream(self, box: Box, now: datetime | None) -> Box | None:
        """The upstream keys that any key of the downstream *box* needs."""
        time = self._up.time
        return self._box(box, 0, self._up, ALWAYS if time is None else self._needed(box.time_range, time, now))

    def downstream(self, box: Box, now: datetime | None, tick: Tick | None) -> Box | None:
        """The downstream keys that need any key of the upstream *box*."""
        return self._box(box, 1, self._down, self.needing(box.time_range, now, tick))

    def needing(self, time_range: TimeRange | None, now: datetime | None, tick: Tick | None) -> TimeRange:
        """The range whose downstream intervals need upstream intervals that lie side by side."""
        if time_range is None:
            return _due(self._down.time, self._up, tick) if self.needs_tick and self._down.time else ALWAYS
        if self.rule is not None and self._up.time is not None:
            return self.rule.needing(time_range, Times(self._down.time, self._up.time), now)
        return time_range

    def _needed(self, time_range: TimeRange | None, upstream: PartitionByInterval, now: datetime | None) -> TimeRange:
        if self.rule is not None:
            return self.rule.needed(time_range or ALWAYS, Times(self._down.time, upstream), now)
        if time_range is None and upstream.end is None:
            raise InvalidDefinitionError(
                f"{self._down!r} has no time, so it means every interval of {upstream!r}, which has no end;"
                " give it start= and end=, or choose among them by the rule AllPartitions() or LatestPartition()"
            )
        return time_range or ALWAYS

    def _box(self, box: Box, side: int, target: PartitionDefinition, time_range: TimeRange) -> Box | None:
        if time_range[0] >= time_range[1]:
            return None
        starts = None if target.time is None else target.time.overlapping(*time_range)
        if starts is not None and starts[0] >= starts[1]:
            return None
        segments = {}
        for names, images in self.links:
            name = names[1 - side]
            chosen = _image(images[side], box.segments.get(names[side]), target.dimensions[name])
            if chosen is not None:
                if not chosen:
                    return None
                segments[name] = chosen
        return Box(starts, segments)


def _image(
    images: Images | None, chosen: tuple[Segment, ...] | None, target: PartitionDefinition
) -> tuple[Segment, ...] | None:
    """The image of the *chosen* segments, or of all, on the other side; ``None`` for all."""
    if images is None:
        return chosen
    if chosen is not None and len(chosen) == 1:
        return images.get(chosen[0], ())
    image = {other for segment in (images if chosen is None else chosen) for other in images.get(segment, ())}
    everything = isinstance(target, PartitionBySequence) and len(image) == len(target.segments)
    return None if everything else in_order(target, image)


def _due(time: PartitionByInterval, upstream: PartitionDefinition, tick: Tick | None) -> TimeRange:
    """The intervals with ``previous < end <= tick``; of a first tick, the newest of them."""
    if tick is None:
        raise InvalidDefinitionError(
            f"{upstream!r} has no time, so its keys can't say which intervals of {time!r} are meant; expected tick=,"
            " the tick before and the tick of the run that made them"
        )
    last = time.last(tick[1])
    if last is None:
        return NEVER
    return last.time_range if tick[0] is None else (time.moment(tick[0], "tick"), last.time_range[1])


def _time_rule(sides: Sides, rules: Mapping[str, DimensionRule]) -> TimeRule | None:
    """The rule instead of overlap, if there is one."""
    upstream, time_rules = sides.upstream.time, []
    for name, rule in rules.items():
        timely = isinstance(_named(sides, name), PartitionByInterval)
        if timely != isinstance(rule, TimeRule) and not isinstance(rule, AllPartitions):
            kind = "time" if timely else "segments"
            raise InvalidDefinitionError(f"{rule!r} for {name!r}, which holds {kind}; expected a rule about {kind}")
        if timely and isinstance(rule, TimeRule) and not isinstance(rule, Overlap):
            rule.by_dimension(sides)  # refuses sides without time
            time_rules.append(rule)
    if len(time_rules) > 1:
        raise InvalidDefinitionError(f"{' and '.join(map(repr, time_rules))} are both about time; expected one of them")
    if time_rules and upstream is not None:
        time_rules[0].check(upstream)
    elif upstream is not None and sides.downstream.time is None and upstream.start is None:
        raise InvalidDefinitionError(
            f"{sides.downstream!r} would need every interval of {sides.upstream!r}, which is open to the past;"
            " give the upstream definition a start=, or choose one by the rule LatestPartition()"
        )
    return time_rules[0] if time_rules else None


def _links(sides: Sides, rules: Mapping[str, DimensionRule]) -> Iterator[Link]:
    mine, theirs = (
        {n: d for n, d in side.dimensions.items() if not isinstance(d, PartitionByInterval)}
        for side in (sides.downstream, sides.upstream)
    )
    for name, rule in rules.items():
        ends = name, name
        if isinstance(rule, SegmentRule):
            ends = rule.ends(sides, name)
            if ends[0] not in mine or ends[1] not in theirs:
                raise InvalidDefinitionError(f"{rule!r} for {name!r}: that dimension has a rule already")
            yield Link(ends, rule.images(mine[ends[0]], theirs[ends[1]]))
        mine.pop(ends[0], None), theirs.pop(ends[1], None)
    alone = not isinstance(sides.downstream, PartitionByProduct) and not isinstance(sides.upstream, PartitionByProduct)
    for name, other in _pairs(mine, theirs, alone=alone).items():
        one, two = mine[name], theirs[other]
        if not isinstance(one, PartitionBySequence) or not isinstance(two, PartitionBySequence):
            if one != two:
                raise _strangers(one, two)
            yield Link((name, other), (None, None))
            continue
        same = set(one.segments) & set(two.segments)
        if not same:
            raise InvalidDefinitionError(
                f"{one!r} and {two!r} can never meet: they share no value; say which belong together by the rule"
                f" SegmentMap({{{one.values[0]!r}: [{two.values[0]!r}]}}), or name the dimensions differently"
            )
        images = {segment: (segment,) for segment in same}
        yield Link((name, other), (images, images))


def _pairs(
    mine: Mapping[str, PartitionDefinition], theirs: Mapping[str, PartitionDefinition], *, alone: bool
) -> Mapping[str, str]:
    """Dimensions of one side and the dimension of the other side each belongs to: by name, else by shared values."""
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
    if not shared and alone:
        shared = list(zip(*left, strict=False))
    return pairs | dict(shared)


def _shared(mine: PartitionDefinition, theirs: PartitionDefinition) -> bool:
    if isinstance(mine, PartitionBySequence) and isinstance(theirs, PartitionBySequence):
        return not set(mine.segments).isdisjoint(theirs.segments)
    return mine == theirs


def _named(sides: Sides, name: str) -> PartitionDefinition:
    for side in (sides.downstream, sides.upstream):
        if name in side.dimensions:
            return side.dimensions[name]
    names = dict.fromkeys([*sides.downstream.dimensions, *sides.upstream.dimensions])
    raise InvalidDefinitionError(f"a rule for {name!r}, which neither side has; the dimensions are: {', '.join(names)}")


def _strangers(downstream: PartitionDefinition, upstream: PartitionDefinition) -> InvalidDefinitionError:
    return InvalidDefinitionError(
        f"{downstream!r} and {upstream!r} can never meet: keys known only at runtime belong together with keys of the"
        " same PartitionAtRuntime, or by the rule SameKey() or SegmentMap(…)"
    )
