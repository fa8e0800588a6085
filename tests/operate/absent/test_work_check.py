"""What keeps tasks from working, as the doctor sees it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.states import ListStates, ShowPartition
from airflow_partitions.operate.operations import answer, doctor
from tests.metadata import Metadata
from tests.operate.absent.test_absent import Reader
from tests.operate.states.world import put_runs, put_tasks

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

MADE = datetime(2013, 2, 1, tzinfo=UTC)
DAYS = 'PartitionByInterval("@daily", start="2013-01-01", end="2013-01-11")'
SHOP = f"""
import pandas as pd
from airflow_partitions.storage import Iceberg, Parquet

@asset(schedule="@daily", partition={DAYS})
def orders(): ...

@asset(schedule="@daily", partition={DAYS},
       storage=Parquet("s3://lake/away", conn_id="no_such_conn", partition_on={{"time": "%Y-%m-%d"}}))
def remote(partition) -> pd.DataFrame: ...

@asset(schedule="@daily", partition={DAYS},
       storage=Iceberg("lake.fares", catalog="lake", partition_on={{"time": "day"}}))
def fares(partition) -> pd.DataFrame: ...

@asset(schedule="@daily", partition={DAYS}, storage=Iceberg("lake.trips", partition_on={{"time": "day"}}))
def trips(partition) -> pd.DataFrame: ...

@asset(schedule="@daily", partition={DAYS},
       storage=Parquet("/nowhere/at/all/orders", partition_on={{"time": "%Y-%m-%d"}}))
def stored(partition) -> pd.DataFrame: ...

with DAG("rates", schedule=None):
    EmptyOperator(task_id="make", outlets=[Asset("rates")])

@asset(schedule=orders & Asset("rates"), partition={DAYS}, rules={{"rates": Unpartitioned()}})
def rated(): ...
"""


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(tmp_path, shop=SHOP)
    return metadata


def found(kind: str) -> list[dict[str, Any]]:
    problems = answer(ListProblems(records=False))["problems"]
    assert [one["text"] for one in problems if one["kind"] == "check"] == []
    return [one for one in problems if one["kind"] == kind]


def test_en4_the_port_of_the_api_is_compared(estate: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIRFLOW__CORE__EXECUTION_API_SERVER_URL", raising=False)
    monkeypatch.setenv("AIRFLOW__API__PORT", "8080")
    assert found("api-address") == []
    monkeypatch.setenv("AIRFLOW__API__PORT", "18400")
    (problem,) = found("api-address")
    assert "Invalid auth token" in problem["text"]
    assert problem["remedy"]["command"].endswith("http://localhost:18400/execution/")
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTION_API_SERVER_URL", "http://localhost:18400/execution/")
    assert found("api-address") == []


def test_en5_failed_runs_that_no_request_asked_for_are_told(estate: Metadata) -> None:
    put_runs(estate, "orders", ["2013-01-02", "2013-01-03", "2013-01-04"], "failed", MADE)
    (problem,) = found("failed-runs")
    assert (problem["asset"], problem["remedy"]["select"]) == ("orders", "2013-01-04")
    assert "3 partitions" in problem["text"]
    estate.emit("orders", "2013-01-04", at=MADE + timedelta(days=1))
    put_runs(estate, "orders", ["2013-01-03"], "success", MADE + timedelta(days=1))
    (problem,) = found("failed-runs")
    assert problem["remedy"]["select"] == "2013-01-02"
    assert "1 partition " in problem["text"]


def test_en5_connections_folders_and_packages_that_are_missing_are_told(
    estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    default, own, connection = found("connection")
    assert "'no_such_conn'" in connection["text"]
    assert "'remote'" in connection["text"]
    assert "where Iceberg(…) says no catalog=, it is iceberg_default" in default["text"]
    assert "no catalog=" not in own["text"]
    for name, each in (("iceberg_default", default), ("lake", own)):
        command = f"airflow connections add {name} --conn-type iceberg --conn-host https://CATALOG"
        assert each["remedy"]["command"] == command
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", "http://")
    monkeypatch.setenv("AIRFLOW_CONN_NO_SUCH_CONN", "aws://")
    assert found("connection") == []
    (folder,) = found("folder")
    assert (folder["asset"], folder["remedy"]["command"]) == ("stored", "mkdir -p /nowhere/at/all")
    assert found("package") == []

    def missing(protocol: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.get_filesystem_class", missing)
    (package,) = [one for one in found("package") if one["asset"] == "remote"]
    assert package["asset"] == "remote"
    assert "Install s3fs" in package["text"]


def test_en5_tasks_without_a_slot_are_told(estate: Metadata) -> None:
    from airflow.models.pool import Pool
    from airflow.models.taskinstance import TaskInstance

    put_runs(estate, "orders", ["2013-01-02"], "running", MADE)
    put_tasks(estate, "orders", ["2013-01-02"], "orders", "scheduled", MADE)
    with estate.engine.begin() as at:
        at.execute(update(TaskInstance).values(pool="small"))
        at.execute(insert(Pool).values(pool="small", slots=0, include_deferred=False))
    (problem,) = found("no-slots")
    assert "1 task waits for a slot of pool 'small'" in problem["text"]


def test_en5_upkeep_that_has_stopped_is_told_with_the_time(estate: Metadata) -> None:
    from airflow_partitions.engine.database.models import Upkeep

    at_last = datetime(2013, 1, 5, 6, 7, 8, tzinfo=UTC)
    with estate.engine.begin() as at:
        at.execute(insert(Upkeep).values(host="h", user="u", started_at=at_last, heartbeat_at=at_last))
    (problem,) = found("no-upkeep")
    assert "since 2013-01-05 06:07:08 UTC" in problem["text"]


def test_en5_a_check_that_fails_is_a_row_and_takes_no_other_with_it(
    estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(doctor.checks_of({}, complete=True, records=True))
    before = {one["kind"] for one in answer(ListProblems())["problems"]}

    def fail(*_: object, **__: object) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(doctor, "missing_folders", fail)
    after = answer(ListProblems())["problems"]
    (row,) = [one for one in after if one["kind"] == "check"]
    assert "folders" in names
    assert "the check of folders failed" in row["text"]
    assert "out of order" in row["text"]
    assert row["is_error"]
    assert {one["kind"] for one in after} == before - {"folder"} | {"check"}


def test_eo4_a_plain_asset_is_named_to_who_may_read_its_dag(estate: Metadata) -> None:
    estate.emit("orders", "2013-01-02", at=MADE)
    update_ledger("orders", partitioned_asset("orders").meaning)
    for asker in (None, Reader("orders", "rates", "rated")):
        form = answer(ShowPartition(asset="rated", key="2013-01-02"), asker)
        assert "'rates', which has no partitions, has had no event yet" in form["reasons"]
        assert form["upstream_hidden"] is False
        assert {one["asset"] for one in form["upstream"]} == {"orders", "rates"}
        stretches = answer(ListStates(asset="rated", select="2013-01-02"), asker)["stretches"]
        assert "rates" in {one["asset"] for one in stretches[0]["upstream"]}
    hidden = answer(ShowPartition(asset="rated", key="2013-01-02"), Reader("orders", "rated"))
    assert hidden["upstream_hidden"] is True
    assert "it needs an asset that you may not read" in hidden["reasons"]
    assert {one["asset"] for one in hidden["upstream"]} == {"orders"}
