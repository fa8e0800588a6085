"""Rules about one dimension of a key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, TypeAlias

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.dependencies.rule import Rule, Sides
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Segment

ALWAYS: TimeRange = FIRST, LAST
NEVER: TimeRange = FIRST, FIRST
Images: TypeAlias = Mapping[Segment, tuple[Segment, ...]]


class DimensionRule(Rule):
    """A rule that replaces what holds for a dimension; all other dimensions belong together as without it."""

    @abstractmethod
    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        """The rules by the name of the dimension, on either side, that each is about."""


class Times(NamedTuple):
    """The time dimensions of the two sides; a downstream without one has ``None``."""

    downstream: PartitionByInterval | None
    upstream: PartitionByInterval


class TimeRule(DimensionRule):
    """A rule about time. It answers in ranges; the intervals of the other side that overlap one are meant."""

    #: Whether it says which intervals are meant by downstream keys without time.
    timeless: bool = False

    @abstractmethod
    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        """The range whose upstream intervals any of the *downstream* ones, which lie side by side, need."""

    @abstractmethod
    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        """The range whose downstream intervals need any of the *upstream* ones, which lie side by side."""

    def check(self, upstream: PartitionByInterval) -> None:
        """Refuse an upstream calendar that the rule can't choose from."""

    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        if sides.upstream.time is None or (sides.downstream.time is None and not self.timeless):
            raise InvalidDefinitionError(
                f"{self!r} needs time {'in the upstream' if self.timeless else 'on both sides'};"
                f" {sides.downstream!r} or {sides.upstream!r} has none"
            )
        return {sides.upstream.time.name: self}


class SegmentRule(DimensionRule):
    """A rule about a dimension of segments."""

    @abstractmethod
    def images(self, downstream: PartitionDefinition, upstream: PartitionDefinition) -> tuple[Images, Images]:
        """For each downstream segment the upstream ones it needs, and for each upstream one those that need it."""

    @abstractmethod
    def ends(self, sides: Sides, name: str = "") -> tuple[str, str]:
        """Names of the downstream and the upstream dimension it is about; *name* is the one of them that was given."""
