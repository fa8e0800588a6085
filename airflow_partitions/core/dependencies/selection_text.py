"""Selections written as text, for command lines and addresses of pages.

.. code-block:: text

    2013-03-01..2013-03-10 & origin in JFK,LGA     days from the 1st up to, not including, the 10th; two airports
    2013-03, 2013-05-01                            all that begins in March, and the first of May
    2013-02-08|JFK; latest                         one key, and the newest closed interval
    origin = "St. John's, NL"                      quotes, as in JSON, around a value with a comma, a quote or the like
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionDefinition,
)
from airflow_partitions.core.dependencies.box import Box, intervals, snapped
from airflow_partitions.core.dependencies.selection import Selection
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, SelectionError
from airflow_partitions.core.keys import Segment
from airflow_partitions.core.keys.nearest import nearest_texts

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_CONDITION = re.compile(r"(\w+)(?:\s*=\s*|\s+in\s+)(.*)", re.DOTALL)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
#: What a value must not have unless it is quoted.
_SPECIAL = re.compile(r'[,;&="]|\.\.|\sin\s|^\s|\s$|^$|^all$|^latest$')
_EXAMPLE = "expected for example 2013-03-01..2013-03-10 & origin in JFK,LGA"


def parse_selection(definition: PartitionDefinition, text: str, *, closed_by: datetime | None = None) -> Selection:
    """The keys of *definition* that *text* selects.

    ``;`` joins what is selected, ``&`` cuts it, ``,`` lists. What is listed are keys, years, months or days (the
    intervals that begin in them), ranges ``A..B`` of these and of times with their UTC offset (the intervals that begin
    from ``A`` up to, not including, ``B``; either end may be left out), ``latest`` (the newest interval that is over)
    and ``all``. ``NAME in A,B`` or ``NAME = A`` says it of one dimension. The text of a key always means that key.

    :param closed_by: an aware instant: what is over by then is the ``latest``, and the last of ``all`` and of ranges
        without an end. Without it, these have no end where the definition has none.
    :raises SelectionError: if the text can't be read, or selects nothing; the nearest that can is in the message.
    :raises InvalidKeyError: for what is no key of the definition; the nearest are in the message.
    """
    if not isinstance(text, str) or not text.strip():
        raise SelectionError(f"{text!r} selects nothing; {_EXAMPLE}, or all")
    reader = _Reader(definition, closed_by)
    selection = reader.whole(text)
    if not selection:
        raise SelectionError(f"{text!r} selects no partition of {definition!r}; {_EXAMPLE}, or all")
    return selection


def selection_text(selection: Selection) -> str:
    """The canonical text of a *selection*, which :func:`parse_selection` reads back: the same for the same keys.

    It is empty for an empty selection. Values with a comma or the like are in quotes, also where a key's own text would
    do without, so that nobody has to know the keys to read it.
    """
    definition = selection.definition
    by_segments: dict[tuple[str, ...], list[Box]] = {}
    for box in selection.written:
        if len(Selection(definition, (box,))):
            conditions = tuple(_conditions(definition, box))
            by_segments.setdefault(conditions, []).append(box)
    once = text = "; ".join(_part(definition, conditions, boxes) for conditions, boxes in by_segments.items())
    # "a,b" means "a" and "b", unless it is a key: said twice, it is none.
    while text and _as_key(definition, text) not in (None, selection):
        text = f"{text}; {once}"
    return text


def _as_key(definition: PartitionDefinition, text: str) -> Selection | None:
    """The key that has this *text*; ``None`` if there is none, or if any text may be a key."""
    if isinstance(definition, PartitionAtRuntime):
        return None
    try:
        return Selection.of(definition, text)
    except InvalidKeyError:
        return None


@attrs.frozen
class _Reader:
    """What a text about *definition* says."""

    definition: PartitionDefinition
    closed_by: datetime | None

    def whole(self, text: str) -> Selection:
        if (key := _as_key(self.definition, text.strip())) is not None:
            return key
        boxes: list[Box] = []
        for part in _split(text, ";"):
            terms = [term.strip() for term in _split(part, "&")]
            common = _common([self._term(term) for term in terms])
            if self.definition.time is not None and all(map(self._is_of_segments, terms)):
                common &= Selection(self.definition, (Box(self._whole(self.definition.time)),))
            boxes.extend(common.boxes)
        return Selection(self.definition, tuple(boxes))

    def _term(self, term: str) -> Selection:
        definition = self.definition
        condition = _CONDITION.fullmatch(term)
        if condition is None:
            return Selection(definition, tuple(self._listed(definition, term)))
        name, items = condition.groups()
        if name not in definition.dimensions:
            near = ", ".join(nearest_texts(name, definition.dimensions))
            raise SelectionError(f"{term!r}: {definition!r} has no dimension {name!r}; nearest: {near}")
        dimension = definition.dimensions[name]
        if not isinstance(definition, PartitionByProduct):
            return Selection(definition, tuple(self._listed(definition, items)))
        chosen = Selection(dimension, tuple(self._listed(dimension, items)))
        if isinstance(dimension, PartitionByInterval):
            return Selection(definition, chosen.boxes)
        time_range = None if definition.time is None else definition.time.overlapping(FIRST, LAST)
        segments = tuple(part for part in chosen if isinstance(part, Segment))
        return Selection(definition, (Box(time_range, {name: segments}),))

    def _is_of_segments(self, term: str) -> bool:
        """Whether a *term* says nothing of time."""
        condition = _CONDITION.fullmatch(term)
        return condition is not None and self.definition.time != self.definition.dimensions[condition[1]]

    def _listed(self, definition: PartitionDefinition, items: str) -> Iterator[Box]:
        for item in _split(items, ","):
            yield self._item(definition, item.strip())

    def _item(self, definition: PartitionDefinition, item: str) -> Box:
        time = definition.time
        if not item:
            raise SelectionError(f"a value is missing beside ',', '&' or ';'; {_EXAMPLE}")
        if _QUOTED.fullmatch(item):
            return Box.of(definition, _unquoted(item))
        if '"' in item:
            raise SelectionError(f'{item!r}: expected quotes around the whole value, and \\" for one in it')
        if item == "all":
            return self._all(definition)
        if item == "latest":
            return self._latest(definition)
        if ".." in item:
            if time is None:
                raise SelectionError(f"{item!r}: {definition!r} has no time, so no ranges; list the values: A,B")
            start, _, end = item.partition("..")
            first, last = self._whole(time)
            return Box(_within(time, self._start(time, start.strip(), first), self._start(time, end.strip(), last)))
        keyed = definition if time is None or "|" in item else time
        try:
            return Box.of(keyed, item)
        except InvalidKeyError:
            if time is None or (period := _period(time, item)) is None:
                raise
            return Box(_within(time, *period))

    def _all(self, definition: PartitionDefinition) -> Box:
        if isinstance(definition, PartitionAtRuntime):
            raise SelectionError(f"'all': the keys of {definition!r} are not known from it; name those that are meant")
        return Box(None if definition.time is None else self._whole(definition.time))

    def _whole(self, time: PartitionByInterval) -> TimeRange:
        """The range of all intervals, or of those that are over."""
        first, last = snapped(time, time.overlapping(FIRST, LAST))
        if self.closed_by is None:
            return first, last
        latest = time.last(self.closed_by)
        return first, first if latest is None else latest.time_range[1]

    def _latest(self, definition: PartitionDefinition) -> Box:
        time = definition.time
        if time is None:
            raise SelectionError(f"'latest': {definition!r} has no time, so none of its keys is the latest; name it")
        if self.closed_by is None:
            raise SelectionError("'latest' is known only where it is said by when the interval is over; name the key")
        latest = time.last(self.closed_by)
        if latest is None:
            raise SelectionError(f"'latest': no interval of {time!r} is over at {self.closed_by.isoformat()}")
        return Box(latest.time_range)

    def _start(self, time: PartitionByInterval, text: str, default: int) -> int:
        """The instant at which a bound of a range begins."""
        if not text:
            return default
        if (period := _period(time, text)) is not None:
            return period[0]
        try:
            return time.moment(text, "bound")
        except InvalidDefinitionError as error:
            raise SelectionError(str(error)) from None


def _common(terms: list[Selection]) -> Selection:
    """The keys that are in all the *terms*."""
    common = terms[0]
    for term in terms[1:]:
        common = common & term
    return common


def _split(text: str, separator: str) -> Iterator[str]:
    """The parts of *text* between separators that are not in quotes."""
    start = position = 0
    while position < len(text):
        if text[position] == '"':
            quoted = _QUOTED.match(text, position)
            if quoted is None:
                raise SelectionError(f"{text[position:]!r}: the quote is not closed; expected one more '\"'")
            position = quoted.end()
            continue
        if text[position] == separator:
            yield text[start:position]
            start = position + 1
        position += 1
    yield text[start:]


def _unquoted(item: str) -> str:
    try:
        return str(json.loads(item))
    except ValueError as error:
        raise SelectionError(f"{item} is no text in quotes, as in JSON: {error}") from None


def _within(time: PartitionByInterval, low: int, high: int) -> TimeRange:
    """The range of the intervals that begin in ``[low, high)``."""
    if high < low:
        start, end = (time.clock.datetime(bound).isoformat() for bound in (low, high))
        raise SelectionError(f"a range from {start} to {end} ends before it begins; expected start..end")
    first, last = snapped(time, time.overlapping(FIRST, LAST))
    low, high = max(first, low), min(last, high)
    return (low, high) if low < high else (first, first)


def _period(time: PartitionByInterval, text: str) -> TimeRange | None:
    """Instants of the year, month or day that *text* names; ``None`` if it names none."""
    match = _PERIOD.fullmatch(text)
    if match is None or (match[3] is not None and time.clock.dates):
        return None
    try:
        year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        first = date(year, month, day)
        return time.moment(first), time.moment(_after(first, match.lastindex or 1))
    except (ValueError, OverflowError):
        return None


def _after(first: date, parts: int) -> date:
    """The date after the year, month or day (1, 2 or 3 *parts* of a date) that begins *first*."""
    if parts == 1:
        return date(first.year + 1, 1, 1)
    if parts == 2:
        return date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first + timedelta(days=1)


def _conditions(definition: PartitionDefinition, box: Box) -> Iterator[str]:
    for name in definition.dimensions:
        if name in box.segments:
            yield f"{name} in {','.join(_written(segment.text) for segment in box.segments[name])}"


def _part(definition: PartitionDefinition, conditions: tuple[str, ...], boxes: list[Box]) -> str:
    """The text of *boxes* with the same segments."""
    if not isinstance(definition, PartitionByProduct):
        if definition.time is not None:
            return ", ".join(_range_text(definition.time, box.time_range) for box in boxes if box.time_range)
        return ", ".join(condition.partition(" in ")[2] for condition in conditions) or "all"
    if len(selection := Selection(definition, tuple(boxes))) == 1:
        return _written(str(next(iter(selection))))
    ranges = [
        _range_text(definition.time, box.time_range)
        for box in boxes
        if definition.time is not None and box.time_range is not None
    ]
    times = [] if ranges == ["all"] and conditions else [", ".join(ranges)] if ranges else []
    return " & ".join([*times, *conditions]) or "all"


def _range_text(time: PartitionByInterval, time_range: TimeRange) -> str:
    """The text of the intervals that begin in a range."""
    low, high = snapped(time, time_range)
    first, last = snapped(time, time.overlapping(FIRST, LAST))
    start = "" if time.start is None and low == first else _bound_text(time, low)
    end = "" if time.end is None and high == last else _bound_text(time, high)
    if not start and not end:
        return "all"
    if start and end:
        if time.calendar.after(low) == high:
            return _written(str(next(intervals(time, (low, high)))))
        for length in (4, 7, 10):
            if _period(time, start[:length]) == (low, high):
                return start[:length]
    return f"{start}..{end}"


def _bound_text(time: PartitionByInterval, at: int) -> str:
    """The text of an instant at which an interval begins or ends."""
    day = time.clock.datetime(at).date()
    return day.isoformat() if time.moment(day) == at else time.clock.text(at)


def _written(text: str) -> str:
    """A value's *text*, in quotes if it has to be."""
    return json.dumps(text, ensure_ascii=False) if _SPECIAL.search(text) else text
