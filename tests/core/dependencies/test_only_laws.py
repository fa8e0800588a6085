"""Selections and dependencies of products with only some combinations: against filters of those of full ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import chain

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import (
    AllPartitions,
    Dependency,
    LatestPartition,
    Lookback,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Rule,
    SameKey,
    Selection,
)
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import KeyFormat, parse_selection, selection_text
from airflow_partitions.core.dependencies.selection_words import selection_words
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from tests.core.dependencies.test_dependency_laws import pairs
from tests.core.dependencies.test_selection_laws import boxes
from tests.strategies import sparse, sparse_products

DAYS = PartitionByInterval("@daily", timezone="UTC", start="2013-01-01", name="day")
CUSTOMERS = PartitionBySequence(["ann", "bob", "cid"], name="customer")
REGIONS = PartitionBySequence(["eu", "us"], name="region")
SINCE = PartitionByProduct(
    [CUSTOMERS, DAYS], only={"ann": "..", "bob": "2013-01-03..", "cid": "2013-01-02..2013-01-04"}
)


def full_of(definition: PartitionDefinition) -> PartitionDefinition:
    """The product with every combination."""
    return PartitionByProduct([*definition.dimensions.values()]) if definition.only is not None else definition


@given(sparse_products(), st.data())
def test_selections_are_those_of_the_full_product_filtered(definition: PartitionByProduct, data: st.DataObject) -> None:
    full = full_of(definition)
    keys = list(full.keys())
    assume(len(keys) <= 1_500)
    there = set(definition.keys())
    chosen = [tuple(data.draw(st.lists(boxes(full, keys), max_size=3))) for _ in range(2)]
    wide = [Selection(full, some) for some in chosen]
    one, other = (Selection(definition, some) for some in chosen)
    for result, expected in (
        (one, wide[0]),
        (one | other, wide[0] | wide[1]),
        (one & other, wide[0] & wide[1]),
        (one - other, wide[0] - wide[1]),
        (Selection.all(definition) - one, Selection.all(full) - wide[0]),
    ):
        left = [key for key in expected if key in there]
        assert list(result) == left
        assert len(result) == len(left)
        assert bool(result) == bool(left)
        assert all((key in result) == (key in left) for key in keys[:50])
        assert list(chain.from_iterable(result.chunks(3))) == left
        assert result == Selection.of(definition, *left)
        assert Selection.from_json(json.loads(json.dumps(result.to_json()))) == result
        text = selection_text(result)
        assert (parse_selection(definition, text) if text else Selection(definition)) == result
        assert bool(selection_words(result)) == bool(left)


@given(pairs(), st.data())
def test_overlap_is_that_of_the_full_products_filtered(
    pair: tuple[PartitionDefinition, PartitionDefinition], data: st.DataObject
) -> None:
    full = [*pair]
    assume(all(side.count() for side in full))
    down, up = (data.draw(sparse(side)) if isinstance(side, PartitionByProduct) else side for side in full)
    rule: Rule | None = data.draw(
        st.sampled_from([None, None, Lookback(2), AllPartitions(), LatestPartition(), SameKey()])
    )
    try:
        wide = Dependency(*full, rule)
    except InvalidDefinitionError:
        assume(condition=False)
    assume(not wide.needs_tick)
    now = datetime(2100, 1, 1, tzinfo=UTC)
    dependency = Dependency(down, up, rule)
    downs, ups = list(down.keys()), list(up.keys())
    some: list[Key] = data.draw(st.lists(st.sampled_from(downs), min_size=1, max_size=5))
    for key in some:
        assert list(dependency.upstream(key, now=now)) == [k for k in wide.upstream(key, now=now) if up.contains(k)]
    assert set(dependency.upstream(Selection.of(down, *some), now=now)) == {
        k for key in some for k in wide.upstream(key, now=now) if up.contains(k)
    }
    some = data.draw(st.lists(st.sampled_from(ups), min_size=1, max_size=5))
    for key in some:
        found = list(dependency.downstream(key, now=now))
        assert found == [k for k in wide.downstream(key, now=now) if down.contains(k)]
        most = dependency.fan_out()
        assert rule is not None or most is None or most >= len(found)


def test_a_day_needs_the_combinations_that_exist() -> None:
    dependency = Dependency(downstream=DAYS, upstream=SINCE)
    assert [str(key) for key in dependency.upstream("2013-01-01")] == ["ann|2013-01-01"]
    assert len(dependency.upstream("2013-01-03")) == 3
    assert [str(key) for key in dependency.upstream("2013-01-04")] == ["ann|2013-01-04", "bob|2013-01-04"]
    assert [str(key) for key in dependency.downstream("bob|2013-01-03")] == ["2013-01-03"]


def test_one_to_one_and_a_dimension_of_the_consumer_alone() -> None:
    assert [str(k) for k in Dependency(downstream=SINCE, upstream=SINCE).upstream("bob|2013-01-03")] == [
        "bob|2013-01-03"
    ]
    assert Dependency(downstream=SINCE, upstream=SINCE).fan_out() == 1
    regional = PartitionByProduct(
        [CUSTOMERS, DAYS, REGIONS], only=["ann|..|eu", "ann|2013-01-03..|us", "bob|2013-01-03..|us"]
    )
    dependency = Dependency(downstream=regional, upstream=SINCE)
    assert [str(key) for key in dependency.downstream("ann|2013-01-01")] == ["ann|2013-01-01|eu"]
    assert [str(key) for key in dependency.downstream("ann|2013-01-03")] == ["ann|2013-01-03|eu", "ann|2013-01-03|us"]
    assert list(dependency.downstream("cid|2013-01-03")) == []
    assert dependency.fan_out() == 2
    assert Dependency(downstream=SINCE, upstream=DAYS).fan_out() == 3


def test_texts_of_selections_stay_short() -> None:
    def text(what: str) -> str:
        return selection_text(parse_selection(SINCE, what))

    assert text("all") == selection_text(Selection.all(full_of(SINCE))) == "2013-01-01.."
    without_time = PartitionByProduct([CUSTOMERS, REGIONS], only={"ann": ["eu"], "bob": ["us"]})
    assert selection_text(Selection.all(without_time)) == "all"
    assert text("2013-01-02..2013-01-06") == "2013-01-02..2013-01-06"
    assert text("customer = bob") == "2013-01-03.. & customer in bob"
    assert text("2013-01-01..2013-01-05 & customer in ann,cid") == "2013-01-01..2013-01-05 & customer in ann,cid"
    assert text("ann|2013-01-01") == "ann|2013-01-01"
    assert text("2013-01-01") == "ann|2013-01-01"
    form = Selection.all(SINCE).to_json()
    assert form["boxes"] == [{"time_range": form["boxes"][0]["time_range"], "segments": {}}]


def test_a_selection_of_another_only_is_of_another_definition() -> None:
    full = PartitionByProduct([CUSTOMERS, DAYS])
    with pytest.raises(InvalidDefinitionError, match="no keys in common"):
        Selection.all(SINCE) & Selection.all(full)
    assert Selection.all(SINCE) != Selection.all(full)


def test_a_text_of_another_producer_means_what_exists() -> None:
    hours = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", name="hour")
    later = PartitionByProduct([hours, CUSTOMERS], only={"2013-11-03T01:00-05:00..": ["ann"]})
    assert [str(key) for key in KeyFormat(later).keys("2013-11-03T01:00:00|ann")] == ["2013-11-03T01:00-05:00|ann"]
