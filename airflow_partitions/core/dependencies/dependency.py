"""The dependency between the partitions of two definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.dependencies.box import Box, snapped
from airflow_partitions.core.dependencies.dimension_rule import DimensionRule
from airflow_partitions.core.dependencies.fan_out import fan_out
from airflow_partitions.core.dependencies.matching import Matching, Tick
from airflow_partitions.core.dependencies.rule import KeyRule, Rule, Sides, needs_now
from airflow_partitions.core.dependencies.selection import Selection
from airflow_partitions.core.dependencies.time_rule import Overlap
from airflow_partitions.core.errors import InvalidDefinitionError


def _or_overlap(rule: Rule | None) -> KeyRule | DimensionRule:
    if rule is None:
        return Overlap()
    if not isinstance(rule, KeyRule | DimensionRule):
        raise InvalidDefinitionError(f"rule={rule!r} is no rule; expected for example Lookback(1)")
    return rule


@attrs.frozen
class Dependency:
    """The dependency of the partitions of a *downstream* definition on those of an *upstream* one.

    Times belong together if their half-open intervals share an instant, in whatever zones. Segments belong together if
    they are the same value. A dimension that only one side has leaves the other side's choice open: all of its values;
    but if only the downstream has time, the tick of the run that made the upstream key says which intervals are meant.
    Segment dimensions are matched by name, those left over by the values they share.

    .. code-block:: python

        hours, days = PartitionByInterval("@hourly"), PartitionByInterval("@daily")
        len(Dependency(downstream=days, upstream=hours).upstream("2013-02-08"))  # 24

    :param rule: replaces that: :class:`Lookback`, :class:`Window`, :class:`AllPartitions`, :class:`LatestPartition`,
        :class:`SameKey`, :class:`SegmentMap`, :class:`ByDimension`, or a :class:`KeyRule` of your own.
    :raises InvalidDefinitionError: if the two can never meet.
    """

    _downstream: PartitionDefinition = attrs.field()
    _upstream: PartitionDefinition = attrs.field()
    rule: KeyRule | DimensionRule = attrs.field(default=None, converter=_or_overlap)
    #: The two definitions.
    sides: Sides = attrs.field(init=False, eq=False, repr=False)
    #: How dimensions belong together, or the rule if it is about whole keys.
    _matching: Matching | KeyRule = attrs.field(init=False, eq=False, repr=False)

    @_downstream.validator
    @_upstream.validator
    def _check(self, attribute: attrs.Attribute[Any], definition: Any) -> None:
        if not isinstance(definition, PartitionDefinition):
            raise InvalidDefinitionError(
                f"{attribute.alias}={definition!r} is no partition definition, so it has no partitions that could"
                " belong to others; expected for example PartitionByInterval('@daily')"
            )

    def __attrs_post_init__(self) -> None:
        sides = Sides(self._downstream, self._upstream)
        rule = self.rule
        matching = Matching(sides, rule.by_dimension(sides)) if isinstance(rule, DimensionRule) else rule
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "_matching", matching)

    @property
    def needs_tick(self) -> bool:
        """Whether only the downstream has time and no rule says which of it is meant, so that a tick has to."""
        return isinstance(self._matching, Matching) and self._matching.needs_tick

    def upstream(self, key: Any, *, now: datetime | None = None) -> Selection:
        """The upstream keys that the downstream *key* needs.

        :param key: wrapped, plain or its text; or a :class:`Selection`, for what any of its keys needs.
        :param now: aware; for rules that are :attr:`~Rule.moving`.
        :raises InvalidKeyError: if the downstream has no such key.
        """
        matching = self._matching
        if isinstance(matching, KeyRule):
            return self._answers(matching.upstream, key, self._downstream, self._upstream, now)
        boxes = (matching.upstream(box, now) for box in _boxes(self._downstream, key))
        return Selection(self._upstream, tuple(box for box in boxes if box is not None))

    def downstream(self, key: Any, *, tick: Tick | None = None, now: datetime | None = None) -> Selection:
        """The downstream keys that need the upstream *key*.

        :param key: wrapped, plain or its text; or a :class:`Selection`, for those that need any of its keys.
        :param tick: the tick before, or ``None`` if it was the first, and the tick of the run that made the key; for
            dependencies that :attr:`need <needs_tick>` it. Meant are the intervals that end after the one and not after
            the other; of a first tick, the newest.
        :param now: aware; for rules that are :attr:`~Rule.moving`. Their answers are endless if the downstream is.
        :raises InvalidKeyError: if the upstream has no such key.
        """
        matching = self._matching
        if isinstance(matching, KeyRule):
            return self._answers(matching.downstream, key, self._upstream, self._downstream, now)
        boxes = (matching.downstream(box, now, tick) for box in _boxes(self._upstream, key))
        return Selection(self._downstream, tuple(box for box in boxes if box is not None))

    def fan_out(self) -> int | None:
        """The most downstream keys that one upstream key has; ``None`` if they have no end, or only a tick or what is
        added at runtime says which they are.

        Where calendars are open or long, it is the most that is found in their first 1,500 intervals and around the
        clock changes of 28 years.
        """
        matching = self._matching
        return matching.fan_out if isinstance(matching, KeyRule) else fan_out(self.sides, matching)

    def _answers(
        self,
        ask: Callable[[Any, Sides, datetime | None], Iterable[Any]],
        key: Any,
        source: PartitionDefinition,
        target: PartitionDefinition,
        now: datetime | None,
    ) -> Selection:
        """The answers of a rule about whole keys, key by key."""
        if self.rule.moving:
            needs_now(self.rule, now)
        boxes: list[Box] = []
        for one in key if isinstance(key, Selection) else Selection.of(source, key):
            keys = ask(one, self.sides, now)
            if isinstance(keys, str | Mapping) or not isinstance(keys, Iterable):
                raise InvalidDefinitionError(f"{self.rule!r} gave {keys!r} for {str(one)!r}; expected a list of keys")
            if isinstance(keys, Selection) and keys.definition != target:
                raise InvalidDefinitionError(
                    f"{self.rule!r} gave keys of {keys.definition!r} for {str(one)!r}; expected keys of {target!r}"
                )
            boxes += keys.boxes if isinstance(keys, Selection) else (Box.of(target, other) for other in keys)
        return Selection(target, tuple(boxes))


def _boxes(definition: PartitionDefinition, key: Any) -> tuple[Box, ...]:
    if not isinstance(key, Selection):
        return (Box.of(definition, key),)
    if key.definition != definition:
        raise InvalidDefinitionError(f"a selection of {key.definition!r}; expected keys of {definition!r}")
    time = definition.time
    return key.boxes if time is None else tuple(_whole(time, box) for box in key.boxes)


def _whole(time: PartitionByInterval, box: Box) -> Box:
    """*box* with a range that ends where its last interval ends."""
    return box if box.time_range is None else attrs.evolve(box, time_range=snapped(time, box.time_range))
