"""Dags that wait for each other."""

from __future__ import annotations

import textwrap
from pathlib import Path

import attrs

from airflow_partitions.engine.graph.cycles import DagNode, cycles


def cycles_among(**schedules: tuple[str, ...]) -> list[str]:
    """The circles among Dags that each write the asset of their name and wait for others."""
    nodes = {name: DagNode(name, frozenset(reads), frozenset({name})) for name, reads in schedules.items()}
    return [str(cycle) for cycle in cycles(nodes)]


def nodes_of(folder: Path, source: str) -> dict[str, DagNode]:
    """The nodes of the Dags of a file."""
    from airflow.dag_processing.dagbag import DagBag

    (folder / "case.py").write_text(textwrap.dedent(source))
    bag = DagBag(str(folder))
    assert bag.import_errors == {}
    return {dag_id: DagNode.of(dag) for dag_id, dag in bag.dags.items()}


def test_a_circle_names_its_dags_and_assets_and_what_to_do() -> None:
    (message,) = cycles_among(a=("c", "x"), b=("a",), c=("b",), d=("c",), e=("d", "x"))
    ways = {
        "a": "a waits for asset 'c' of c, which waits for asset 'b' of b, which waits for asset 'a' of a",
        "b": "b waits for asset 'a' of a, which waits for asset 'c' of c, which waits for asset 'b' of b",
        "c": "c waits for asset 'b' of b, which waits for asset 'a' of a, which waits for asset 'c' of c",
    }
    assert message in {
        f"{first} waits for itself: {way}; take one of these assets out of the schedule, and read what was made before"
        " as an input instead"
        for first, way in ways.items()
    }


def test_each_circle_is_told_once() -> None:
    messages = cycles_among(a=("b",), b=("a",), x=("y", "a"), y=("x",), alone=("alone",))
    assert len(messages) == 3
    assert any(text.startswith("alone waits for itself: alone waits for asset 'alone' of alone;") for text in messages)


def test_dags_that_only_share_upstreams_are_no_circle() -> None:
    assert cycles_among(a=("x",), b=("a", "x"), c=("a", "b"), d=("c", "b", "a", "nobody")) == []


def test_what_a_dag_reads_of_its_own_past_is_no_circle(tmp_path: Path) -> None:
    nodes = nodes_of(
        tmp_path,
        """
        from airflow_partitions import Lookback, PartitionByInterval, asset, spark_asset
        from airflow_partitions.storage import Parquet

        DAYS = PartitionByInterval("@daily")
        DAYS_BEFORE = Parquet("/lake/rolling", partition=DAYS, partition_on={"time": "%Y-%m-%d"})

        @asset(schedule="@daily", partition=DAYS)
        def days(): ...

        @spark_asset(schedule=days, partition=DAYS, inputs={"rolling": DAYS_BEFORE}, rules={"rolling": Lookback(1)},
                     storage=Parquet("/lake/rolling", partition_on={"time": "%Y-%m-%d"}))
        def rolling(rolling):
            return rolling
        """,
    )
    assert nodes["rolling"].stored["rolling"].path == "/lake/rolling"
    node = DagNode("rolling", frozenset({"days"}), frozenset({"rolling"}))
    assert attrs.evolve(nodes["rolling"], frames={}) == node
    assert list(cycles(nodes)) == []


def test_dags_without_partitions_may_go_round(tmp_path: Path) -> None:
    nodes = nodes_of(
        tmp_path,
        """
        from airflow.sdk import Asset, asset

        @asset(schedule=Asset("back"))
        def there(): ...

        @asset(schedule=Asset("there"))
        def back(): ...
        """,
    )
    assert set(nodes) == {"there", "back"}
    assert list(cycles(nodes)) == []
