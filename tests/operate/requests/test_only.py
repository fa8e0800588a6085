"""Assets with products that have only some combinations: from the Dag file to states, plans, requests and lists."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from airflow_partitions.core.dependencies import Selection, parse_selection, selection_text
from airflow_partitions.core.errors import InvalidKeyError, RequestSizeError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.orphans import orphans
from airflow_partitions.engine.timetables.evaluation import _history, refresh_history
from airflow_partitions.operate.cli.strip import strips
from airflow_partitions.operate.contract.assets import ShowAsset
from airflow_partitions.operate.contract.keys import ListKeys
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests import materialize as module
from airflow_partitions.operate.requests.mark import mark
from airflow_partitions.operate.requests.plan import plan
from airflow_partitions.operate.states import State, counts, explain, states_of
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.states.world import shown

pytestmark = pytest.mark.airflow

NOW = datetime(2013, 1, 6, 12, tzinfo=UTC)
SINCE = {"ann": "2013-01-01..", "bob": "2013-01-03..", "cid": "2013-01-02..2013-01-05"}


def source(since: dict[str, str]) -> str:
    return f"""
DAYS = PartitionByInterval("@daily", start="2013-01-01", name="day")
CUSTOMERS = PartitionBySequence(["ann", "bob", "cid"], name="customer")
REGIONS = PartitionBySequence(["eu", "us"], name="region")

@asset(schedule="@daily", partition=PartitionByProduct([DAYS, CUSTOMERS]))
def raw(partition): ...

@asset(schedule=raw, partition=PartitionByProduct([CUSTOMERS, DAYS], only={since!r}))
def orders(partition): ...

@asset(schedule=orders, partition=DAYS)
def daily(partition): ...

@asset(schedule=orders, partition=PartitionByProduct(
    [CUSTOMERS, DAYS, REGIONS], only=["ann|..|eu", "ann|2013-01-04..|us", "bob|..|us"]))
def regional(partition): ...

