"""Keys as another producer writes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, cast
from zoneinfo import ZoneInfo

import attrs

from airflow_partitions.core.calendars.instants import DAY, HOUR, MINUTE, SECOND, instant, utc, wall_of
from airflow_partitions.core.calendars.steps import ahead
from airflow_partitions.core.calendars.timeline import FIRST, LAST, OffsetPeriod, timeline
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions import PartitionByInterval, PartitionByProduct, PartitionDefinition, from_json
from airflow_partitions.core.dependencies.box import intervals
from airflow_partitions.core.dependencies.time_format import TimeFormat
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.core.keys.product_key import split_parts

_PROBE = 1_356_998_400 * SECOND  # 2013-01-01
_PROBES = 64


@attrs.frozen
class KeyFormat:
    """The keys of *definition* as a producer writes them that knows nothing of this package: the start of the interval.

    Such are Airflow's own partition timetables and mappers, and programs that send events over REST. The parts of a
    product are joined by ``|``, in the declared order. Where the clock changes, Airflow has other starts than the
    definition's calendar: a start that is skipped or repeated comes later there, and means the same interval.

    .. code-block:: python

        hours = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
        len(KeyFormat(hours).keys("2013-11-03T01:00:00"))  # 2: the clock shows it twice

    :param definition: of the keys, with a time dimension.
    :param format: of the start, as for ``strftime``, with ``{quarter}`` for the number of the quarter; the default is
        that of Airflow's timetables. Those of its mappers are ``%Y-%m-%dT%H``, ``%Y-%m-%d``, ``%Y-%m-%d (W%V)``,
        ``%Y-%m``, ``%Y-Q{quarter}`` and ``%Y``.
    :param timezone: IANA name of the zone in which the start is written; by default the definition's.
    :raises InvalidDefinitionError: if the format writes different keys alike, other than those in an hour that the
        clock repeats, or the definition has no time.
    """

    definition: PartitionDefinition
    format: str = "%Y-%m-%dT%H:%M:%S"
    timezone: str | None = None

    _format: TimeFormat = attrs.field(init=False, eq=False, repr=False)

    @_format.default
    def _read_format(self) -> TimeFormat:
        return TimeFormat(self.format)

    def __attrs_post_init__(self) -> None:
        if self.definition.listed is not None:
            raise InvalidDefinitionError(
                f"KeyFormat of {self.definition!r}, whose combinations are added at runtime; expected a definition that"
                " says by itself which exist"
            )
        for interval in self._some():
            text = self._text(interval)
            try:
                alike = self._intervals(text)
            except InvalidKeyError as error:
                raise InvalidDefinitionError(f"format {self.format!r} can't be read back: {error}") from error
            if interval not in alike:
                raise InvalidDefinitionError(
                    f"format {self.format!r} writes {interval} as {text!r}, and {alike[0]} too; expected one that tells"
                    f" the keys of {self.definition!r} apart, for example {type(self)(self.definition).format!r}"
                )

    @cached_property
    def _time(self) -> PartitionByInterval:
        if self.definition.time is None:
            raise InvalidDefinitionError(
                f"{self.definition!r} has no time dimension, so there is nothing to write in a format"
            )
        return self.definition.time

    def text(self, key: Any) -> str:
        """The *key* as the producer writes it.

        :raises InvalidKeyError: if the definition has no such key.
        """
        wrapped = self._key(key)
        return self._with_time(wrapped, self._text(self._interval(wrapped)))

    def texts(self, key: Any) -> tuple[str, ...]:
        """All texts that mean the *key* to :meth:`keys`: its own first, others only for keys soon after a clock change.

        :raises InvalidKeyError: if the definition has no such key.
        """
        wrapped = self._key(key)
        return tuple(self._with_time(wrapped, text) for text in self._texts(self._interval(wrapped)))

    def keys(self, text: str) -> tuple[Key, ...]:
        """The keys that the producer writes as *text*: two where the clock repeats and the format has no offset.

        Soon after a clock change, a text that is no start but a whole minute means the key that holds its instant.

        :raises InvalidKeyError: if *text* is malformed, or there is no such key; the nearest are in the message.
        """
        definition = self.definition
        if not isinstance(definition, PartitionByProduct):
            return tuple(self._intervals(text))
        names, parts = tuple(definition.dimensions), split_parts(text) if isinstance(text, str) else []
        if len(parts) != len(names):
            raise InvalidKeyError(
                f"{text!r} has {len(parts)} parts; expected {len(names)} joined by '|': {'|'.join(names)}", given=text
            )
        texts = dict(zip(names, parts, strict=True))
        fixed = {
            name: definition.dimensions[name].parse(part) for name, part in texts.items() if name != self._time.name
        }
        keys = [{**fixed, self._time.name: interval} for interval in self._intervals(texts[self._time.name])]
        there = () if definition.only is None else [key for key in keys if definition.contains(key)]
        return tuple(definition.key(key) for key in there or keys)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        form = {"definition": self.definition.to_json(), "format": self.format}
        return form if self.timezone is None else {**form, "timezone": self.timezone}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> KeyFormat:
        """The inverse of :meth:`to_json`."""
        return cls(from_json(data["definition"]), data["format"], data.get("timezone"))

    @cached_property
    def _zone(self) -> ZoneInfo:
        return zone(self._time.timezone if self.timezone is None else self.timezone)

    @cached_property
    def _as_the_definition(self) -> bool:
        """Whether starts are written in the definition's zone: a timetable of another has another cron than it."""
        return self._zone == zone(self._time.timezone)

    def _key(self, key: Any) -> Key:
        return self.definition.parse(key) if isinstance(key, str) else self.definition.key(key)

    def _interval(self, key: Key) -> Interval:
        return cast("Interval", self.definition.interval_of(key))  # there is a time dimension

    @staticmethod
    def _with_time(key: Key, text: str) -> str:
        """The text of the *key* with *text* for its interval."""
        if not isinstance(key, ProductKey):
            return text
        parts = (Segment.of(text) if isinstance(part, Interval) else part for part in key.parts)
        return str(ProductKey(tuple(key), tuple(parts)))

    def _text(self, interval: Interval) -> str:
        start, _ = interval.time_range
        at = self._time.calendar.airflow_tick(start) if self._as_the_definition else start
        return self._format.write(utc(at).astimezone(self._zone))

    def _texts(self, interval: Interval) -> Iterator[str]:
        """The texts that mean the *interval*, its own first."""
        text = self._text(interval)
        yield text
        others = dict.fromkeys(map(self._format.write, self._after_changes(*interval.time_range)))
        yield from (other for other in others if other != text and interval in self._meant(other))

    def _after_changes(self, start: int, end: int) -> Iterator[datetime]:
        """The minutes that a clock on the wall shows, or jumps over, soon after changes that concern an interval."""
        for period in timeline(self._zone).forward(start):
            if period.start >= end:
                return
            if _is_after_change(period, max(start, period.start)):
                low = period.start + min(period.before, period.offset)
                high = period.start + period.offset + abs(period.offset - period.before) + HOUR
                for wall in range(low - low % MINUTE, high, MINUTE):
                    yield from self._written_alike(utc(wall))

    def _written_alike(self, wall: datetime) -> Iterator[datetime]:
        """What the clock shows as *wall*, before and after it is set back."""
        return (wall.replace(tzinfo=self._zone, fold=fold) for fold in (0, 1))

    def _meant(self, text: str) -> list[Interval]:
        try:
            return self._intervals(text)
        except InvalidKeyError:
            return []

    def _intervals(self, text: str) -> list[Interval]:
        """The intervals that are written as *text*; after a clock change, else those that hold its instant."""
        try:
            moment = self._format.read(text)
        except (TypeError, ValueError) as error:
            raise InvalidKeyError(
                f"{text!r} is not a key of {self.definition!r} as its producer writes it: {error}", given=text
            ) from None
        at = wall_of(moment) if moment.tzinfo is None else instant(moment)
        if not FIRST + 2 * DAY <= at < LAST - 2 * DAY:
            raise InvalidKeyError(f"{text!r} is too close to the end of Python's calendar, years 1 to 9999", given=text)
        line = timeline(self._zone)
        wall = at if moment.tzinfo is None else at + line.offset(at)
        shown = line.instants(wall) or (line.after_gap(wall),)
        there = dict.fromkeys(interval for at in shown for interval in self._around(at))
        matches = [interval for interval in there if self._text(interval) == text]
        if not matches and at % MINUTE == 0 and text in map(self._format.write, self._written_alike(moment)):
            late = (at for at in (shown if moment.tzinfo is None else (at,)) if _is_after_change(line.period(at), at))
            matches = [interval for interval in map(self._holding, late) if interval is not None]
        if not matches:
            near = (self._time.calendar.floor(shown[0]), self._time.calendar.after(shown[0]))
            nearest = tuple(self._text(i) for i in (self._holding(at) for at in near) if i is not None)
            hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
            raise InvalidKeyError(
                f"{text!r} is not a key of {self.definition!r} written as {self.format!r}{hint}",
                given=text,
                nearest=nearest,
            )
        return matches

    def _around(self, at: int) -> Iterator[Interval]:
        """The interval that holds an instant, and the others since a clock change just before it, in order."""
        period = timeline(self._zone).period(at)
        low = period.start if _is_after_change(period, at) else at
        yield from intervals(self._time, self._time.overlapping(low, at + 1))

    def _holding(self, at: int | None) -> Interval | None:
        """The interval that holds an instant."""
        return None if at is None else next(intervals(self._time, self._time.overlapping(at, at + 1)), None)

    def _some(self) -> Iterator[Interval]:
        """Intervals to try the format on."""
        first = self._time.first()
        start = self._time.calendar.floor(_PROBE) if first is None else first.time_range[0]
        if start is not None:
            yield from intervals(self._time, self._time.overlapping(start, ahead(self._time.calendar, start, _PROBES)))


def _is_after_change(period: OffsetPeriod, at: int) -> bool:
    """Whether Airflow may have moved a start to the instant *at* because of the clock change before it."""
    change = abs(period.offset - period.before)
    return change > 0 and at < period.start + change + HOUR
