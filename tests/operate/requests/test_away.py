"""Requests and holds live on by their number: without the file of their Dag, and with other outlets of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from airflow_partitions.core.errors import NotReadyError, UnknownRequestError
from airflow_partitions.engine.database import models
from airflow_partitions.engine.ledger.holds import held_dags
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.requests import CancelRequest, ListRequests, ShowRequest
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests import materialize as module
from airflow_partitions.operate.requests.control import cancel, pause, resume, retry
from airflow_partitions.operate.requests.hold import release_ended
from airflow_partitions.operate.requests.progress import progress
from airflow_partitions.operate.requests.request_rows import read_request, request_by, requests_of
from airflow_partitions.operate.upkeep.round import Upkeep, one_round
from airflow_partitions.operate.upkeep.unfinished_requests import delete_old_requests, finish_requests
from tests.metadata import LONG_AGO, Metadata
from tests.operate.requests.away import take_away
from tests.operate.requests.test_hold import WHILE_PAUSED, dag_row, release
from tests.operate.requests.test_hold import pause as pause_dag
from tests.operate.requests.test_materialize import DAGS, dags, finish, materialize, runs

__all__ = ["dags"]


def interrupted(text: str, patch: pytest.MonkeyPatch, options: RunOptions | None = None) -> int:
    """The number of a request whose maker was killed before its first run."""

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with patch.context() as patched:
        patched.setattr(module, "make_runs", die)
        with pytest.raises(KeyboardInterrupt):
            materialize("flights", text, options)
    return next(requests_of(["flights"])).id


def test_eb2_a_hold_lives_on_while_the_file_is_away(dags: Metadata, tmp_path: Path) -> None:
    pause_dag(dags, "flights", True)
    first, second = (materialize("flights", f"2013-03-0{day}", WHILE_PAUSED) for day in (1, 2))
    take_away(dags)
    assert one_round().problems == ()
    assert held_dags(["flights"]) == {"flights": (first.id, second.id)}
    assert [progress(each.id).state for each in (first, second)] == ["running", "running"]
    assert [each["id"] for each in answer(ListRequests())["requests"]] == [second.id, first.id]
    assert pause(first.id).state == "paused"
    assert resume(first.id).state == "running"
    finish(dags, "failed", "2013-03-01")
    assert retry(first.id).runs == {"queued": 1}
    assert cancel(second.id).state == "cancelled"
    dags.parse(tmp_path, dags=DAGS)
    assert dag_row(dags) == (False, None)
    assert one_round().problems == ()
    assert held_dags(["flights"]) == {"flights": (first.id,)}
    finish(dags)
    assert release() == 1
    assert (dag_row(dags)[0], held_dags(["flights"])) == (True, {})


def test_eb2_runs_are_created_once_the_file_is_back(
    dags: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, problems = interrupted("2013-03-01..2013-03-04", monkeypatch), list[str]()
    abandon(dags)
    take_away(dags)
    assert finish_requests(problems.append) == 0
    assert ["its file is away; what was asked for goes on once it is back" in problem for problem in problems] == [True]
    assert progress(number).state == "creating"
    dags.parse(tmp_path, dags=DAGS)
    assert one_round().requests == 1
    assert [run.partition_key for run in runs(dags)] == ["2013-03-01", "2013-03-02", "2013-03-03"]


def test_eb2_requests_that_were_paused_together_go_on_together(dags: Metadata) -> None:
    first, second = (materialize("flights", f"2013-03-0{day}", WHILE_PAUSED) for day in (1, 2))
    pause_dag(dags, "flights", True)  # none holds it: it was not paused when they were made
    assert held_dags(["flights"]) == {}
    assert resume(first.id).state == "running"
    assert held_dags(["flights"]) == {"flights": (first.id, second.id)}
    finish(dags, "success", "2013-03-01")
    assert (release(), dag_row(dags)[0]) == (0, False)  # the other one has not ended
    finish(dags, "success", "2013-03-02")
    assert (release(), dag_row(dags)[0]) == (1, True)


def abandon(metadata: Metadata) -> None:
    """Nobody has worked on any request for a while."""
    with metadata.engine.begin() as at:
        at.execute(update(models.Request).values(written_at=LONG_AGO))


OTHER_OUTLETS = {
    "another name": DAGS.replace("flights = Asset(", "flights = Asset('flights2') or Asset("),
    "one more, known for longer": DAGS.replace("outlets=[flights]", "outlets=[flights, Asset('older')]"),
}


@pytest.mark.parametrize("change", OTHER_OUTLETS)
def test_d4_a_request_is_found_whatever_its_dag_writes_by_now(metadata: Metadata, tmp_path: Path, change: str) -> None:
    metadata.asset("older")
    metadata.parse(tmp_path, dags=DAGS)
    assert dag_row(metadata)[0]
    request = materialize("flights", "2013-03-01..2013-03-03", WHILE_PAUSED)
    metadata.parse(tmp_path, dags=OTHER_OUTLETS[change])
    assert read_request(request.id) == request
    assert answer(ShowRequest(request=request.id))["state"] == "running"
    assert one_round().problems == ()
    assert held_dags(["flights"]) == {"flights": (request.id,)}
    assert (dag_row(metadata)[0], {run.state for run in runs(metadata)}) == (False, {"queued"})
    assert pause(request.id).state == "paused"
    assert resume(request.id).state == "running"
    assert cancel(request.id).state == "cancelled"
    assert release() == 1


def test_d4_no_runs_are_created_for_what_the_dag_makes_no_more(
    dags: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = interrupted("2013-03-01", monkeypatch)
    dags.parse(tmp_path, dags=OTHER_OUTLETS["another name"])
    with pytest.raises(NotReadyError, match="Dag flights makes no partitions of asset 'flights' any more"):
        resume(number)
    assert (runs(dags), cancel(number).state) == ([], "cancelled")


def damage(metadata: Metadata, number: int, column: str = "selection", value: Any = None) -> None:
    with metadata.engine.begin() as at:
        values = {column: {"version": 99} if value is None else value}
        at.execute(update(models.Request).where(models.Request.id == number).values(values))


@pytest.mark.parametrize(("column", "value"), [("selection", {"version": 99}), ("selection", []), ("concurrency", 0)])
def test_d2_a_request_that_cant_be_read_keeps_no_other_from_being_listed(
    dags: Metadata, column: str, value: Any
) -> None:
    damaged, other = materialize("flights", "2013-03-01"), materialize("flights", "2013-03-02")
    damage(dags, damaged.id, column, value)
    problems = {each["id"]: each["problem"] for each in answer(ListRequests())["requests"]}
    assert (list(problems), problems[other.id]) == ([other.id, damaged.id], None)
    assert f"request {damaged.id} of Dag flights can't be read" in problems[damaged.id]
    assert answer(ShowRequest(request=damaged.id))["problem"] == problems[damaged.id]
    (problem,) = [each for each in answer(ListProblems())["problems"] if each["kind"] == "cell"]
    assert (problem["is_error"], f"request {damaged.id} of Dag flights" in problem["text"]) == (True, True)
    materialize("flights", "2013-03-03")


@pytest.mark.parametrize("column", [models.Request.selection, models.Request.conf], ids=["selection", "conf"])
def test_a_request_that_is_no_json_keeps_no_other_from_being_read_and_can_be_cancelled(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch, column: Any
) -> None:
    damaged, other = interrupted("2013-03-01..2013-03-04", monkeypatch), materialize("flights", "2013-03-05")
    dags.break_form(column, models.Request.id == damaged)
    listed = answer(ListRequests())["requests"]
    assert [(each["id"], each["problem"] is None) for each in listed] == [(other.id, True), (damaged, False)]
    (problem,) = [each for each in answer(ListProblems())["problems"] if each["kind"] == "cell"]
    assert f"cancel it: airflow asset-partitions cancel {damaged}; or mend or delete its row" in problem["text"]
    for change in (pause, resume, retry, progress):
        with pytest.raises(UnknownRequestError, match=r"can't be read, and counts as not there: .*'\[111"):
            change(damaged)
    assert answer(CancelRequest(request=damaged, dry_run=True))["state"] == "creating"
    cancelled = answer(CancelRequest(request=damaged))
    assert (cancelled["state"], cancelled["selection"], cancelled["partitions"]) == ("cancelled", "", 3)
    assert [each for each in answer(ListProblems())["problems"] if each["kind"] == "cell"] == []
    with pytest.raises(NotReadyError, match="is cancelled, so it can't be cancelled"):
        cancel(damaged)
    abandon(dags)
    assert (one_round().problems, len(runs(dags))) == ((), 1)


def test_a_hold_for_a_request_that_cant_be_read_ends_when_that_is_cancelled(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause_dag(dags, "flights", True)
    number = interrupted("2013-03-01", monkeypatch, WHILE_PAUSED)
    damage(dags, number)
    assert (release(), dag_row(dags)[0]) == (0, False)
    assert cancel(number).state == "cancelled"
    assert (release(), dag_row(dags)[0]) == (1, True)


def test_d3_eb13_a_request_that_cant_be_read_keeps_no_other_dag_held(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pause_dag(dags, "flights", True)
    damaged = interrupted("2013-03-01", monkeypatch, WHILE_PAUSED)
    damage(dags, damaged)
    abandon(dags)
    pause_dag(dags, "carriers", True)
    materialize("carriers", "AA", WHILE_PAUSED)
    finish(dags)
    problems: list[str] = []
    assert release_ended(problems.append) == 1
    assert (problems, dag_row(dags, "carriers")[0], held_dags(["carriers"])) == ([], True, {})
    assert held_dags(["flights"]) == {"flights": (damaged,)}
    work = Upkeep(wait=True)
    assert len(work.round().problems) == 1
    assert work.round().problems == ()
    assert "can't be read" not in caplog.text  # told once, by the rounds


def test_what_holds_a_dag_is_kept(dags: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.models.backfill import Backfill

    pause_dag(dags, "flights", True)
    request = materialize("flights", "2013-03-01", WHILE_PAUSED)
    finish(dags)
    with dags.engine.begin() as at:
        at.execute(update(Backfill).values(completed_at=request.at.replace(year=2024)))
    assert delete_old_requests() == 0
    assert release() == 1
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__KEEP_REQUESTS", "3650")
    assert delete_old_requests() == 0
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__KEEP_REQUESTS", "1")
    assert delete_old_requests() == 1
    assert list(requests_of(None)) == []


def test_a_number_that_airflow_gives_again_is_that_of_the_new_request(dags: Metadata) -> None:
    from airflow.models.backfill import Backfill, BackfillDagRun
    from airflow.models.dagrun import DagRun, DagRunNote
    from airflow.models.taskinstance import TaskInstance

    pause_dag(dags, "carriers", True)
    first = materialize("carriers", "AA", WHILE_PAUSED)
    with dags.engine.begin() as at:
        for table in (BackfillDagRun, DagRunNote, TaskInstance, DagRun, Backfill):
            at.execute(table.__table__.delete())
    with pytest.raises(UnknownRequestError):
        read_request(first.id)
    with dags.engine.begin() as at:  # one that was asked of Airflow, of another Dag
        values = {"id": first.id, "dag_id": "flights", "from_date": first.at, "to_date": first.at, "max_active_runs": 1}
        at.execute(insert(Backfill).values(**values, reprocess_behavior="none", dag_run_conf=json.loads("{}")))
    assert list(requests_of(None)) == []
    with pytest.raises(UnknownRequestError):
        read_request(first.id)
    with dags.engine.begin() as at:
        at.execute(Backfill.__table__.delete())
    second = materialize("flights", "2013-03-01")
    if dags.engine.dialect.name == "sqlite":
        assert second.id == first.id
    assert list(requests_of(None)) == [second]
    assert release() == 1


def test_requests_are_read_page_by_page(dags: Metadata) -> None:
    from airflow_partitions.operate.requests import request_rows

    numbers = [materialize("flights", f"2013-03-0{day}", by=f"user {day}").id for day in range(1, 8)]
    other = materialize("carriers", "AA").id
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_rows, "_AT_ONCE", 3)
        assert [each.id for each in requests_of(None)] == [other, *reversed(numbers)]
        assert [each.id for each in requests_of(["flights"], before=numbers[-1])] == numbers[-2::-1]
        patch.setattr(request_rows, "MOST_PARAMETERS", 0)
        assert [each.id for each in requests_of(["flights"])] == numbers[::-1]
        assert list(requests_of([])) == []
    assert (request_by("user 3"), request_by("nobody")) == (numbers[2], None)
    with dags.engine.connect() as at:
        assert at.scalars(select(models.Request.partitions)).all() == [1] * 8