@asset(schedule="@daily", partition=PartitionByProduct([CUSTOMERS, REGIONS], only=["ann|eu", "cid|eu", "cid|us"]))
def branches(partition): ...
"""


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Iterator[Metadata]:
    parse(metadata, tmp_path, SINCE)
    yield metadata
    _history.cache_clear()


def parse(metadata: Metadata, folder: Path, since: dict[str, str]) -> None:
    from airflow.models.dag import DagModel

    metadata.parse(folder, estate=source(since))
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    _history.cache_clear()


def selected(name: str, text: str) -> Selection:
    return parse_selection(partitioned_asset(name).definition, text, closed_by=NOW)


def test_states_and_counts_know_what_exists(estate: Metadata) -> None:
    asset = partitioned_asset("orders")
    assert counts(asset, now=NOW).to_json()["counts"] == {"missing": 11}
    estate.emit("orders", "ann|2013-01-01", "ann|2013-01-02", "cid|2013-01-02")
    one_round()
    assert counts(asset, now=NOW).to_json()["counts"] == {"missing": 8, "materialized": 3}
    told = shown(states_of(asset, selected("orders", "..2013-01-04"), now=NOW, newest_first=False).stretches)
    assert told == [
        ("materialized", "ann|2013-01-01", "ann|2013-01-01", 1),
        ("materialized", "ann|2013-01-02", "cid|2013-01-02", 2),
        ("missing", "ann|2013-01-03", "cid|2013-01-03", 3),
    ]
    stretches = [each.to_json() for each in states_of(asset, now=NOW).stretches]
    rows = strips(asset.definition, stretches, 40)
    assert [str(row).split()[0] for row in rows] == ["ann", "bob", "cid"]
    branches = [each.to_json() for each in states_of("branches", now=NOW).stretches]
    assert sum(each["count"] for each in branches) == 3


def test_a_day_waits_only_for_what_exists(estate: Metadata) -> None:
    timetable: Any = partitioned_asset("daily").timetables["daily"]
    estate.emit("orders", "ann|2013-01-02", "ann|2013-01-01")
    assert timetable.evaluate("2013-01-01").status.complete
    assert not timetable.evaluate("2013-01-02").status.complete
    assert states_of("daily", selected("daily", "2013-01-02"), now=NOW).stretches[0].state is State.WAITING
    (reason, *_) = explain("daily", "2013-01-02", now=NOW).reasons
    assert reason.startswith("1 of 2 partitions of 'orders' that it needs are there")
    assert reason.endswith("2013-01-02 of customer cid is lacking")
    estate.emit("orders", "cid|2013-01-02")
    refresh_history()
    assert partitioned_asset("daily").timetables["daily"].evaluate("2013-01-02").status.complete  # type: ignore[attr-defined]


def test_events_reach_only_what_exists(estate: Metadata) -> None:
    mapper: Any = partitioned_asset("orders").timetables["orders"].get_partition_mapper(name="raw")
    assert list(mapper.to_downstream("2013-01-03|bob")) == ["bob|2013-01-03"]
    assert list(mapper.to_downstream("2013-01-02|bob")) == []
    regional: Any = partitioned_asset("regional").timetables["regional"].get_partition_mapper(name="orders")
    assert list(regional.to_downstream("ann|2013-01-04")) == ["ann|2013-01-04|eu", "ann|2013-01-04|us"]
    assert list(regional.to_downstream("ann|2013-01-03")) == ["ann|2013-01-03|eu"]
    assert list(regional.to_downstream("cid|2013-01-03")) == []


def test_plans_and_requests_make_only_what_exists(estate: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    asset = partitioned_asset("orders")
    a_plan = plan(asset, selected("orders", "2013-01-01..2013-01-04"), upstream=True)
    steps = {step.dag_id: step.selection for step in a_plan.steps}
    assert len(steps["orders"]) == 6
    assert selection_text(steps["orders"]) == "2013-01-01..2013-01-04"
    assert {str(key) for key in steps["raw"]} == {"|".join(reversed(str(key).split("|"))) for key in steps["orders"]}
    days = plan(partitioned_asset("daily"), selected("daily", "2013-01-01..2013-01-03"), upstream=True)
    assert [(step.dag_id, len(step.selection)) for step in days.steps] == [("raw", 3), ("orders", 3), ("daily", 2)]
    request = module.materialize(partitioned_asset("raw"), selected("raw", "2013-01-01"), by="ann")
    assert len(request.selection) == 3
    request = module.materialize(asset, selected("orders", "2013-01-01..2013-01-03"), by="ann")
    with estate.engine.connect() as at:
        keys = at.scalars(select(DagRun.partition_key).where(DagRun.dag_id == "orders").order_by(DagRun.id)).all()
    assert keys == ["ann|2013-01-01", "ann|2013-01-02", "cid|2013-01-02"]
    with pytest.raises(InvalidKeyError, match=r"no customer 'bob' with day '2013-01-01'.*nearest: bob\|2013-01-03"):
        selected("orders", "bob|2013-01-01")


def test_what_does_not_exist_can_not_be_marked(estate: Metadata) -> None:
    asset = partitioned_asset("orders")
    assert len(mark(asset, selected("orders", "2013-01-01..2013-01-03"), by="ann", reason="known").selection) == 3
    with pytest.raises(RequestSizeError, match="no partition is selected"):
        mark(asset, Selection(asset.definition), by="ann", reason="none")
    assert counts(asset, now=NOW).to_json()["counts"]["materialized"] == 3


def test_lists_and_descriptions(estate: Metadata) -> None:
    listed = answer(ListKeys(asset="orders", select="..2013-01-04", limit=4, oldest_first=True))
    assert [key["key"] for key in listed["keys"]] == [
        "ann|2013-01-01",
        "ann|2013-01-02",
        "cid|2013-01-02",
        "ann|2013-01-03",
    ]
    assert listed["count"] == 6
    rest = answer(ListKeys(asset="orders", select="..2013-01-04", limit=4, oldest_first=True, cursor=listed["cursor"]))
    assert [key["key"] for key in rest["keys"]] == ["bob|2013-01-03", "cid|2013-01-03"]
    shown = answer(ShowAsset(asset="branches"))["definition"]
    assert (shown["count"], [one["count"] for one in shown["dimensions"]]) == (3, [3, 2])
    assert shown["form"]["only"] == [{"segments": [[[0], [0]], [[2], None]]}]


def test_another_only_is_another_definition_and_what_remains_keeps_its_rows(estate: Metadata, tmp_path: Path) -> None:
    keys = [str(key) for key in selected("orders", "..2013-01-05")]
    estate.emit("orders", *keys)
    one_round()
    parse(estate, tmp_path, SINCE | {"ann": "2013-01-02..", "bob": ".."})
    for _ in range(2):
        asset = partitioned_asset("orders")
        assert counts(asset, now=NOW).to_json()["counts"] == {"missing": 4, "materialized": 8}
        (orphan,) = orphans("orders", asset.meaning)
        assert (orphan.count, orphan.first) == (1, "ann|2013-01-01")
        one_round()
    parse(estate, tmp_path, SINCE)
    one_round()
    asset = partitioned_asset("orders")
    assert counts(asset, now=NOW).to_json()["counts"] == {"missing": 2, "materialized": 9}
    assert orphans("orders", asset.meaning) == ()


def test_an_event_of_what_does_not_exist_is_told_and_counts_for_nothing(estate: Metadata) -> None:
    estate.emit("orders", "bob|2013-01-01", "ann|2013-01-01")
    asset = partitioned_asset("orders")
    assert counts(asset, now=NOW).to_json()["counts"] == {"missing": 10, "materialized": 1}
    problems = one_round().problems
    assert any("no customer 'bob' with day '2013-01-01'" in problem for problem in problems)
    (orphan,) = orphans("orders", asset.meaning)
    assert (orphan.count, orphan.first) == (1, "bob|2013-01-01")
