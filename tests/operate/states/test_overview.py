"""Overviews of many assets at once, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from airflow_partitions.core.errors import NotReadyError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.grid import ShowGrid
from airflow_partitions.operate.contract.requests import PlanPartitions
from airflow_partitions.operate.contract.states import ListStates, ShowPartition
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys
from airflow_partitions.operate.states import counts, kept, overview
from airflow_partitions.operate.states.asset_states import AssetStates
from tests.metadata import Metadata
from tests.operate.states.world import put_pending, put_runs, put_tasks

pytestmark = pytest.mark.airflow

PAIRS = 20
DAYS = [f"2013-02-{number:02}" for number in range(1, 8)]
SOURCE = f"""
DAYS = PartitionByInterval("@daily", start="2013-02-01", end="2013-02-11")

for number in range({PAIRS}):
    raw, report = Asset(f"raw_{{number:02}}"), Asset(f"report_{{number:02}}")
    with DAG(raw.name, schedule=Partitioned("@daily", DAYS, asset=raw)):
        EmptyOperator(task_id="make", outlets=[raw])
    with DAG(report.name, schedule=Partitioned(Asset.ref(name=raw.name), DAYS, asset=report)):
        EmptyOperator(task_id="make", outlets=[report])

@asset(schedule=None, partition=PartitionAtRuntime("customer"))
def customers(partition): ...

