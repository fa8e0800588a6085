"""Laws of sequences, products, runtime keys and key classes."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import islice, pairwise, product
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions import (
    Partition,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
)
from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.keys import PartitionKey, ProductKey, Segment, partition_key
from airflow_partitions.core.keys.product_key import split_parts
from airflow_partitions.core.keys.value import from_json as value_from_json
from airflow_partitions.core.keys.value import text_of, to_json
from tests.strategies import (
    Location,
    Position,
    Window,
    places,
    positions,
    products,
    sequences,
    texts,
    time_definitions,
    values,
    windows,
)

definitions = st.one_of(sequences(), products(), time_definitions())


@given(sequences())
def test_a5_a_sequence_keeps_its_values_in_order(definition: PartitionBySequence) -> None:
    keys = list(definition.keys())
    assert tuple(key.value for key in keys) == definition.values
    assert definition.count() == len(keys) == len({str(key) for key in keys})
    for key in keys:
        assert definition.parse(str(key)) == definition.key(key.value) == definition.key(key) == key
        assert definition.contains(key.value)
    assert definition.previous(keys[0]) is definition.next(keys[-1]) is None
    for one, other in pairwise(keys):
        assert definition.next(one) == other
        assert definition.previous(other) == one


@given(products())
def test_a6_a_product_is_the_cross_product(definition: PartitionByProduct) -> None:
    time = definition.time
    segments = [d.segments for d in definition.dimensions.values() if isinstance(d, PartitionBySequence)]
    expected = []
    for interval in time.keys() if time else [None]:
        for chosen in product(*segments):
            parts = list(chosen)
            if time:
                parts.insert(list(definition.dimensions).index(time.name), interval)  # type: ignore[arg-type]
            expected.append(tuple(parts))
    keys = list(definition.keys())
    assert [key.parts for key in keys] == expected
    assert definition.count() == len(expected) == len({str(key) for key in keys})
    if keys:
        assert (definition.first(), definition.last()) == (keys[0], keys[-1])
    for key in keys[:20]:
        assert definition.parse(str(key)) == key
        assert definition.key(dict(key)) == definition.key(key) == key
        assert list(definition.dimensions_of(key)) == list(definition.dimensions)
    assert len({hash(key) for key in keys[:20]}) == len(set(keys[:20]))


@given(products(), st.data())
def test_a6_next_and_previous_of_a_product_are_inverse(definition: PartitionByProduct, data: st.DataObject) -> None:
    keys = list(islice(definition.keys(), 500))
    if not keys:
        return
    key = data.draw(st.sampled_from(keys))
    after, before = definition.next(key), definition.previous(key)
    assert after is None or definition.previous(after) == key
    assert before is None or definition.next(before) == key
    if definition.time is None:
        assert list(keys) == sorted(keys, key=keys.index)
        assert after == (keys[keys.index(key) + 1] if key != keys[-1] else None)


@given(st.lists(texts | st.just("\\"), min_size=2, max_size=4))
def test_a6_parts_are_escaped(parts: list[str]) -> None:
    key = ProductKey(tuple("abcd"[: len(parts)]), tuple(Segment(part, part) for part in parts))
    assert split_parts(str(key)) == parts


@given(st.lists(texts, min_size=2, max_size=2), st.lists(texts, min_size=2, max_size=2))
def test_a6_different_parts_have_different_texts(one: list[str], other: list[str]) -> None:
    keys = [ProductKey(("a", "b"), tuple(Segment(part, part) for part in parts)) for parts in (one, other)]
    assert (str(keys[0]) == str(keys[1])) == (keys[0] == keys[1]) == (one == other)


@given(definitions)
def test_a_definition_comes_back_from_json(definition: PartitionDefinition) -> None:
    back = from_json(json.loads(json.dumps(definition.to_json())))
    assert back == definition
    assert hash(back) == hash(definition)
    assert back.to_json() == definition.to_json()
    for key, other in zip(islice(definition.keys(), 20), back.keys(), strict=False):
        assert key == other
        assert str(key) == str(other)
        assert back.parse(str(key)) == key
        assert back.contains(key)
        assert definition.contains(other)


@given(windows())
def test_an_open_calendar_comes_back_from_json(window: Window) -> None:
    definition = window.definition
    back = from_json(json.loads(json.dumps(definition.to_json())))
    assert back == definition
    assert isinstance(back, PartitionByInterval)
    assert back.key_at(window.start) == definition.key_at(window.start)


@given(definitions)
def test_definitions_and_keys_are_copied_and_pickled(definition: PartitionDefinition) -> None:
    keys = list(islice(definition.keys(), 5))
    both = definition, keys
    for back, same in (pickle.loads(pickle.dumps(both)), copy.deepcopy(both)):
        assert back == definition
        assert same == keys
        assert [str(key) for key in same] == [str(key) for key in keys]
        assert all(back.contains(key) for key in same)


@given(values)
def test_a5_values_come_back_from_json(value: Any) -> None:
    back = value_from_json(json.loads(json.dumps(to_json(value))))
    assert text_of(back) == text_of(value)
    assert Segment.of(back) == Segment.of(value)
    assert type(back).__name__ == type(value).__name__
    assert back == value


@given(values)
def test_a7_runtime_keys_are_found_by_their_text(value: Any) -> None:
    definition = PartitionAtRuntime("customers")
    key = definition.key(value)
    assert definition.parse(str(key)) == key
    assert definition.parse(str(key)).value == value
    assert definition.contains(value)
    if isinstance(value, str) and ":" not in value:
        assert str(key) == value


@given(values, values)
def test_a7_runtime_keys_of_different_values_differ(one: Any, other: Any) -> None:
    definition = PartitionAtRuntime("customers")
    same = type(one) is type(other) and repr(one) == repr(other)
    assert same == (str(definition.key(one)) == str(definition.key(other)))


@given(positions, positions)
def test_a8_keys_are_ordered_by_their_fields(one: Position, other: Position) -> None:
    assert (one < other) == ((one.x, one.y) < (other.x, other.y)) == (other > one)
    assert (one <= other) == ((one.x, one.y) <= (other.x, other.y)) == (other >= one)
    assert (one == other) == ((one.x, one.y) == (other.x, other.y))
    assert one != other or hash(one) == hash(other)


@given(places)
def test_a8_keys_are_copied_and_pickled(place: Location) -> None:
    for back in (pickle.loads(pickle.dumps(place)), copy.copy(place), copy.deepcopy(place)):
        assert back == place
        assert hash(back) == hash(place)
        assert type(back) is Location


@given(places)
def test_er7_a_key_comes_back_from_json_as_one_of_its_class(place: Location) -> None:
    back = value_from_json(json.loads(json.dumps(to_json(place))))
    assert type(back) is Location
    assert back == place


@given(places)
def test_a8_a_key_without_its_class_is_the_same_key(place: Location) -> None:
    with patch.object(partition_key, "_AUTHORS_CLASSES", {}):  # as in the scheduler
        back = value_from_json(json.loads(json.dumps(to_json(place))))
    assert isinstance(back, PartitionKey)
    assert type(back) is not Location
    assert back == place
    assert hash(back) == hash(place)
    assert text_of(back) == text_of(place)
    assert str(place) == f"the place {place.name}"


@given(definitions, st.data())
def test_a10_a_partition_shows_its_key(definition: PartitionDefinition, data: st.DataObject) -> None:
    keys = list(islice(definition.keys(), 200))
    if not keys:
        return
    key = data.draw(st.sampled_from(keys))
    partition = Partition(definition, str(key))
    assert partition == Partition(definition, key)
    assert str(partition) == partition.text == str(key)
    assert list(partition.dimensions) == list(definition.dimensions)
    assert (partition.start is None) == (definition.time is None)
    past = list(islice(partition.iter_past_partitions(), 3))
    assert past[:1] == ([partition.previous] if partition.previous else [])
    shown = [definition.parse(each.text) for each in (partition, *past)]
    assert all(definition.next(before) == after for after, before in pairwise(shown))
