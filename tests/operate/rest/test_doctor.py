"""What is stuck, and what mends it, over REST."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from airflow_partitions.engine.database.models import Asset
from airflow_partitions.operate.operations import doctor
from airflow_partitions.operate.requests import concurrency
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor, viewer
from tests.operate.rest.conftest import Server, ask_for, problem, unpause
from tests.operate.states.world import put_pending

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def problems(client: httpx.Client) -> dict[str, dict[str, Any]]:
    """The problems by kind; there is one of each."""
    found = client.get("/doctor").json()["problems"]
    by_kind = {each["kind"]: each for each in found}
    assert len(by_kind) == len(found)
    return by_kind


def change_dag(metadata: Metadata, dag_id: str, **values: Any) -> None:
    from airflow.models.dag import DagModel

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(values))


def test_an_estate_without_upkeep_is_told_the_command(client: httpx.Client) -> None:
    (problem,) = problems(client).values()
    assert (problem["kind"], problem["is_error"]) == ("no-upkeep", False)
    assert problem["remedy"] == {"kind": "command", "select": None, "command": "airflow asset-partitions upkeep --loop"}


def test_a_paused_dag_with_work_can_be_unpaused_by_who_may(
    server: Server, client: httpx.Client, estate: Metadata
) -> None:
    change_dag(estate, "airport_days", is_paused=True)
    assert "paused-dag" not in problems(client)  # there is nothing to do
    put_pending(estate, "airport_days", "2013-01-01|JFK", "2013-01-02|JFK")
    problem = problems(client)["paused-dag"]
    assert (problem["dag_id"], problem["asset"], problem["remedy"]["kind"]) == (
        "airport_days",
        "airport_days",
        "unpause-dag",
    )
    assert "2 partitions wait for upstream partitions" in problem["text"]
    with server.client(viewer()) as reader:
        assert problems(reader)["paused-dag"]["remedy"] is None


def test_partitions_that_wait_for_long_are_told(client: httpx.Client, estate: Metadata) -> None:
    from airflow.models.asset import AssetPartitionDagRun as Row

    put_pending(estate, "airport_days", "2013-01-01|JFK")
    assert "waiting" not in problems(client)
    with estate.engine.begin() as at:
        at.execute(update(Row).values(created_at=datetime.now(UTC) - timedelta(days=2)))
    assert "1 partition has waited" in problems(client)["waiting"]["text"]


TIMED_FILE = """
from datetime import timedelta
from airflow_partitions import PartitionByInterval, asset

@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"))
def readings(): ...

