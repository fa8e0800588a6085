"""Assets with products whose combinations are added at runtime: from the list to states, requests and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from sqlalchemy import select, update

from airflow_partitions.core.dependencies import Selection, parse_selection, selection_text
from airflow_partitions.core.errors import InvalidKeyError, OverlapError, SelectionError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.graph.serialized_dags import SerializedDagReader
from airflow_partitions.engine.ledger.orphans import orphans
from airflow_partitions.engine.timetables.evaluation import _history, refresh_history
from airflow_partitions.operate.contract.assets import ShowAsset
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.grid import ShowGrid
from airflow_partitions.operate.contract.keys import AddKeys, ListKeys, RemoveKeys
from airflow_partitions.operate.contract.states import CountStates
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.mark import mark
from airflow_partitions.operate.requests.materialize import materialize
from airflow_partitions.operate.requests.plan import plan
from airflow_partitions.operate.requests.progress import progress
from airflow_partitions.operate.states import State, explain, states_of
from airflow_partitions.operate.upkeep import Upkeep, one_round
from airflow_partitions.operate.upkeep.adopt import adopt_from_storage
from airflow_partitions.storage import Parquet
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

SOURCE = """
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-04", name="day")
TENANTS = PartitionBySequence(["acme", "beta", "cole"], name="tenant")
REGIONS = PartitionBySequence(["eu", "us"], name="region")
PAIRS = PartitionAtRuntime("pairs", of=PartitionByProduct([TENANTS, REGIONS]))
ACTIVE = PartitionAtRuntime("active", of=TENANTS)

@asset(schedule=None, partition=PAIRS)
def accounts(): ...

@asset(schedule=None, partition=ACTIVE)
def customers(): ...

@asset(schedule="@daily", partition=PartitionByProduct([TENANTS, REGIONS, DAYS], only=PAIRS))
def orders(partition): ...

@asset(schedule=orders, partition=DAYS)
def daily(partition): ...

@asset(schedule=orders, partition=PartitionByProduct([DAYS, TENANTS], only=ACTIVE))
def tenants(partition): ...

