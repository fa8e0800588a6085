"""Selections against plain Python sets of their keys."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from tests.strategies import products, sequences, sparse_products, texts, time_definitions

MOST = 1_500


@st.composite
def universes(draw: st.DrawFn) -> tuple[PartitionDefinition, list[Key]]:
    """A definition and all of its keys."""
    definition = draw(products() | sparse_products() | time_definitions() | sequences(of=texts))
    keys = list(islice(definition.keys(), MOST + 1))
    assume(0 < len(keys) <= MOST)
    return definition, keys


def some(definition: PartitionDefinition, keys: list[Key]) -> st.SearchStrategy[Selection]:
    """Selections of single keys, or of boxes that may share keys."""
    few = st.lists(st.sampled_from(keys), max_size=12)
    return few.map(lambda chosen: Selection.of(definition, *chosen)) | st.lists(
        boxes(definition, keys), max_size=4
    ).map(lambda parts: Selection(definition, tuple(parts)))


@st.composite
def boxes(draw: st.DrawFn, definition: PartitionDefinition, keys: list[Key]) -> Box:
    time_range = None
    if definition.time is not None:
        ends = [definition.interval_of(draw(st.sampled_from(keys))) for _ in range(2)]
        low, high = min(ends), max(ends)  # type: ignore[type-var]
        inside = draw(st.integers(0, high.time_range[1] - high.time_range[0] - 1)) if draw(st.booleans()) else 0
        time_range = low.time_range[0], high.time_range[1] - inside  # the end need not be a boundary
    segments = {
        name: tuple(segment for segment in dimension.segments if draw(st.booleans()))
        for name, dimension in definition.dimensions.items()
        if isinstance(dimension, PartitionBySequence) and draw(st.booleans())
    }
    return Box(time_range, segments)


def keys_of(selection: Selection, keys: list[Key]) -> set[Key]:
    """The keys of its boxes, one by one, without the selection's own doing."""
    parts = {key: selection.definition.dimensions_of(key) for key in keys}
    return {key for key in keys if any(box.holds(parts[key]) for box in selection.boxes)}


@given(universes(), st.data())
def test_algebra_agrees_with_sets(universe: tuple[PartitionDefinition, list[Key]], data: st.DataObject) -> None:
    definition, keys = universe
    one, other = data.draw(some(definition, keys)), data.draw(some(definition, keys))
    mine, theirs = keys_of(one, keys), keys_of(other, keys)
    for result, expected in ((one | other, mine | theirs), (one & other, mine & theirs), (one - other, mine - theirs)):
        assert list(result) == [key for key in keys if key in expected]
        assert len(result) == len(expected)
        assert bool(result) == bool(expected)
        assert all((key in result) == (key in expected) for key in keys)
        assert result == Selection.of(definition, *expected)
        assert Selection.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert (one == other) == (mine == theirs)
    assert (one - other) | (one & other) == one


@given(st.data())
def test_ek4_algebra_of_four_dimensions_of_segments_agrees_with_sets(data: st.DataObject) -> None:
    dimensions = [PartitionBySequence(range(1, data.draw(st.integers(2, 4)) + 1), name=f"s{i}") for i in range(4)]
    time = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-04")
    definition = PartitionByProduct([*dimensions[:2], time, *dimensions[2:]])
    keys = list(definition.keys())
    one, other = (Selection(definition, tuple(data.draw(st.lists(boxes(definition, keys), max_size=5)))) for _ in "ab")
    mine, theirs = keys_of(one, keys), keys_of(other, keys)
    for result, expected in ((one | other, mine | theirs), (one & other, mine & theirs), (one - other, mine - theirs)):
        assert list(result) == [key for key in keys if key in expected]
        assert len(result) == len(expected)
        assert result == Selection.of(definition, *expected)
        assert result.to_json() == Selection.of(definition, *expected).to_json()
    assert (one == other) == (mine == theirs)
    assert (one | other) - other == one - other


@given(universes(), st.data())
def test_boxes_share_no_key_and_are_in_order(
    universe: tuple[PartitionDefinition, list[Key]], data: st.DataObject
) -> None:
    definition, keys = universe
    drawn = data.draw(st.lists(boxes(definition, keys), max_size=5))
    selection = Selection(definition, tuple(drawn))
    expected = {key for key in keys for box in drawn if box.holds(definition.dimensions_of(key))}
    assert list(selection) == [key for key in keys if key in expected]
    assert sum(len(Selection(definition, (box,))) for box in selection.boxes) == len(expected)
    assert list(selection.intervals()) == list(
        dict.fromkeys(i for key in selection if (i := definition.interval_of(key)) is not None)
    )


@given(universes(), st.data(), st.integers(1, 60))
def test_chunks_are_the_whole_in_order(
    universe: tuple[PartitionDefinition, list[Key]], data: st.DataObject, n: int
) -> None:
    selection = data.draw(some(*universe))
    chunks = list(selection.chunks(n))
    assert [key for chunk in chunks for key in chunk] == list(selection)
    assert all(0 < len(chunk) <= n for chunk in chunks)
    definition = universe[0]
    each = 1 if definition.time is None else max(1, len(universe[1]) // max(1, definition.time.count()))
    if each == 1:
        assert len(chunks) == -(-len(selection) // n)  # no chunk is smaller than it has to be


@given(st.lists(st.integers(-3, 3) | texts, unique=True), st.lists(st.integers(-3, 3) | texts, unique=True))
def test_runtime_keys_have_the_same_algebra(one: list[int | str], other: list[int | str]) -> None:
    definition = PartitionAtRuntime("users")
    a, b = Selection.of(definition, *map(definition.key, one)), Selection.of(definition, *map(definition.key, other))
    for result, expected in ((a | b, {*one, *other}), (a & b, {*one} & {*other}), (a - b, {*one} - {*other})):
        assert {key.value for key in result} == expected  # type: ignore[union-attr]
        assert len(result) == len(expected)
        assert sum(map(len, result.chunks(2))) == len(expected)


@pytest.mark.parametrize("n", [0, -1, True, 1.0, None])
def test_chunks_need_a_size(n: int) -> None:
    with pytest.raises(InvalidDefinitionError, match="expected a number of keys, at least 1"):
        list(Selection.of(PartitionBySequence(["a"]), "a").chunks(n))
