"""Partition columns: how keys become directory names, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from itertools import islice
from typing import Any

import attrs

from airflow_partitions.calendars.instants import HOUR, instant, utc
from airflow_partitions.calendars.timeline import timeline
from airflow_partitions.definitions import PartitionByInterval, PartitionBySequence, PartitionDefinition
from airflow_partitions.errors import InvalidKeyError, LayoutError
from airflow_partitions.keys import Interval, Key, Segment
from airflow_partitions.storage.escape import check_component, escape, unescape

_DIMENSION = re.compile(r"\{(\w+)\}")


#: Types a partition column can be declared with, and how their text is read.
TYPES: Mapping[str, Callable[[str], Any]] = {"string": str, "int": int, "bigint": int, "date": date.fromisoformat}


@attrs.frozen
class Column:
    """How one partition column is written.

    :param format: a strftime format of the start of the time dimension, in its zone (``"%Y-%m-%d"``), or
        ``"{dimension}"`` for that dimension's canonical text.
    :param type: the column's type when read: ``"string"``, ``"int"``, ``"bigint"`` or ``"date"``. Types are declared,
        never inferred: Spark would read the text ``01`` as the number 1.
    """

    format: str
    type: str = "string"

    def __attrs_post_init__(self) -> None:
        if self.type not in TYPES:
            raise LayoutError(f"column type {self.type!r} is not supported; expected one of: {', '.join(TYPES)}")

    @property
    def dimension(self) -> str | None:
        """The dimension whose text is written, or ``None`` for a strftime format."""
        found = _DIMENSION.fullmatch(self.format)
        return found[1] if found else None

    def text(self, part: Interval | Segment) -> str:
        """The column's text for one part of a key."""
        if self.dimension is None and isinstance(part, Interval):
            return part.start.strftime(self.format)
        return str(part)


class Layout:
    """Directory names of a definition's keys: one ``column=value`` level per partition column, in order.

    :param definition: the partitions that are stored.
    :param columns: column name to format; by default one text column per dimension, named like it.
    :raises LayoutError: if two keys would share one directory, or a column can't hold its values.
    """

    #: Whether the partition columns are columns of the frames that are read.
    in_frames = True

    def __init__(self, definition: PartitionDefinition, columns: Mapping[str, Column] | None = None) -> None:
        self.definition = definition
        self.columns = dict(columns) if columns else {name: Column(f"{{{name}}}") for name in definition.dimensions}
        self._of = {name: self._dimension_of(name, column) for name, column in self.columns.items()}
        self._check_names()
        for dimension in definition.dimensions.values():
            self._check_distinct(dimension)

    def values_of(self, key: Key) -> dict[str, str]:
        """Text of every partition column for *key*."""
        parts = self.definition.dimensions_of(key)
        return {name: column.text(parts[self._of[name]]) for name, column in self.columns.items()}

    def columns_of(self, dimension: str) -> tuple[str, ...]:
        """The columns that *dimension* fills, in order."""
        return tuple(name for name, filled in self._of.items() if filled == dimension)

    def interval_of(self, texts: Mapping[str, str]) -> Interval:
        """The interval whose columns have these *texts*.

        :raises LayoutError: if there is none.
        """
        time = self.definition.time
        if time is not None:
            for interval in self._intervals(time, texts):
                if all(self.columns[name].text(interval) == text for name, text in texts.items()):
                    return interval
        shown = "/".join(f"{name}={text}" for name, text in texts.items())
        raise LayoutError(f"{shown!r} is no time of {time!r}")

    def directory_of(self, key: Key) -> str:
        """The directory of *key* below the root, escaped as Spark and Hive do."""
        return "/".join(self._component(name, text) for name, text in self.values_of(key).items())

    def texts_of(self, directory: str) -> Mapping[str, str]:
        """Text of every partition column, as the name of *directory* tells them."""
        levels = (level.partition("=") for level in directory.split("/"))
        return {unescape(name): unescape(text) for name, _, text in levels}

    def key_of(self, directory: str) -> Key:
        """The key stored in *directory*; the inverse of :meth:`directory_of`.

        :raises LayoutError: if no key is stored there.
        """
        levels = [level.partition("=") for level in directory.strip("/").split("/")]
        values = {unescape(name): unescape(text) for name, _, text in levels}
        if list(values) == list(self.columns):
            for key in self._candidates(values):
                if self.directory_of(key) == directory.strip("/"):
                    return key
        expected = "/".join(f"{escape(name)}={column.format}" for name, column in self.columns.items())
        raise LayoutError(f"{directory!r} is not the directory of a partition; expected one of the form {expected!r}")

    def _candidates(self, values: Mapping[str, str]) -> Iterator[Key]:
        """Keys that may be stored under the columns' *values*."""
        parts: dict[str, Any] = {}
        times: tuple[Interval, ...] = ()
        try:
            for dimension in self.definition.dimensions.values():
                written = {name: values[name] for name in self.columns if self._of[name] == dimension.name}
                texts = [text for name, text in written.items() if self.columns[name].dimension]
                if texts:
                    parts[dimension.name] = dimension.parse(texts[0])
                elif isinstance(dimension, PartitionByInterval):
                    times = tuple(self._intervals(dimension, written))
        except InvalidKeyError:
            return
        time = self.definition.time
        for chosen in [parts] if time is None or time.name in parts else [{**parts, time.name: t} for t in times]:
            yield self.definition.key(chosen if len(chosen) > 1 else next(iter(chosen.values())))

    def _intervals(self, time: PartitionByInterval, written: Mapping[str, str]) -> Iterator[Interval]:
        """Intervals that may be written as *written*: with a repeated wall clock there are two to try."""
        form = "\n".join(self.columns[name].format for name in written).replace("%-", "%")
        text = "\n".join(written.values())
        if "%V" in form and "%u" not in form:  # an ISO week without a day is read as its Monday
            form, text = form + "\n%u", text + "\n1"
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - the zone is added below
        except ValueError:
            return
        moments = [moment] if moment.tzinfo else [moment.replace(tzinfo=time.clock.zone, fold=f) for f in (0, 1)]
        for found in moments:
            try:
                interval = time.key_at(found)
            except InvalidKeyError:
                continue
            yield interval
            if (
                after := time.next(interval)
            ) is not None:  # the format may drop minutes: the start comes a little later
                yield after

    def _dimension_of(self, name: str, column: Column) -> str:
        dimensions = self.definition.dimensions
        if (wanted := column.dimension) is not None:
            if wanted in dimensions:
                return wanted
            near = get_close_matches(wanted, dimensions, n=1, cutoff=0) or list(dimensions)
            raise LayoutError(f"column {name!r}: there is no dimension {wanted!r}; nearest: {near[0]!r}")
        if "%" not in column.format:
            names = " or ".join(repr(f"{{{d}}}") for d in dimensions)
            raise LayoutError(
                f"column {name!r}: {column.format!r} is the same for every key; expected a strftime format such as"
                f" '%Y-%m-%d', or {names}"
            )
        if self.definition.time is None:
            raise LayoutError(
                f"column {name!r}: {column.format!r} is a time format, but {self.definition!r} has no time"
            )
        return self.definition.time.name

    def _check_names(self) -> None:
        seen: dict[str, str] = {}
        for name in self.columns:
            if not name:
                raise LayoutError("a partition column needs a name")
            if (other := seen.setdefault(name.lower(), name)) != name:
                raise LayoutError(f"columns {other!r} and {name!r} are the same to Spark; expected different names")

    def _component(self, name: str, text: str) -> str:
        try:
            TYPES[self.columns[name].type](text)
        except ValueError:
            raise LayoutError(
                f"column {name!r}: {text!r} is not a {self.columns[name].type}; declare another type"
            ) from None
        return check_component(f"{escape(name)}={escape(text)}", text)

    def _check_distinct(self, dimension: PartitionDefinition) -> None:
        """Refuse the layout if two keys of *dimension* are written alike, as far as a good sample can tell."""
        columns = {name: column for name, column in self.columns.items() if self._of[name] == dimension.name}
        written: dict[tuple[Any, ...], Any] = {}
        for part in _sample(dimension):
            texts = {name: column.text(part) for name, column in columns.items()}
            for name, text in texts.items():
                self._component(name, text)
            same = tuple(TYPES[columns[name].type](text) for name, text in texts.items())
            if (other := written.setdefault(same, part)) != part:
                shown = "/".join(f"{name}={text}" for name, text in texts.items()) or "no column"
                raise LayoutError(
                    f"partitions {str(other)!r} and {str(part)!r} of {dimension.name!r} would share {shown};"
                    f" expected a layout that tells them apart{_remedy(dimension, columns.values())}"
                )


