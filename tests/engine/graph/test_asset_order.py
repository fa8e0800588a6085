"""The order of assets: each after what it is made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions.engine.graph.asset_order import upstream_first

NAMES = [f"asset_{number}" for number in range(8)]
graphs = st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES)))


@given(graphs)
def test_each_is_there_once_and_what_it_is_made_of_before_it(graph: dict[str, set[str]]) -> None:
    without_circles = {name: {one for one in some if one < name} for name, some in graph.items()}
    order = upstream_first(without_circles)
    assert sorted(order) == sorted(without_circles)
    for name, some in without_circles.items():
        assert all(order.index(one) < order.index(name) for one in some if one in without_circles)


@given(graphs)
def test_circles_keep_none_away(graph: dict[str, set[str]]) -> None:
    assert sorted(upstream_first(graph)) == sorted(graph)


def test_what_is_connected_is_together_and_close_below() -> None:
    graph: dict[str, list[str]] = {"a": [], "b": [], "c": ["a"], "d": ["c"], "e": ["a"], "f": ["b", "z"], "z": []}
    assert upstream_first(graph) == ["a", "c", "d", "e", "b", "z", "f"]
    assert upstream_first({"a": ["b"], "b": ["a"], "c": []}) == ["a", "b", "c"]