@asset(schedule=None, partition=PartitionByProduct([REGIONS, TENANTS], only=PAIRS))
def branches(partition): ...
"""


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Iterator[Metadata]:
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, estate=SOURCE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    _history.cache_clear()
    yield metadata
    _history.cache_clear()


def add(*keys: str, to: str = "accounts") -> None:
    assert answer(AddKeys(asset=to, keys=list(keys)))["keys"] == list(keys)


def remove(*keys: str) -> None:
    answer(RemoveKeys(asset="accounts", keys=list(keys)))


def selected(name: str, text: str) -> Selection:
    return parse_selection(partitioned_asset(name).definition, text)


def counted(name: str) -> dict[str, int]:
    """Numbers of partitions by state, as the counts, the states, the grid and the board tell them."""
    counts: dict[str, int] = answer(CountStates(asset=name))["counts"]
    stretches: Counter[str] = Counter()
    for stretch in states_of(name).stretches:
        stretches[stretch.state.value] += stretch.count
    assert counts == stretches
    grid = answer(ShowGrid(asset=name))
    drawn: Counter[str] = Counter()
    for row in grid["rows"]:
        for length, number in row["runs"]:
            drawn.update({state: length * many for state, many in grid["cells"][number]["states"].items()})
    assert counts == drawn
    board = answer(ShowBoard(since="2013-01-01T00:00Z", until="2013-02-01T00:00Z"))
    (strip,) = [strip for strip in board["strips"] if strip["asset"] == name]
    assert (strip["counts"], strip["total"]) == (counts, sum(counts.values()))
    return counts


def test_what_is_added_is_missing_and_what_is_dropped_is_nowhere(estate: Metadata) -> None:
    assert counted("orders") == counted("branches") == {}
    add("acme|eu")
    assert counted("orders") == {"missing": 3}
    estate.emit("orders", "acme|eu|2013-01-01", "acme|eu|2013-01-02")
    one_round()
    add("beta|us", "cole|eu")
    assert counted("orders") == {"materialized": 2, "missing": 7}
    assert counted("branches") == {"missing": 3}
    remove("cole|eu")
    assert counted("orders") == {"materialized": 2, "missing": 4}
    remove("acme|eu")
    for _ in range(2):
        assert counted("orders") == {"missing": 3}
        (orphan,) = orphans("orders", partitioned_asset("orders").meaning)
        assert (orphan.count, orphan.first, orphan.last) == (2, "acme|eu|2013-01-01", "acme|eu|2013-01-02")
        one_round()
    add("acme|eu")
    for _ in range(2):
        assert counted("orders") == {"materialized": 2, "missing": 4}
        assert orphans("orders", partitioned_asset("orders").meaning) == ()
        one_round()


def test_lists_and_descriptions(estate: Metadata) -> None:
    shown = answer(ShowAsset(asset="orders"))
    assert (shown["definition"]["count"], shown["definition"]["first"], shown["example"]) == (0, None, None)
    assert answer(ShowAsset(asset="branches"))["example"] is None
    add("beta|us", "acme|eu")
    shown = answer(ShowAsset(asset="orders"))
    assert (shown["definition"]["count"], shown["definition"]["first"]) == (6, "2013-01-01")
    assert selection_text(selected("orders", shown["example"])) == shown["example"]
    listed = answer(ListKeys(asset="orders", select="..2013-01-03", oldest_first=True, limit=3))
    assert [key["key"] for key in listed["keys"]] == ["acme|eu|2013-01-01", "beta|us|2013-01-01", "acme|eu|2013-01-02"]
    assert listed["count"] == 4
    assert [key["key"] for key in answer(ListKeys(asset="accounts"))["keys"]] == ["acme|eu", "beta|us"]
    assert [key["key"] for key in answer(ListKeys(asset="branches"))["keys"]] == ["eu|acme", "us|beta"]


def test_a_wrong_combination_is_refused_with_the_nearest(estate: Metadata) -> None:
    for key, words in (("acme|uk", "'uk' is not one of the 2 values of 'region'; nearest: acme|eu, acme|us"),
                       ("acne|eu", "nearest: acme|eu"), ("eu|acme", "nearest: acme|eu")):  # fmt: skip
        with pytest.raises(InvalidKeyError) as error:
            answer(AddKeys(asset="accounts", keys=["beta|us", key]))
        assert words in str(error.value)
    assert answer(ListKeys(asset="accounts"))["keys"] == []
    add("acme|eu")
    with pytest.raises(InvalidKeyError, match=r"'acme\|us' is none of the 1 keys of .*; nearest: acme\|eu"):
        remove("acme|us")
    with pytest.raises(InvalidKeyError, match=r"no tenant 'acme' with region 'us'.*nearest: acme\|eu\|2013-01-01"):
        selected("orders", "acme|us|2013-01-01")


def test_what_is_downstream_waits_for_what_is_there(estate: Metadata) -> None:
    add("acme|eu", "beta|us")
    estate.emit("orders", "acme|eu|2013-01-01")
    assert states_of("daily", selected("daily", "2013-01-01")).stretches[0].state is State.WAITING
    (reason, *_) = explain("daily", "2013-01-01").reasons
    assert reason.startswith("1 of 2 partitions of 'orders' that it needs are there")
    remove("beta|us")
    timetable: Any = partitioned_asset("daily").timetables["daily"]
    assert timetable.evaluate("2013-01-01").status.complete
    add("acme|us")
    timetable = partitioned_asset("daily").timetables["daily"]
    assert not timetable.evaluate("2013-01-01").status.complete
    estate.emit("orders", "acme|us|2013-01-01")
    refresh_history()
    timetable = partitioned_asset("daily").timetables["daily"]
    assert timetable.evaluate("2013-01-01").status.complete


def test_events_reach_only_what_is_there(estate: Metadata) -> None:
    add("acme|eu", "beta|us")
    add("acme", to="customers")
    mapper: Any = partitioned_asset("tenants").timetables["tenants"].get_partition_mapper(name="orders")
    assert mapper.to_downstream("acme|eu|2013-01-02") == ["2013-01-02|acme"]
    assert mapper.to_downstream("beta|us|2013-01-02") == []
    add("beta", to="customers")
    mapper = partitioned_asset("tenants").timetables["tenants"].get_partition_mapper(name="orders")
    assert mapper.to_downstream("beta|us|2013-01-02") == ["2013-01-02|beta"]
    with pytest.raises(InvalidKeyError, match="does not exist: there is no tenant 'acme' with region 'us'"):
        mapper.to_downstream("acme|us|2013-01-02")


def test_plans_and_requests_make_what_is_there_and_go_on_when_more_is_added(estate: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    add("acme|eu", "beta|us")
    steps = plan(partitioned_asset("daily"), selected("daily", "2013-01-01..2013-01-03"), upstream=True).steps
    assert [(step.dag_id, len(step.selection)) for step in steps] == [("orders", 4), ("daily", 2)]
    request = materialize(partitioned_asset("orders"), selected("orders", "2013-01-01"), by="ann")
    with estate.engine.connect() as at:
        keys = at.scalars(select(DagRun.partition_key).where(DagRun.dag_id == "orders").order_by(DagRun.id)).all()
    assert keys == ["acme|eu|2013-01-01", "beta|us|2013-01-01"]
    add("acme|us")
    assert (len(progress(request.id).request.selection), progress(request.id).runs) == (2, {"queued": 2})
    with pytest.raises(OverlapError, match="2 of the 3 partitions are being made already"):
        materialize(partitioned_asset("orders"), selected("orders", "2013-01-01"), by="ann")
    more = materialize(partitioned_asset("orders"), selected("orders", "acme|us|2013-01-01"), by="ann")
    assert [str(key) for key in more.selection] == ["acme|us|2013-01-01"]
    with pytest.raises(SelectionError, match="'tenant=cole' selects no partition"):
        selected("orders", "tenant=cole")
    marked = mark(partitioned_asset("orders"), selected("orders", "2013-01-02"), by="ann", reason="old")
    assert len(marked.selection) == 3


def test_an_event_that_came_before_its_combination_counts_from_then_on(estate: Metadata) -> None:
    add("acme|eu")
    estate.emit("orders", "beta|us|2013-01-01", "acme|eu|2013-01-01")
    assert counted("orders") == {"materialized": 1, "missing": 2}
    assert any("no tenant 'beta' with region 'us'" in problem for problem in one_round().problems)
    add("beta|us")
    for _ in range(2):
        assert counted("orders") == {"materialized": 2, "missing": 4}
        one_round()


def test_upkeep_sees_what_was_added_since_its_last_round(estate: Metadata) -> None:
    upkeep, reader = Upkeep(wait=True), SerializedDagReader()
    upkeep.round()
    assert reader.read().definition("orders").count() == 0  # type: ignore[union-attr]
    add("acme|eu")
    estate.emit("orders", "acme|eu|2013-01-01")
    assert upkeep.round().problems == ()
    assert reader.read().definition("orders").count() == 3  # type: ignore[union-attr]
    remove("acme|eu")
    assert reader.read().definition("orders").count() == 0  # type: ignore[union-attr]


def test_what_a_task_asks_for_by_its_dag_file_is_cut_to_what_is_there(estate: Metadata) -> None:
    from datetime import UTC, datetime

    from airflow_partitions.engine.runs.task_request import TaskRequest
    from airflow_partitions.operate.upkeep.answers import _answer

    add("acme|eu")
    declared = partitioned_asset("orders").definition.declared
    asked = TaskRequest("one", "orders", Selection.of(declared, "acme|eu|2013-01-01"), "ann", datetime.now(UTC))
    asked = TaskRequest.from_json(asked.to_json())
    answered = _answer(asked, None)
    assert (answered.state, answered.runs) == ("running", {"queued": 1})
    other = attrs.evolve(asked, id="two", selection=Selection.of(declared, "beta|us|2013-01-01"))
    assert "no partition is selected" in _answer(other, None).words


def test_what_is_stored_of_other_combinations_is_not_taken_over(estate: Metadata, tmp_path: Path) -> None:
    import pandas as pd

    stored = f"""
        from airflow_partitions.storage import Parquet

        TENANTS = PartitionBySequence(["acme", "beta", "cole"], name="tenant")
        REGIONS = PartitionBySequence(["eu", "us"], name="region")
        PAIRS = PartitionAtRuntime("pairs", of=PartitionByProduct([TENANTS, REGIONS]))
        BRANCHES = PartitionByProduct([TENANTS, REGIONS], only=PAIRS)
        LAKE = Parquet({str(tmp_path / "lake")!r}, partition=BRANCHES)

        @asset(schedule=None, partition=BRANCHES, storage=LAKE)
        def shops(partition): ...
    """
    estate.parse(tmp_path, stored=stored)
    add("acme|eu")
    shops = partitioned_asset("shops")
    lake = Parquet(str(tmp_path / "lake"), partition=shops.definition.declared)
    lake.save({key: pd.DataFrame({"price": [1.5]}) for key in ("acme|eu", "beta|us")})
    adopted = adopt_from_storage(shops, by="ann")
    assert [str(key) for key in adopted.selection] == ["acme|eu"]
    assert [folder for folder in adopted.foreign if "beta" in folder] == list(adopted.foreign)
    assert len(adopted.foreign) == 1
    assert counted("shops") == {"materialized": 1}