@asset(schedule=readings, partition=PartitionByInterval("@hourly"), at=timedelta(days=3_650))
def ten_years_later(): ...
"""


def test_a_partition_whose_time_has_not_come_does_not_wait_for_its_upstreams(
    client: httpx.Client, metadata: Metadata, tmp_path: Path
) -> None:
    from airflow.models.asset import AssetPartitionDagRun as Row

    metadata.parse(tmp_path, files=TIMED_FILE)
    unpause(metadata)
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    ahead = now - timedelta(days=100)
    due = now - timedelta(days=3_650 + 40)
    put_pending(metadata, "ten_years_later", f"{ahead:%Y-%m-%dT%H:%MZ}")
    with metadata.engine.begin() as at:
        at.execute(update(Row).values(created_at=now - timedelta(days=60)))
    assert "waiting" not in problems(client)
    put_pending(metadata, "ten_years_later", f"{due:%Y-%m-%dT%H:%MZ}")
    with metadata.engine.begin() as at:
        at.execute(update(Row).values(created_at=now - timedelta(days=60)))
    text = problems(client)["waiting"]["text"]
    began = due + timedelta(hours=1, days=3_650)  # counted from the end of its hour
    assert "1 partition has waited" in text
    assert f"the first since {began:%Y-%m-%d %H:%M} UTC" in text


def test_requests_that_failed_or_wait_for_somebody_are_told(client: httpx.Client, estate: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    estate.prepare_runs()
    paused, failed = ask_for("2013-02-01"), ask_for("2013-02-02", "2013-02-03")
    client.post(f"/requests/{paused}/pause", json={})
    with estate.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.backfill_id == failed).values(state="failed"))
    by_kind = problems(client)
    assert (by_kind["request-paused"]["request"], by_kind["request-paused"]["remedy"]["kind"]) == (
        paused,
        "resume-request",
    )
    problem = by_kind["request-failed"]
    assert (problem["request"], problem["asset"], problem["remedy"]["kind"]) == (failed, "days", "retry-request")
    assert "2 of its runs failed" in problem["text"]


def test_a_request_with_more_runs_at_a_time_than_airflow_works_on_is_told(
    client: httpx.Client, estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    estate.prepare_runs()
    body = {"keys": ["2013-02-01"], "concurrency": 21}
    words = "goes on with no more than 20 running runs"
    for version, notes in (("3.4.0b2", 0), ("3.3.2", 1)):
        monkeypatch.setattr(concurrency, "airflow_version", version)
        assert len(client.post("/assets/days/requests", json=body | {"dry_run": True}).json()["notes"]) == notes
    (note,) = client.post("/assets/days/requests", json=body).json()["notes"]
    assert words in note
    assert words in problems(client)["concurrency"]["text"]
    monkeypatch.setenv("AIRFLOW__SCHEDULER__MAX_DAGRUNS_PER_LOOP_TO_SCHEDULE", "100")
    assert "concurrency" not in problems(client)


def test_what_can_not_be_read_is_an_error_that_reading_again_mends(client: httpx.Client, estate: Metadata) -> None:
    estate.emit("days", "2013-01-01")
    client.post("/assets/days/reconcile")
    estate.write_row(Asset, Asset.name == "days", meaning={"definition": {"kind": "of a later release"}})
    found = [each for each in client.get("/doctor").json()["problems"] if each["kind"] == "cell"]
    assert {each["asset"] for each in found} == {"days"}
    assert all(each["is_error"] and each["remedy"]["kind"] == "reconcile" for each in found)


def test_files_with_errors_and_old_partitions_are_told(client: httpx.Client, estate: Metadata, tmp_path: Path) -> None:
    estate.emit("days", "2012-01-01")
    estate.break_file(tmp_path / "estate.py", "ImportError: no module")
    found = client.get("/doctor").json()["problems"]
    broken = {each["asset"]: each for each in found if each["kind"] == "import-error"}
    assert (broken["days"]["dag_id"], broken["days"]["is_error"]) == ("makes", True)
    by_kind = {each["kind"]: each for each in found}
    assert "2012-01-01" in by_kind["orphans"]["text"]


def test_who_may_not_read_all_is_told_of_the_rest(server: Server, estate: Metadata, tmp_path: Path) -> None:
    estate.break_file(tmp_path / "estate.py", "ImportError: no module")
    with server.client(viewer("makes")) as client:
        answer = client.get("/doctor").json()
        assert answer["complete"] is False
        assert [each["dag_id"] for each in answer["problems"] if each["kind"] == "import-error"] == ["makes"]
        assert "airport_days" not in str(answer)
    with server.client(editor()) as client:
        assert client.get("/doctor").json()["complete"] is True


def test_what_may_take_long_is_done_for_one_at_a_time(
    server: Server, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, end = Event(), Event()

    def slow(assets: Collection[str], track: Any) -> Iterator[Any]:
        begun.set()
        end.wait()
        return iter(())

    monkeypatch.setattr(doctor, "cell_problems", slow)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(client.get, "/doctor")
        begun.wait()
        try:
            with server.client(viewer()) as other:
                refused = other.get("/doctor")
                assert (problem(refused)["status"], refused.headers["Retry-After"]) == (429, "10")
                assert "editor has asked for list_problems" in problem(refused)["detail"]
                assert problem(client.post("/assets/days/reconcile"))["status"] == 429
                monkeypatch.setattr(doctor, "cell_problems", lambda *_: iter(()))
                assert other.get("/doctor", params={"records": False}).status_code == 200
        finally:
            end.set()
        assert asked.result().status_code == 200
    assert client.get("/doctor").status_code == 200


def test_long_work_ends_when_the_caller_has_gone(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = Event(), Event()

    def endless(assets: Collection[str], track: Any) -> Iterator[Any]:
        try:
            for _ in track(count()):
                begun.set()
                time.sleep(0.01)
        finally:
            ended.set()
        return iter(())

    monkeypatch.setattr(doctor, "cell_problems", endless)
    with pytest.raises(httpx.ReadTimeout):
        client.get("/doctor", timeout=1)
    assert begun.is_set()
    assert ended.wait(30)
    monkeypatch.setattr(doctor, "cell_problems", lambda *_: iter(()))
    while client.get("/doctor").status_code == 429:  # until it has let the next one in
        time.sleep(0.05)
    assert client.get("/doctor").status_code == 200
