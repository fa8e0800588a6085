"""The states of an asset's partitions, as of one moment."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby, zip_longest

import attrs

from airflow_partitions.core.calendars.instants import DAY, TimeRange
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionByInterval, PartitionBySequence
from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset, asset_dags
from airflow_partitions.engine.ledger.last_times import LastTimes, TimesByStart
from airflow_partitions.engine.ledger.places import Place
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions
from airflow_partitions.engine.timetables.upstreams import Upstream
from airflow_partitions.operate.state import MISSING, WAITING, State, Status
from airflow_partitions.operate.states.by_start import ByStart, by_time_range, those_of
from airflow_partitions.operate.states.readings import Readings
from airflow_partitions.operate.states.runs import LastRun, Runs
from airflow_partitions.operate.states.slabs import rectangles, selection_of, slabs
from airflow_partitions.operate.states.stale import stale_places
from airflow_partitions.operate.states.stretch import Stretch
from airflow_partitions.operate.states.waiting import Waiting

#: Whether an asset may be told of, by the Dags around it.
Shows = Callable[[AssetDags], bool]
#: Statuses by the start of the interval (0 without time) and the texts of the segments.
Statuses = ByStart[Status]

_MATERIALIZED, _PROVISIONAL = Status(State.MATERIALIZED), Status(State.MATERIALIZED, provisional=True)
# So many partitions that wait side by side are told one by one.
_FEW = 10
# What begins before is not bounded from below: no calendar means the year 1.
_BEGINNING = FIRST + 1_000 * DAY


class AssetStates:
    """The states of an asset's partitions, as of one moment: from its definition, its history, runs and pending rows.

    What is asked for is read, and each thing once; partitions that are not there are never listed.

    :param asset: with the Dags around it.
    :param now: aware; the default is the moment.
    :param shows: whether an upstream asset may be told of; by default all may.
    :param readings: of this asset and others; by default its own are read.
    :raises UnknownVersionError: if another release wrote the ledger.
    """

    def __init__(
        self,
        asset: PartitionedAsset,
        now: datetime | None = None,
        shows: Shows | None = None,
        readings: Readings | None = None,
    ) -> None:
        self.asset = asset
        self._readings = Readings([asset]) if readings is None else readings
        self._shows = shows
        self._told: dict[str, bool] = {}
        self.definition = asset.definition
        self.now = datetime.now(UTC) if now is None else now
        #: When its partitions were last materialized.
        self.times = self._readings.times(asset)

    @cached_property
    def _waiting(self) -> list[Waiting]:
        return [Waiting(each, self.upstream_times, self.now) for each in self.asset.upstreams.values()]

    @property
    def size(self) -> int:
        """Number of the partitions that were read of the ledger, of upstream assets too."""
        return sum(times.size for times in (self.times, *self.upstream_times.values()))

    @cached_property
    def closed(self) -> int:
        """The end of the last interval that is over."""
        time = self.definition.time
        last = None if time is None else time.last(self.now)
        return FIRST if last is None else last.time_range[1]

    @cached_property
    def first(self) -> int | None:
        """The start of the first interval that there is, or of which anything is known where there is none.

        ``None`` if nothing is known.
        """
        time = self.definition.time
        if time is None:
            return None
        if (interval := time.first()) is not None:
            return interval.time_range[0]
        starts = [*self.runs.at_work, *self.runs.failed, *self.runs.skipped, *self.pending]
        firsts = [place.start for place in starts]
        return min([*firsts, *filter(None, [self.times.first()])], default=None)

    def everything(self) -> Selection:
        """All partitions that there are by now; of keys known only at runtime, those listed or told of."""
        definition = self.definition
        if definition.time is not None:
            return self.existing(Selection(definition, (Box(definition.time.overlapping(FIRST, LAST)),)))
        if all(isinstance(one, PartitionBySequence) for one in definition.dimensions.values()):
            return Selection(definition, (Box(None),))
        keys = {*self._statuses(None).get(0, {})}
        for dimension in definition.dimensions.values():
            if isinstance(dimension, PartitionAtRuntime):
                keys |= {(text,) for text in self.listed_keys(dimension)}
        return selection_of(definition, {0: keys})

    def stretches(self, selection: Selection) -> list[Stretch]:
        """The stretches of a *selection*, in order; what is not over yet is left out as long as nothing is there."""
        stretches: list[Stretch] = []
        time = self.definition.time
        for part, statuses in self.statuses(self.existing(selection)):
            time_range = part.boxes[0].time_range
            if time is None or time_range is None:
                stretches += self._without_time(part, statuses.get(0, {}))
            else:
                stretches += self._over_time(time, time_range, part, statuses)
        return list(self._with_waiting(stretches))

    def statuses(self, partitions: Selection) -> Iterator[tuple[Selection, Statuses]]:
        """The *partitions*, range of time by range of time, and the statuses of those of which anything is known."""
        for time_range, part in by_time_range(partitions):
            yield part, self._statuses(time_range, part)

    def waiting(self, missing: Selection) -> Selection:
        """Those that wait of partitions of which nothing is known."""
        waiting = Selection(self.definition)
        for each in self._waiting if missing else ():
            waiting |= each.among(missing)
        return waiting

    def tells(self, upstream: str) -> bool:
        """Whether the upstream asset of that name may be told of."""
        if self._shows is None:
            return True
        if upstream not in self._told:
            dags = asset_dags(upstream).get(upstream)
            self._told[upstream] = dags is not None and self._shows(dags)
        return self._told[upstream]

    @cached_property
    def upstream_times(self) -> Mapping[str, LastTimes]:
        """The last times of its upstream assets, by their names."""
        return self._readings.upstream_times(self.asset)

    @cached_property
    def own_past(self) -> list[Upstream]:
        """The asset as an upstream of itself, by the Dags whose partitions need those before them."""
        timetables = (self.asset.timetables.get(dag_id) for dag_id in self.asset.dags.producers)
        pasts = (getattr(timetable, "own_past", None) for timetable in timetables)
        produced = ProducedPartitions(self.definition)
        return [Upstream(self.asset.name, "", produced, past) for past in pasts if past is not None]

    @cached_property
    def tasks(self) -> Mapping[str, Collection[str]]:
        """The ids of the tasks that make it, by the id of their Dag."""
        return self._readings.makers[self.asset.name].tasks

    @cached_property
    def runs(self) -> Runs:
        """Its runs, as far as they say something of states."""
        return self._readings.runs[self.asset.name]

    @cached_property
    def made_again(self) -> set[Place]:
        """Those of its partitions with a failed run that have a newer run which succeeded."""
        return self._readings.made_again[self.asset.name]

    @cached_property
    def pending(self) -> set[Place]:
        """The partitions that events have asked for, and that no run was made for yet."""
        return self._readings.pending(self.asset)

    def listed_keys(self, definition: PartitionAtRuntime) -> Mapping[str, Addition]:
        """The keys that were added to one of its definitions."""
        return self._readings.listed_keys(definition)

    def _open_ends(self) -> Iterator[int]:
        """Ends of intervals that are not over, and of which something is known."""
        time = self.definition.time
        if time is None:
            return
        runs = self.runs
        places = (*runs.at_work, *runs.failed, *runs.skipped, *self.pending)
        for start in {*self.times.between((self.closed, LAST)), *(place.start for place in places)}:
            if start >= self.closed:
                yield time.calendar.after(start) or LAST

    def existing(self, selection: Selection) -> Selection:
        """A *selection* cut to what exists by now.

        A calendar without a start begins where anything is known, unless the selection says where.
        """
        if self.definition.time is None:
            return selection
        low, high = FIRST, max([self.closed, *self._open_ends()])
        if any(box.time_range is not None and box.time_range[0] < _BEGINNING for box in selection.boxes):
            low = high if self.first is None else self.first
        return selection & Selection(self.definition, (Box((low, high)),) if low < high else ())

    def _statuses(self, time_range: TimeRange | None, among: Selection | None = None) -> Statuses:
        """The statuses of the partitions of a range of time of which anything is known."""
        times = self.times.between(time_range)
        statuses = self._materialized(times)
        for place in self._stale(times):
            statuses[place.start][place.segments] = Status(
                State.STALE, statuses[place.start][place.segments].provisional
            )
        low, high = time_range or (0, 1)
        runs = self.runs
        for place in runs.skipped:
            if low <= place.start < high:
                statuses.setdefault(place.start, {}).setdefault(place.segments, Status(State.SKIPPED))
        for place in self.pending:
            if low <= place.start < high:
                statuses.setdefault(place.start, {}).setdefault(place.segments, WAITING)
        for place in self._failed(times, (low, high)):
            statuses.setdefault(place.start, {})[place.segments] = Status(State.FAILED)
        for place, state in runs.at_work.items():
            if low <= place.start < high:
                statuses.setdefault(place.start, {})[place.segments] = Status(state)
        return statuses if among is None else those_of(among, statuses)

    def failed_runs(self) -> dict[Place, LastRun]:
        """The last failed run of each partition that is failed."""
        failed = self.runs.failed.keys() - self.runs.at_work.keys()
        if not failed:
            return {}
        starts = [place.start for place in failed]
        span = min(starts), max(starts) + 1
        times = self.times.between(None if self.definition.time is None else span)
        return {place: run for place, run in self._failed(times, span).items() if place in failed}

    def stale_since(self, since: int) -> Selection:
        """The partitions that are stale since something upstream was materialized after an instant."""
        times = self.times.between(None if self.definition.time is None else (FIRST, LAST))
        stale = {*self._stale(times, since)} - self.runs.at_work.keys() - self.failed_runs().keys()
        by_start: dict[int, list[tuple[str, ...]]] = {}
        for place in stale:
            by_start.setdefault(place.start, []).append(place.segments)
        return selection_of(self.definition, by_start)

    def _failed(self, times: TimesByStart, span: TimeRange) -> dict[Place, LastRun]:
        """The last failed run of each partition that nothing has materialized since; *times* are those of the span."""
        failed = {
            place: run
            for place, run in self.runs.failed.items()
            if span[0] <= place.start < span[1]
            and times.get(place.start, {}).get(place.segments, run.began - 1) < run.began
        }
        later = self.made_again if failed else set()
        return {place: run for place, run in failed.items() if place not in later}

    def _materialized(self, times: TimesByStart) -> Statuses:
        time = self.definition.time
        if time is None:
            return {0: dict.fromkeys(times.get(0, {}), _MATERIALIZED)}
        after, statuses, starts = time.calendar.after, Statuses(), sorted(times)
        for start, following in zip_longest(starts, starts[1:], fillvalue=LAST):
            some = times[start]
            if min(some.values()) >= following:  # so it was over
                statuses[start] = dict.fromkeys(some, _MATERIALIZED)
            else:
                end = after(start) or LAST
                statuses[start] = {s: _PROVISIONAL if at < end else _MATERIALIZED for s, at in some.items()}
        return statuses

    def _stale(self, times: TimesByStart, since: int = 0) -> Iterator[Place]:
        for upstreams in self.asset.upstreams.values():
            for name in upstreams.leaves:
                member = upstreams.member(name)
                yield from stale_places(times, self.times.places, member, self.upstream_times[name], since)
        for past in self.own_past:
            yield from stale_places(times, self.times.places, past, self.times, since)

    def _over_time(
        self, time: PartitionByInterval, time_range: TimeRange, part: Selection, statuses: Statuses
    ) -> Iterator[Stretch]:
        """The stretches of a *part* that is one range of time."""
        shapes = [box.segments for box in part.boxes]
        position, high = time_range
        missing: dict[frozenset[tuple[str, ...]], tuple[Box, ...]] = {}
        for start, end, some in slabs(time, statuses):
            yield from self._gap(part, position, start)
            for status, segments in _by_status(some):
                for shape in rectangles(self.definition, segments):
                    yield self._stretch(Box((start, end), shape), status)
            if start < self.closed:
                key = frozenset(some)
                if key not in missing:
                    one = start, time.calendar.after(start) or LAST
                    unmarked = Selection(self.definition, tuple(Box(one, shape) for shape in shapes))
                    unmarked -= selection_of(self.definition, {start: some})
                    missing[key] = unmarked.boxes
                over = start, min(end, self.closed)
                yield from (self._stretch(Box(over, box.segments), MISSING) for box in missing[key])
            position = end
        yield from self._gap(part, position, high)

    def _gap(self, part: Selection, low: int, high: int) -> Iterator[Stretch]:
        """What is missing between two instants."""
        high = min(high, self.closed)
        if low < high:
            for box in part.boxes:
                yield self._stretch(Box((low, high), box.segments), MISSING)

    def _without_time(self, part: Selection, statuses: dict[tuple[str, ...], Status]) -> Iterator[Stretch]:
        if len(self.definition.dimensions) > 1:
            for status, segments in _by_status(statuses):
                for shape in rectangles(self.definition, segments):
                    yield self._stretch(Box(None, shape), status)
            missing = part - selection_of(self.definition, {0: statuses})
            yield from (self._stretch(box, MISSING) for box in missing.boxes)
            return
        for status, keys in groupby(part, key=lambda key: statuses.get((str(key),), MISSING)):
            box = Box(None, {self.definition.name: tuple(keys)})  # type: ignore[arg-type]
            yield self._stretch(box, status)

    def _with_waiting(self, stretches: list[Stretch]) -> Iterator[Stretch]:
        """*stretches* with those that wait told from those that are missing."""
        boxes = [stretch.box for stretch in stretches if stretch.status == MISSING]
        waiting = self.waiting(Selection(self.definition, tuple(boxes)))
        near = _near(waiting)
        for stretch in stretches:
            if stretch.status != MISSING or not waiting or not (here := stretch.selection & near(stretch.box)):
                yield self._with_upstream(stretch)
                continue
            parts = [(box, WAITING) for box in self._by_lacks(here)]
            parts += [(box, MISSING) for box in (stretch.selection - here).boxes]
            for box, status in sorted(parts, key=lambda part: part[0].time_range or (0, 0)):
                yield self._with_upstream(self._stretch(box, status))

    def _by_lacks(self, waiting: Selection) -> Iterable[Box]:
        """The boxes of partitions that wait: of few one for each, if they do not lack the same."""
        if not 1 < len(waiting) <= _FEW:
            return waiting.boxes
        each = [Selection.of(self.definition, key) for key in waiting]
        lacks = [[count.lacking for one in self._waiting for count in one.counts(key)] for key in each]
        return waiting.boxes if all(some == lacks[0] for some in lacks) else (key.boxes[0] for key in each)

    def _with_upstream(self, stretch: Stretch) -> Stretch:
        if stretch.status != WAITING:
            return stretch
        counts = [count for each in self._waiting for count in each.counts(stretch.selection)]
        return attrs.evolve(stretch, upstream=tuple(count for count in counts if self.tells(count.asset)))

    def _stretch(self, box: Box, status: Status) -> Stretch:
        return Stretch(self.definition, box, len(Selection(self.definition, (box,))), status)


def _near(selection: Selection) -> Callable[[Box], Selection]:
    """What tells the part of a *selection* that may share something with a box, by the range of time alone."""
    boxes = selection.canonical
    ranges = [box.time_range for box in boxes if box.time_range is not None]
    starts, ends = [low for low, _ in ranges], [high for _, high in ranges]  # both in order: ranges share nothing

    def near(box: Box) -> Selection:
        if box.time_range is None:
            return selection
        low, high = box.time_range
        return Selection(selection.definition, boxes[bisect_right(ends, low) : bisect_left(starts, high)])

    return near


def _by_status(statuses: Mapping[tuple[str, ...], Status]) -> Iterator[tuple[Status, list[tuple[str, ...]]]]:
    by_status: dict[Status, list[tuple[str, ...]]] = {}
    for segments, status in statuses.items():
        by_status.setdefault(status, []).append(segments)
    yield from by_status.items()
