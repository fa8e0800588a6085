"""Partition columns: how keys become directory names, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any

from airflow_partitions.core.calendars.instants import HOUR, UTC, instant, utc
from airflow_partitions.core.calendars.timeline import timeline
from airflow_partitions.core.definitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.core.errors import InvalidKeyError, LayoutError
from airflow_partitions.core.keys import Interval, Key, Segment
from airflow_partitions.storage.layout.column import TYPES, VALUES, Column
from airflow_partitions.storage.layout.escape import check_component, escape, unescape


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
        self.fields = self._fields()
        for dimension in definition.dimensions.values():
            _check_distinct(dimension, tuple((name, self.columns[name]) for name in self.columns_of(dimension.name)))

    def key(self, value: Any) -> Key:
        """The key meant by *value*: wrapped, plain or its text; of tuples also a mapping with a value for each column.

        :raises InvalidKeyError: if the definition has no such key.
        """
        if isinstance(value, str):
            key = self.definition.parse(value)
        elif self.fields and isinstance(value, Mapping):
            if set(value) != set(self.fields):
                raise InvalidKeyError(
                    f"{value!r} is no key; expected a value for each of {[*self.fields]}", given=value
                )
            key = self.definition.key(tuple(value[name] for name in self.fields))
        else:
            key = self.definition.key(value)
        self._check_fields(key)
        return key

    def values_of(self, key: Key) -> dict[str, str]:
        """Text of every partition column for *key*."""
        self._check_fields(key)
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
        return "/".join(_component(name, self.columns[name], text) for name, text in self.values_of(key).items())

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
                if self.fields:
                    typed = (TYPES[self.columns[name].type](written[name]) for name in self.fields)
                    parts[dimension.name] = dimension.key(tuple(typed))
                    continue
                texts = [text for name, text in written.items() if self.columns[name].dimension]
                if texts:
                    parts[dimension.name] = dimension.parse(texts[0])
                elif isinstance(dimension, PartitionByInterval):
                    times = tuple(self._intervals(dimension, written))
        except ValueError:  # no such key, or a text that is not of its column's type
            return
        time = self.definition.time
        for chosen in [parts] if time is None or time.name in parts else [{**parts, time.name: t} for t in times]:
            with suppress(InvalidKeyError):  # a combination that does not exist
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
        for candidate in moments:
            try:
                interval = time.key_at(candidate)
            except InvalidKeyError:
                continue
            yield interval
            if (after := time.next(interval)) is not None:  # the format may drop minutes: the start comes later
                yield after

    def _dimension_of(self, name: str, column: Column) -> str:
        dimensions = self.definition.dimensions
        if (dimension_name := column.dimension) is not None:
            if dimension_name in dimensions:
                return dimension_name
            near = get_close_matches(dimension_name, dimensions, n=1, cutoff=0) or list(dimensions)
            raise LayoutError(f"column {name!r}: there is no dimension {dimension_name!r}; nearest: {near[0]!r}")
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

    def _fields(self) -> tuple[str, ...]:
        """The columns of the values of keys that are tuples, in the order of the tuple; none for other keys."""
        positions = {name: column.position for name, column in self.columns.items()}
        if all(position is None for position in positions.values()):
            return ()
        if not isinstance(self.definition, PartitionAtRuntime):
            raise LayoutError(f"{self.definition!r} has no keys that are tuples; expected columns without a position")
        ordered = sorted((position, name) for name, position in positions.items() if position is not None)
        if [position for position, _ in ordered] != list(range(len(positions))):
            formats = [f"{{{self.definition.name}[{number}]}}" for number in range(len(positions))]
            raise LayoutError(f"columns {list(positions)}: expected each of {', '.join(formats)} once")
        return tuple(name for _, name in ordered)

    def _check_fields(self, key: Key) -> None:
        """Refuse a *key* that is no tuple with a value of the right type for each of the fields."""
        if not self.fields:
            return
        values = key.value if isinstance(key, Segment) else None
        kinds = {name: self.columns[name].type for name in self.fields}
        expected = f"expected ({', '.join(f'{name}: {kind}' for name, kind in kinds.items())})"
        if not isinstance(values, tuple) or len(values) != len(kinds):
            raise InvalidKeyError(f"{str(key)!r} has no value for each field; {expected}", given=values)
        for (name, kind), value in zip(kinds.items(), values, strict=True):
            if type(value) is not VALUES[kind]:
                raise InvalidKeyError(f"{str(key)!r}: {name} is {value!r}; {expected}", given=values)
            if kind in ("int", "bigint"):
                try:
                    TYPES[kind](str(value))
                except ValueError as error:
                    raise InvalidKeyError(f"{str(key)!r}: {name}: {error}; {expected}", given=values) from None

    def _check_names(self) -> None:
        seen: dict[str, str] = {}
        for name in self.columns:
            if not name:
                raise LayoutError("a partition column needs a name")
            if (other := seen.setdefault(name.lower(), name)) != name:
                raise LayoutError(f"columns {other!r} and {name!r} are the same to Spark; expected different names")


def _component(name: str, column: Column, text: str) -> str:
    try:
        TYPES[column.type](text)
    except ValueError:
        raise LayoutError(f"column {name!r}: {text!r} is not a {column.type}; declare another type") from None
    return check_component(f"{escape(name)}={escape(text)}", text)


# The same dataset is made again and again: for each of its functions that gives another one, and of each handover.
@lru_cache(maxsize=256)
def _check_distinct(dimension: PartitionDefinition, columns: tuple[tuple[str, Column], ...]) -> None:
    """Refuse *columns* if two keys of *dimension* are written alike, as far as a good sample can tell."""
    written: dict[tuple[Any, ...], Any] = {}
    for part in _sample(dimension):
        texts = [(name, column, column.text(part)) for name, column in columns]
        for name, column, text in texts:
            _component(name, column, text)
        same = tuple(TYPES[column.type](text) for _, column, text in texts)
        if (other := written.setdefault(same, part)) != part:
            shown = "/".join(f"{name}={text}" for name, _, text in texts) or "no column"
            raise LayoutError(
                f"partitions {str(other)!r} and {str(part)!r} of {dimension.name!r} would share {shown};"
                f" expected a layout that tells them apart{_remedy(dimension, [column for _, column in columns])}"
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
    for period in timeline(time.clock.zone).forward(start):
        if period.start > start + 30 * 8766 * HOUR:
            return
        back = period.before - period.offset
        if back <= 0 or period.start - back < start:
            continue
        for early in islice(time.keys(utc(period.start - back), utc(period.start)), 8):
            again = early.time_range[0] + back
            for late in time.keys(utc(again), utc(again + 1)):
                yield from (early, late)
