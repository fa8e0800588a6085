"""Keys as another producer writes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import attrs

from airflow_partitions.calendars.instants import DAY, SECOND, instant, wall_of
from airflow_partitions.calendars.steps import ahead
from airflow_partitions.calendars.timeline import FIRST, LAST, timeline
from airflow_partitions.calendars.zones import zone
from airflow_partitions.definitions import PartitionByInterval, PartitionByProduct, PartitionDefinition, from_json
from airflow_partitions.dependencies.box import intervals
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.keys.product_key import split_parts

_PROBE = 1_356_998_400 * SECOND  # 2013-01-01
_PROBES = 64


@attrs.frozen
class KeyFormat:
    """The keys of *definition* as a producer writes them that knows nothing of this package: the start of the interval.

    Such are Airflow's own partition timetables, and programs that send events over REST. The parts of a product are
    joined by ``|``, in the declared order.

    .. code-block:: python

        hours = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
        len(KeyFormat(hours).keys("2013-11-03T01:00:00"))  # 2: the clock shows it twice

    :param definition: of the keys, with a time dimension.
    :param format: of the start, as for ``strftime``; the default is that of Airflow's timetables.
    :param timezone: IANA name of the zone in which the start is written; by default the definition's.
    :raises InvalidDefinitionError: if the format writes different keys alike, other than those in an hour that the
        clock repeats, or the definition has no time.
    """

    definition: PartitionDefinition
    format: str = "%Y-%m-%dT%H:%M:%S"
    timezone: str | None = None

    def __attrs_post_init__(self) -> None:
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

    @property
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
        wrapped = self.definition.parse(key) if isinstance(key, str) else self.definition.key(key)
        if isinstance(wrapped, ProductKey):
            parts = (Segment.of(self._text(p)) if isinstance(p, Interval) else p for p in wrapped.parts)
            return str(ProductKey(tuple(wrapped), tuple(parts)))
        return self._text(wrapped)

    def keys(self, text: str) -> tuple[Key, ...]:
        """The keys that the producer writes as *text*: two where the clock repeats and the format has no offset.

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
        return tuple(
            definition.key({**fixed, self._time.name: interval}) for interval in self._intervals(texts[self._time.name])
        )

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        form = {"definition": self.definition.to_json(), "format": self.format}
        return form if self.timezone is None else {**form, "timezone": self.timezone}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> KeyFormat:
        """The inverse of :meth:`to_json`."""
        return cls(from_json(data["definition"]), data["format"], data.get("timezone"))

    @property
    def _zone(self) -> ZoneInfo:
        return zone(self._time.timezone if self.timezone is None else self.timezone)

    def _text(self, key: Any) -> str:
        return str(key.start.astimezone(self._zone).strftime(self.format))

    def _intervals(self, text: str) -> list[Interval]:
        try:
            moment = datetime.strptime(text, self.format)  # noqa: DTZ007 - its zone is ours if it names none
        except (TypeError, ValueError) as error:
            raise InvalidKeyError(
                f"{text!r} is not a key of {self.definition!r} as its producer writes it: {error}", given=text
            ) from None
        at = wall_of(moment) if moment.tzinfo is None else instant(moment)
        if not FIRST + 2 * DAY <= at < LAST - 2 * DAY:
            raise InvalidKeyError(f"{text!r} is too close to the end of Python's calendar, years 1 to 9999", given=text)
        line = timeline(self._zone)
        shown = (line.instants(at) or (line.after_gap(at),)) if moment.tzinfo is None else (at,)
        matches = [interval for start in shown if (interval := self._starting(start)) and self._text(interval) == text]
        if not matches:
            near = (
                self._starting(self._time.calendar.floor(shown[0])),
                self._starting(self._time.calendar.after(shown[0])),
            )
            nearest = tuple(self._text(interval) for interval in near if interval is not None)
            hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
            raise InvalidKeyError(
                f"{text!r} is not a key of {self.definition!r} written as {self.format!r}{hint}",
                given=text,
                nearest=nearest,
            )
        return matches

    def _starting(self, at: int | None) -> Interval | None:
        """The interval that starts at an instant."""
        interval = None if at is None else next(intervals(self._time, self._time.overlapping(at, at + 1)), None)
        return interval if interval is not None and interval.time_range[0] == at else None

    def _some(self) -> Iterator[Interval]:
        """Intervals to try the format on."""
        first = self._time.first()
        start = self._time.calendar.floor(_PROBE) if first is None else first.time_range[0]
        if start is not None:
            yield from intervals(self._time, self._time.overlapping(start, ahead(self._time.calendar, start, _PROBES)))
