"""A rule answers the same in both directions, and as a walk over all pairs of keys says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import (
    AllPartitions,
    ByDimension,
    Dependency,
    Interval,
    LatestPartition,
    Lookback,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Previous,
    SameKey,
    SegmentMap,
    Selection,
    Window,
)
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import Rule, rule_from_json
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key, Segment
from tests.strategies import moments, sequences, time_definitions

MOST = 1_500
cities = st.sampled_from(["EWR", "JFK", "LGA", "a|b"])
upstream_cities = st.sampled_from(["EWR", "JFK", "ORD"])
lengths = st.timedeltas(timedelta(0), timedelta(days=2))
time_rules = st.one_of(
    st.builds(Lookback, st.integers(1, 4) | st.integers(33, 60)),
    st.builds(Lookback, st.integers(1, 4) | st.integers(33, 60), st.just("downstream")),
    st.builds(Previous, st.integers(1, 4) | st.integers(33, 60)),
    st.builds(Window, lengths, lengths),
    st.just(AllPartitions()),
    st.just(LatestPartition()),
)
maps = st.dictionaries(cities, st.lists(upstream_cities, min_size=1, max_size=3), min_size=1, max_size=3).map(
    SegmentMap
)
SHAPES = ("time", "time", "region", "product", "product", "three")


@st.composite
def definitions(
    draw: st.DrawFn, around: datetime, name: str, of: st.SearchStrategy[str], shapes: Sequence[str]
) -> PartitionDefinition:
    """Time, regions, or both and a size."""
    time = draw(time_definitions(name, around))
    regions = sequences("region", of=of)
    match draw(st.sampled_from(shapes)):
        case "time":
            return time
        case "region":
            return draw(regions)
        case "product":
            return PartitionByProduct(draw(st.permutations([time, draw(regions)])))
    return PartitionByProduct(
        draw(st.permutations([time, draw(regions), draw(sequences("size", of=st.integers(1, 3)))]))
    )


by_time = st.dictionaries(st.sampled_from(["time", "hour"]), time_rules, max_size=1)
by_region = st.dictionaries(st.just("region"), maps | st.just(AllPartitions()), max_size=1)
by_dimension = st.tuples(by_time, by_region).map(lambda both: ByDimension({**both[0], **both[1]}))
every_rule: st.SearchStrategy[Rule | None] = st.one_of(time_rules, maps, st.none(), st.just(SameKey()), by_dimension)


@st.composite
def dependencies(
    draw: st.DrawFn,
    down_shapes: Sequence[str] = SHAPES,
    up_shapes: Sequence[str] = SHAPES,
    rules: st.SearchStrategy[Rule | None] = every_rule,
) -> tuple[Dependency, list[Key], list[Key], datetime]:
    """A dependency with all keys of both sides, and a time about which they are."""
    around = draw(moments("America/New_York"))
    down = draw(definitions(around, "time", cities, down_shapes))
    up = draw(definitions(around, "hour", upstream_cities, up_shapes))
    rule = draw(rules)
    try:
        dependency = Dependency(down, up, rule)
    except InvalidDefinitionError:
        assume(condition=False)
    assume(down.count() <= MOST and up.count() <= MOST)
    downs, ups = list(down.keys()), list(up.keys())
    assume(downs and ups)
    return dependency, downs, ups, around + draw(st.integers(-4_000, 4_000)) * timedelta(minutes=1)


def rule_for(rule: Rule | None, names: set[str], kind: type) -> Rule | None:
    """The part of a rule that is about a dimension with one of the names."""
    if isinstance(rule, ByDimension):
        return next((part for name, part in rule.rules.items() if name in names), None)
    return rule if isinstance(rule, kind) else None


def intervals_of(definition: PartitionDefinition, keys: list[Key]) -> list[Interval]:
    """The intervals that *keys* have, in order, each once."""
    return sorted({part for key in keys if isinstance(part := _parts(definition, key).get("time"), Interval)})


def needs(dependency: Dependency, down: Key, up: Key, ups: list[Interval], now: datetime) -> bool:
    """Whether *down* needs *up*, from the words of the rules alone.

    :param ups: the intervals of all upstream keys.
    """
    rule, sides = dependency.rule, dependency.sides
    if isinstance(rule, SameKey):
        return str(down) == str(up)
    mine, theirs = _parts(sides.downstream, down), _parts(sides.upstream, up)
    if "time" in theirs:
        about_time = rule_for(rule, {"time", "hour"}, Lookback | Previous | Window | AllPartitions | LatestPartition)  # type: ignore[arg-type]
        if isinstance(about_time, Lookback) and "time" in mine:
            ups = [*ups, *_after_the_end(sides.upstream, ups[-1].end, mine["time"].end)]
        about = sides.downstream.time
        if isinstance(about_time, Previous) or (isinstance(about_time, Lookback) and about_time.of == "downstream"):
            if "time" in mine and about is not None and not _in_steps(about_time, mine["time"], theirs["time"], about):
                return False
        elif not _in_time(about_time, mine.get("time"), theirs["time"], ups, now):
            return False
    if "region" in mine and "region" in theirs:
        about = rule_for(rule, {"region"}, SegmentMap)
        if isinstance(rule, AllPartitions) and "time" not in theirs:
            about = rule
        if isinstance(about, SegmentMap):
            if theirs["region"].value not in about.values.get(mine["region"].value, ()):
                return False
        elif about is None and mine["region"] != theirs["region"]:
            return False
    return "size" not in mine or "size" not in theirs or _everything(rule, theirs) or mine["size"] == theirs["size"]


def _everything(rule: Rule | None, theirs: Mapping[str, Any]) -> bool:
    return isinstance(rule, AllPartitions) and "time" not in theirs


def _parts(definition: PartitionDefinition, key: Key) -> dict[str, Any]:
    parts = definition.dimensions_of(key)
    return {"time" if isinstance(part, Interval) else name: part for name, part in parts.items()}


def _after_the_end(definition: PartitionDefinition, start: datetime, end: datetime) -> list[Interval]:
    """The intervals from *start* to *end* that the calendar would have if the definition did not end."""
    time = definition.time
    if time is None or time.end is None:
        return []
    endless = PartitionByInterval(time.schedule, timezone=time.timezone, start=time.start, name=time.name)
    return list(endless.keys(start, end)) if start < end else []


def _in_time(rule: Rule | None, down: Interval | None, up: Interval, ups: list[Interval], now: datetime) -> bool:
    closed = [other for other in ups if other.end <= now]
    match rule:
        case AllPartitions():
            return up in closed
        case LatestPartition():
            return closed[-1:] == [up]
    if down is None:
        return True
    match rule:
        case Window(before, after):
            return up.end.astimezone(UTC) > down.start.astimezone(UTC) - before and (
                up.start.astimezone(UTC) < down.end.astimezone(UTC) + after
            )
        case Lookback(n, "upstream"):
            overlapping = [i for i, other in enumerate(ups) if other.overlaps(down)]
            # What holds the start of the downstream interval may lie before the first that exists.
            return bool(overlapping) and overlapping[0] - n <= ups.index(up) <= overlapping[-1]
    return up.overlaps(down)


def _in_steps(rule: Lookback | Previous, down: Interval, up: Interval, time: PartitionByInterval) -> bool:
    """Whether one of the intervals that a step back leads to, in a calendar without bounds, overlaps *up*."""
    anchor = time.start if isinstance(time.schedule, timedelta) else None
    unbounded = PartitionByInterval(time.schedule, timezone=time.timezone, name=time.name)
    intervals = [down] if isinstance(rule, Lookback) else []
    for _ in range(rule.n):
        if anchor is not None:
            down = Interval(down.start.astimezone(UTC) - time.schedule, down.start.astimezone(UTC))  # type: ignore[operator]
        else:
            before = unbounded.previous(down)
            assert before is not None
            down = before
        intervals.append(down)
    return any(interval.overlaps(up) for interval in intervals)


@given(dependencies(), st.data())
def test_a20_a_rule_is_its_own_inverse(
    scenario: tuple[Dependency, list[Key], list[Key], datetime], data: st.DataObject
) -> None:
    dependency, downs, ups, now = scenario
    down, up = data.draw(st.sampled_from(downs)), data.draw(st.sampled_from(ups))
    needed = dependency.upstream(down, now=now)
    if not isinstance(dependency.rule, Lookback) or needed:
        intervals = intervals_of(dependency.sides.upstream, ups)
        assert list(needed) == [other for other in ups if needs(dependency, down, other, intervals, now)]
    if dependency.needs_tick:
        return
    needing = dependency.downstream(up, now=now)
    assert (up in needed) == (down in needing)
    assert all(up in dependency.upstream(other, now=now) for other in list(needing)[:20])
    assert len(needing) == len(list(needing))


@given(dependencies(), st.data())
def test_a_selection_needs_what_its_keys_need(
    scenario: tuple[Dependency, list[Key], list[Key], datetime], data: st.DataObject
) -> None:
    dependency, downs, ups, now = scenario
    for keys, definition, ask in (
        (downs, dependency.sides.downstream, dependency.upstream),
        (ups, dependency.sides.upstream, dependency.downstream),
    ):
        if ask == dependency.downstream and dependency.needs_tick:
            return
        start, end = sorted(data.draw(st.integers(0, len(keys))) for _ in range(2))
        some = keys[start : min(end, start + 40)]
        together = ask(Selection.of(definition, *some), now=now)
        one_by_one = Selection(together.definition)
        for key in some:
            one_by_one |= ask(key, now=now)
        assert together == one_by_one


@given(dependencies(("time", "product", "three"), ("region",), st.none()), st.data())
def test_a_tick_says_which_intervals_a_key_without_time_means(
    scenario: tuple[Dependency, list[Key], list[Key], datetime], data: st.DataObject
) -> None:
    dependency, downs, ups, now = scenario
    assume(dependency.needs_tick)
    up = data.draw(st.sampled_from(ups))
    previous = now - data.draw(lengths)
    intervals = intervals_of(dependency.sides.upstream, ups)
    belonging = [down for down in downs if needs(dependency, down, up, intervals, now)]
    interval = dependency.sides.downstream.interval_of
    due = [down for down in belonging if previous < interval(down).end <= now]  # type: ignore[union-attr]
    assert list(dependency.downstream(up, tick=(previous, now), now=now)) == due
    closed = [interval(down) for down in downs if interval(down).end <= now]  # type: ignore[union-attr]
    newest = [down for down in belonging if closed and interval(down) == max(closed)]  # type: ignore[type-var]
    assert list(dependency.downstream(up, tick=(None, now), now=now)) == newest
    assert all(up in dependency.upstream(down, now=now) for down in due)


@given(dependencies())
def test_rules_come_back_from_json(scenario: tuple[Dependency, list[Key], list[Key], datetime]) -> None:
    rule = scenario[0].rule
    assert rule_from_json(rule.to_json()) == rule


@given(dependencies())
def test_the_fan_out_is_what_the_widest_key_has(scenario: tuple[Dependency, list[Key], list[Key], datetime]) -> None:
    dependency, _, ups, now = scenario
    if dependency.needs_tick:
        assert dependency.fan_out() is None
        return
    most = max(len(dependency.downstream(up, now=now)) for up in ups)
    fan_out = dependency.fan_out()
    assert fan_out is not None
    assert (
        fan_out == most if not dependency.rule.moving and not isinstance(dependency.rule, SameKey) else fan_out >= most
    )


@given(st.lists(cities, min_size=1, unique=True), st.lists(upstream_cities, min_size=1, unique=True), maps)
def test_a_map_of_segments_both_ways(down: list[str], up: list[str], rule: SegmentMap) -> None:
    sides = PartitionBySequence(down, name="city"), PartitionBySequence(up, name="origin")
    try:
        dependency = Dependency(*sides, rule)
    except InvalidDefinitionError:
        assert not {*rule.values} <= {*down} or not {v for needed in rule.values.values() for v in needed} <= {*up}
        return
    for one in down:
        assert {str(key) for key in dependency.upstream(one)} == {*rule.values.get(one, ())}
    for other in up:
        assert [str(key) for key in dependency.downstream(other)] == [
            d for d in down if other in rule.values.get(d, ())
        ]
    assert all(isinstance(key, Segment) for key in dependency.upstream(down[0]))