@asset(schedule="@daily", partition=PartitionByInterval("@daily"))
def open_days(partition): ...
"""
MADE = datetime(2013, 3, 1, tzinfo=UTC)


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    """Assets in all states: each in a ledger, in events alone, or in both."""
    metadata.parse(tmp_path, estate=SOURCE)
    for number in range(PAIRS):
        raw, report = f"raw_{number:02}", f"report_{number:02}"
        metadata.emit(raw, *DAYS[: 1 + number % 6], at=MADE)
        metadata.emit(report, *DAYS[: 1 + number % 3], at=MADE + timedelta(days=1))
        if number % 2:
            for name in (raw, report):
                update_ledger(name, partitioned_asset(name).meaning)
        if number % 4 == 1:
            metadata.purge()
        if number % 3:
            metadata.emit(raw, DAYS[0], at=MADE + timedelta(days=2))  # now the report is stale
    put_runs(metadata, "raw_03", DAYS[5:], "failed", MADE)
    put_runs(metadata, "raw_03", DAYS[6:], "success", MADE + timedelta(days=3))
    put_runs(metadata, "raw_04", DAYS[5:], "running", MADE)
    put_runs(metadata, "raw_05", DAYS[6:], "success", MADE)
    put_tasks(metadata, "raw_05", DAYS[6:], "make", "skipped", MADE)
    put_pending(metadata, "report_07", DAYS[6])
    metadata.emit("open_days", "2013-02-03", at=MADE)
    add_runtime_keys(partitioned_asset("customers"), ["a", "b"], by="me")
    return metadata


def test_eb9_many_assets_are_read_by_as_few_statements_as_one(estate: Metadata) -> None:
    def forms(**values: Any) -> tuple[dict[str, Any], list[str]]:
        overview._OVERVIEWS.clear()
        statements: list[str] = []

        def note(*of: Any) -> None:
            statements.append(of[2])

        event.listen(estate.engine, "before_cursor_execute", note)
        try:
            assets = answer(ListAssets(counts=True, **values))["assets"]
        finally:
            event.remove(estate.engine, "before_cursor_execute", note)
        return {form["name"]: form["counts"] for form in assets}, statements

    pair, few = forms(search="_03", limit=100)
    assert len(pair) == 2
    pairs, some = forms(search="_1", limit=1_000)
    every, statements = forms(limit=1_000)
    assert (len(pairs), len(every)) == (PAIRS, 2 * PAIRS + 2)
    assert len(some) <= len(few) + 2
    assert len(statements) <= len(some) + 5  # what asks for the keys of the one that is listed at runtime
    assert len(some) <= 17
    for name, form in every.items():
        assert {**form, "now": None} == {**counts(name).to_json(), "now": None}, name
    told = {state for form in every.values() for state in form["counts"]}
    assert told == {"materialized", "missing", "stale", "failed", "running", "skipped", "waiting"}


def test_en1_eb3_keys_that_a_run_adds_are_counted_whatever_starts_it(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(
        tmp_path,
        shop="""
        REGIONS = PartitionByProduct([
            PartitionByInterval("@daily", name="date", start="2013-02-01", end="2013-02-11"),
            PartitionBySequence(["eu", "us"], name="region")])

        @asset(schedule="@daily", partition=REGIONS)
        def orders(partition): ...

        @asset(schedule=orders, partition=PartitionAtRuntime("customers"))
        def customers(self): ...

        @asset(schedule=customers, partition=PartitionAtRuntime("customers"))
        def profiles(partition): ...
        """,
    )
    metadata.emit("orders", "2013-02-01|eu", at=MADE)
    add_runtime_keys(partitioned_asset("customers"), ["ann"], by="me")
    metadata.emit("orders", "2013-02-01|eu", at=datetime(2100, 1, 1, tzinfo=UTC))  # later than the key
    assets = {form["name"]: form for form in answer(ListAssets(counts=True))["assets"]}
    assert assets["customers"]["counts"]["counts"] == {"materialized": 1}
    assert answer(ShowPartition(asset="customers", key="ann"))["state"] == "materialized"
    assert answer(ShowPartition(asset="profiles", key="ann"))["upstream"][0]["count"] == 1
    assert answer(ListStates(asset="customers"))["stretches"][0]["state"] == "materialized"
    assert answer(ShowPartition(asset="orders", key="2013-02-01|eu"))["downstream"] == []
    for asset in ("orders", "customers", "profiles"):
        assert answer(ShowGrid(asset=asset))["total"]
    plan = answer(PlanPartitions(asset="orders", select="2013-02-01|eu", downstream=True))
    steps = [(step["dag_id"], step["asset"], step["role"], step["selection"]) for step in plan["steps"]]
    day = "2013-02-01|eu"
    assert steps == [("orders", "orders", "asked", day), ("customers", None, "downstream", day)]
    with pytest.raises(NotReadyError):  # keys come from a run of its own
        answer(PlanPartitions(asset="customers", select="ann", upstream=True))


def test_an_asset_that_cant_be_counted_takes_no_other_with_it(
    estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {form["name"]: form["counts"] for form in answer(ListAssets(counts=True, limit=1_000))["assets"]}
    overview._OVERVIEWS.clear()
    version_of = kept.version_of

    def breaks(of: AssetStates) -> str:
        if of.asset.name == "raw_07":
            raise ValueError("nobody has thought of that")
        return version_of(of)

    monkeypatch.setattr(kept, "version_of", breaks)
    assets = {form["name"]: form for form in answer(ListAssets(counts=True, limit=1_000))["assets"]}
    broken = assets.pop("raw_07")
    assert (broken["counts"], broken["error"]) == (None, "ValueError: nobody has thought of that")
    assert {name: (form["counts"]["counts"], form["error"]) for name, form in assets.items()} == {
        name: (form["counts"], None) for name, form in before.items() if name != "raw_07"
    }
    some = answer(ListAssets(counts=True, states=["failed"]))["assets"]  # it may have failed partitions, too
    assert [form["name"] for form in some] == ["raw_03", "raw_07"]


def test_what_is_large_is_read_by_itself(estate: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {form["name"]: form["counts"]["counts"] for form in answer(ListAssets(counts=True, limit=1_000))["assets"]}
    overview._OVERVIEWS.clear()
    monkeypatch.setattr("airflow_partitions.engine.ledger.last_times._SMALL", 3)
    monkeypatch.setattr("airflow_partitions.engine.ledger.last_times._MOST_ROWS", 10)
    after = {form["name"]: form["counts"]["counts"] for form in answer(ListAssets(counts=True, limit=1_000))["assets"]}
    assert after == before