def _remedy(dimension: PartitionDefinition, columns: Iterable[Column]) -> str:
    formats = [column.format for column in columns]
    if isinstance(dimension, PartitionByInterval) and any("%H" in form and "%z" not in form for form in formats):
        return ": where the clock is set back an hour comes twice, add %z (the UTC offset) to the format"
    return f", for example {{{dimension.name!r}: '{{{dimension.name}}}'}}"


def _sample(dimension: PartitionDefinition) -> Iterator[Interval | Segment]:
    """Parts of keys that show whether a layout is reversible: all segments; of times those likely to look alike."""
    if isinstance(dimension, PartitionBySequence):
        yield from dimension.segments
    elif isinstance(dimension, PartitionByInterval):
        first = dimension.start or datetime(2000, 1, 1, tzinfo=UTC).astimezone(dimension.clock.zone)
        yield from islice(dimension.keys(first, first + timedelta(days=36525)), 500)
        for days in (365, 366, 730, 3652, 36524, 36525):  # no year in the format, or only two digits of it
            far = first + timedelta(days=days)
            yield from islice(dimension.keys(far, far + timedelta(days=400)), 48)
        yield from _repeated(dimension, first)


def _repeated(time: PartitionByInterval, first: datetime) -> Iterator[Interval]:
    """Pairs of intervals that start at the same wall clock, in the thirty years from *first*."""
    start = instant(first)
    for stretch in timeline(time.clock.zone).forward(start):
        if stretch.start > start + 30 * 8766 * HOUR:
            return
        back = stretch.before - stretch.offset
        if back <= 0 or stretch.start - back < start:
            continue
        for early in islice(time.keys(utc(stretch.start - back), utc(stretch.start)), 8):
            again = early.bounds[0] + back
            for late in time.keys(utc(again), utc(again + 1)):
                yield from (early, late)
