"""What belongs together, against the overlap of every pair of keys; selections, against plain lists of keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import (
    Dependency,
    Interval,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.selection import Box
from airflow_partitions.core.errors import InvalidDefinitionError
from tests.strategies import moments, products, sequences, texts, time_definitions

few_texts = st.sampled_from(["EWR", "JFK", "LGA", "a|b"])
EVER = datetime(1900, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[PartitionDefinition, PartitionDefinition]:
    """Two definitions about the same time, in any zones, whose dimensions have some names and values in common."""
    around = draw(moments("America/New_York"))
    return tuple(draw(_definitions(around, draw(st.sampled_from(["time", "hour"])))) for _ in range(2))  # type: ignore[return-value]


@st.composite
def _definitions(draw: st.DrawFn, around: datetime, name: str) -> PartitionDefinition:
    time = draw(time_definitions(name, around))
    regions = sequences("region", of=few_texts)
    shape = draw(st.sampled_from(["time", "time", "region", "product", "product", "three"]))
    if shape == "time":
        return time
    if shape == "region":
        return draw(regions)
    sizes = [draw(sequences("size", of=st.integers(1, 3)))] if shape == "three" else []
    return PartitionByProduct(draw(st.permutations([time, draw(regions), *sizes])))


def belong(one: Any, other: Any) -> bool:
    """The rule of the design: times overlap, segments of one dimension are the same, the rest is open."""
    mine, theirs = ({d if isinstance(p, str) else "time": p for d, p in _parts(key)} for key in (one, other))
    for dimension in mine.keys() & theirs.keys():
        a, b = mine[dimension], theirs[dimension]
        if isinstance(a, Interval):
            if not (a.time_range[0] < b.time_range[1] and b.time_range[0] < a.time_range[1]):
                return False
        elif a != b:
            return False
    return True


def _parts(key: Any) -> list[tuple[str, Any]]:
    if isinstance(key, Interval):
        return [("time", key)]
    if hasattr(key, "items"):
        return [(name, part if isinstance(part, Interval) else str(part)) for name, part in key.items()]
    return [("region", str(key))]


@given(pairs(), st.data())
def test_a11_to_a14_overlap_both_ways(
    pair: tuple[PartitionDefinition, PartitionDefinition], data: st.DataObject
) -> None:
    downstream, upstream = pair
    try:
        dependency = Dependency(downstream=downstream, upstream=upstream)
    except InvalidDefinitionError:
        assume(condition=False)
    down, up = list(downstream.keys()), list(upstream.keys())
    assume(down and up)
    some = lambda keys: data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=6))  # noqa: E731
    some_down, some_up = some(down), some(up)
    for one in some_down:
        expected = [other for other in up if belong(one, other)]
        selection = dependency.upstream(one)
        assert list(selection) == expected
        assert len(selection) == len(expected)
        assert bool(selection) == bool(expected)
    for other in some_up:
        assert list(dependency.downstream(str(other), tick=EVER)) == [one for one in down if belong(one, other)]
        for one in some_down:
            needed = one in dependency.downstream(other, tick=EVER)
            assert (other in dependency.upstream(one)) == needed == belong(one, other)


@given(time_definitions(), st.data())
def test_a11_the_same_definition_is_one_to_one(definition: PartitionByInterval, data: st.DataObject) -> None:
    assume(definition.count())
    key = data.draw(st.sampled_from(list(definition.keys())))
    assert list(Dependency(definition, definition).upstream(key)) == [key]
    assert list(Dependency(definition, definition).downstream(key)) == [key]


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    """A selection of at most two boxes that share nothing."""
    definition = draw(products() | time_definitions() | sequences(of=texts))
    keys = list(islice(definition.keys(), 2_000))
    if not keys or not draw(st.integers(0, 9)):
        return Selection(definition)
    if draw(st.booleans()):
        return Selection.of(definition, draw(st.sampled_from(keys)))
    boxes: list[Box] = []
    for _ in range(draw(st.integers(1, 2))):
        one, other = (definition.interval_of(draw(st.sampled_from(keys))) for _ in range(2))
        time_range = (
            None if one is None or other is None else (min(one, other).time_range[0], max(one, other).time_range[1])
        )
        segments = {
            name: tuple(
                sorted(draw(st.sets(st.sampled_from(dimension.segments), min_size=1)), key=dimension.segments.index)
            )
            for name, dimension in definition.dimensions.items()
            if isinstance(dimension, PartitionBySequence) and draw(st.booleans())
        }
        if time_range is None and not isinstance(definition, PartitionByProduct) and not segments:
            segments = {}
        boxes.append(Box(time_range, segments))
    if len(boxes) == 2 and set(Selection(definition, boxes[:1])) & set(Selection(definition, boxes[1:])):  # type: ignore[arg-type]
        boxes.pop()
    return Selection(definition, tuple(boxes))


@given(selections())
def test_a_selection_agrees_with_the_set_of_its_keys(selection: Selection) -> None:
    keys = list(selection)
    key_set = set(keys)
    assert len(selection) == len(keys) == len(key_set)
    assert bool(selection) == bool(keys)
    for key in islice(selection.definition.keys(), 300):
        assert (key in selection) == (key in key_set)
        assert (str(key) in selection) == (key in key_set)
    if selection.definition.time is not None:
        assert set(selection.intervals()) == {selection.definition.interval_of(key) for key in keys}
    assert "no such key" not in selection


@given(selections())
def test_a_selection_comes_back_from_json(selection: Selection) -> None:
    back = Selection.from_json(json.loads(json.dumps(selection.to_json())))
    assert back == selection
    assert [str(key) for key in back] == [str(key) for key in selection]


@given(time_definitions(), st.integers(-500, 500), st.integers(0, 5_000))
def test_a_selection_between_instants_is_what_overlaps(
    definition: PartitionByInterval, late: int, minutes: int
) -> None:
    assume(definition.start is not None)
    start = definition.start.astimezone(UTC) + timedelta(minutes=late)
    end = start + timedelta(minutes=minutes)
    bounds = (start - datetime(1970, 1, 1, tzinfo=UTC), end - datetime(1970, 1, 1, tzinfo=UTC))
    low, high = (moment // timedelta(microseconds=1) for moment in bounds)
    expected = [
        key for key in list(definition.keys()) if key.time_range[0] < high and low < key.time_range[1] and low < high
    ]
    assert list(Selection.between(definition, start, end)) == expected


@pytest.mark.parametrize(
    ("downstream", "upstream", "key", "expected"),
    [
        ("30 * * * *", "@hourly", "2013-01-01T05:30Z", ["2013-01-01T05:00Z", "2013-01-01T06:00Z"]),  # A12
        ("@monthly", "@yearly", "2013-04-01", ["2013-01-01"]),  # A14
    ],
)
def test_a12_a14_examples(downstream: str, upstream: str, key: str, expected: list[str]) -> None:
    dependency = Dependency(PartitionByInterval(downstream), PartitionByInterval(upstream))
    assert [str(upstream_key) for upstream_key in dependency.upstream(key)] == expected


@pytest.mark.parametrize(("day", "hours"), [("2013-03-10", 23), ("2013-07-01", 24), ("2013-11-03", 25)])
def test_a13_a_day_needs_all_its_hours(day: str, hours: int) -> None:
    daily, hourly = (PartitionByInterval(preset, timezone="America/New_York") for preset in ("@daily", "@hourly"))
    dependency = Dependency(downstream=daily, upstream=hourly)
    selection = dependency.upstream(day)
    assert len(selection) == len({str(hour) for hour in selection}) == hours
    assert all(list(dependency.downstream(hour)) == [daily.parse(day)] for hour in selection)


def test_a14_a_year_starts_twelve_months() -> None:
    dependency = Dependency(downstream=PartitionByInterval("@monthly"), upstream=PartitionByInterval("@yearly"))
    assert [str(month) for month in dependency.downstream("2013-01-01")] == [f"2013-{n:02}-01" for n in range(1, 13)]


def test_a6_a_day_starts_48_runs_of_hour_and_segment() -> None:
    hourly, sides = PartitionByInterval("@hourly", name="hour"), PartitionBySequence(["in", "out"], name="side")
    dependency = Dependency(PartitionByProduct([hourly, sides]), PartitionByInterval("@daily", name="day"))
    assert len(dependency.downstream("2013-01-01")) == 48
