"""Requests as they are watched, paused, cancelled and retried."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.models.backfill import BackfillDagRun
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from airflow_partitions.core.errors import NotReadyError, OverlapError, UnknownRequestError
from airflow_partitions.engine.database import models
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.requests import control
from airflow_partitions.operate.requests import materialize as module
from airflow_partitions.operate.requests.control import cancel, pause, resume, retry
from airflow_partitions.operate.requests.progress import progress
from airflow_partitions.operate.requests.request_rows import requests_of
from airflow_partitions.operate.requests.stop_at_failure import on_dag_run_failed
from airflow_partitions.operate.upkeep.unfinished_requests import delete_old_requests, finish_requests
from tests.metadata import Metadata
from tests.operate.requests.test_materialize import dags, finish, materialize, runs

__all__ = ["dags"]


def startable(metadata: Metadata) -> list[str]:
    """The keys of the runs that Airflow's scheduler would start, in its order."""
    from airflow.models.dagrun import DagRun

    with Session(metadata.engine) as at:
        return [str(run.partition_key) for run in DagRun.get_queued_dag_runs_to_set_running(at)]


def fail(metadata: Metadata, key: str) -> None:
    """End a run as the scheduler does."""
    from airflow.models.dagrun import DagRun

    finish(metadata, "failed", key)
    with Session(metadata.engine) as at:
        on_dag_run_failed(at.scalars(select(DagRun).where(DagRun.partition_key == key)).one(), "")
        at.commit()


def test_progress_counts_runs_by_their_state(dags: Metadata) -> None:
    request = materialize("flights", "2013-03-01..2013-03-05", RunOptions(concurrency=2, label="fill"))
    assert (progress(request.id).state, progress(request.id).runs) == ("running", {"queued": 4})
    finish(dags, "success", "2013-03-01", "2013-03-02")
    finish(dags, "failed", "2013-03-03")
    now = progress(request.id)
    assert (now.state, now.finished, now.runs) == ("running", 3, {"success": 2, "failed": 1, "queued": 1})
    finish(dags, "success", "2013-03-04")
    form = progress(request.id).to_json()
    assert (form["id"], form["state"], form["partitions"]) == (request.id, "failed", 4)
    assert (form["selection"], form["options"]["label"]) == ("2013-03-01..2013-03-05", "fill")
    finish(dags)
    assert progress(request.id).state == "done"
    assert list(requests_of(["flights"])) == [request]
    with pytest.raises(UnknownRequestError, match="there is no request 12345"):
        progress(12345)


def test_what_ended_long_ago_is_deleted_and_what_is_open_is_kept(dags: Metadata) -> None:
    from airflow.models.backfill import Backfill
    from airflow.models.dagrun import DagRun

    old, gone, recent, still_open = (materialize("flights", f"2013-03-0{day}").id for day in range(1, 5))
    with dags.engine.begin() as at:
        for number, days in ((old, 400), (recent, 300)):
            ended = datetime.now(UTC) - timedelta(days=days)
            at.execute(update(Backfill).where(Backfill.id == number).values(completed_at=ended))
        at.execute(update(BackfillDagRun).where(BackfillDagRun.backfill_id == gone).values(backfill_id=recent))
        at.execute(update(DagRun).where(DagRun.backfill_id == gone).values(backfill_id=None))
        at.execute(delete(Backfill).where(Backfill.id == gone))
    assert delete_old_requests() == 2
    assert [request.id for request in requests_of(["flights"])] == [still_open, recent]
    with dags.engine.connect() as at:
        assert set(at.scalars(select(models.Request.id))) == {recent, still_open}
    assert delete_old_requests() == 0


def test_the_scheduler_starts_requested_runs_in_order_after_scheduled_ones(dags: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    materialize("flights", "2013-03-01..2013-03-04", RunOptions(newest_first=True))
    materialize("flights", "2013-05-01")
    with dags.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.partition_key == "2013-05-01").values(backfill_id=None))
    assert startable(dags) == ["2013-05-01", "2013-03-03", "2013-03-02", "2013-03-01"]


def test_a_paused_request_begins_nothing_until_it_is_resumed(dags: Metadata) -> None:
    request = materialize("flights", "2013-03-01..2013-03-04")
    assert pause(request.id).state == "paused"
    assert startable(dags) == []
    assert resume(request.id).state == "running"
    assert len(startable(dags)) == 3
    finish(dags)
    with pytest.raises(NotReadyError, match="is done, so it can't be paused"):
        pause(request.id)


def test_a_failure_stops_a_request_that_asks_for_it(dags: Metadata) -> None:
    request = materialize("flights", "2013-03-01..2013-03-04", RunOptions(stop_at_failure=True))
    other = materialize("flights", "2013-05-01..2013-05-04")
    fail(dags, "2013-03-02")
    fail(dags, "2013-05-02")
    assert progress(request.id).state == "stopped"
    assert progress(other.id).state == "running"
    assert startable(dags) == ["2013-05-01", "2013-05-03"]
    assert resume(request.id).state == "running"
    assert len(startable(dags)) == 4


def test_cancel_lets_queued_runs_fail_and_running_ones_go_on(dags: Metadata) -> None:
    request = materialize("flights", "2013-03-01..2013-03-05")
    finish(dags, "success", "2013-03-01")
    finish(dags, "running", "2013-03-02")
    cancelled = cancel(request.id)
    assert (cancelled.state, cancelled.runs) == ("cancelled", {"success": 1, "running": 1, "failed": 2})
    assert startable(dags) == []
    with pytest.raises(NotReadyError, match="is cancelled"):
        resume(request.id)
    materialize("flights", "2013-03-03")  # free again


def test_retry_clears_what_failed_and_nothing_else(dags: Metadata) -> None:
    request = materialize("flights", "2013-03-01..2013-03-05")
    with pytest.raises(NotReadyError, match="no run of request"):
        retry(request.id)
    finish(dags)
    finish(dags, "failed", "2013-03-02", "2013-03-04")
    again = retry(request.id)
    assert (again.state, again.runs) == ("running", {"success": 2, "queued": 2})
    assert [(run.partition_key, run.clear_number) for run in runs(dags)] == [
        ("2013-03-01", 0), ("2013-03-02", 1), ("2013-03-03", 0), ("2013-03-04", 1)
    ]  # fmt: skip
    assert startable(dags) == ["2013-03-02", "2013-03-04"]


def test_eo11_upkeep_goes_on_with_a_retry_whose_process_was_killed(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    monkeypatch.setattr(control, "_PORTION", 2)
    request = materialize("flights", "2013-03-01..2013-03-08")
    finish(dags)
    failed = [f"2013-03-0{day}" for day in range(1, 7)]
    finish(dags, "failed", *failed)
    clear, cleared = control.clear_runs, list[int]()

    def clear_some(session: Any, request: Any, runs: Any) -> None:
        if len(cleared) == 2:
            raise Killed
        cleared.append(len(runs))
        clear(session, request, runs)

    monkeypatch.setattr(control, "clear_runs", clear_some)
    with pytest.raises(Killed):
        retry(request.id)
    assert startable(dags) == failed[:4]
    finish(dags, "success", *failed[:4])
    assert progress(request.id).state == "creating"  # and so it holds its Dag, if that is paused
    monkeypatch.setattr(control, "clear_runs", clear)
    problems: list[str] = []
    assert finish_requests(problems.append) == 0  # somebody may be at work on it still
    assert finish_requests(problems.append, abandoned=timedelta(seconds=-1)) == 1, problems
    assert startable(dags) == failed[4:]
    assert progress(request.id).state == "running"
    assert finish_requests(problems.append, abandoned=timedelta(seconds=-1)) == 0
    finish(dags)
    assert (progress(request.id).state, progress(request.id).runs) == ("done", {"success": 7})


def test_what_a_later_request_makes_again_leaves_the_earlier_one_done(dags: Metadata) -> None:
    request = materialize("flights", "2013-03-01..2013-03-05")
    finish(dags)
    later = materialize("flights", "2013-03-02")
    assert (progress(request.id).state, progress(request.id).runs) == ("done", {"success": 3, "again": 1})
    assert (progress(later.id).state, progress(later.id).runs) == ("running", {"queued": 1})


def test_what_was_cancelled_while_its_runs_were_created_is_retried_whole(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    monkeypatch.setattr(module, "PORTION", 2)
    make: Any = module.make_runs

    def make_some(*arguments: Any) -> None:
        if arguments[-1] > 4:
            raise Killed
        make(*arguments)

    monkeypatch.setattr(module, "make_runs", make_some)
    with pytest.raises(Killed):
        materialize("flights", "2013-03")
    (request,) = requests_of(["flights"])
    assert (request.created, progress(request.id).state) == (4, "creating")
    assert pause(request.id).state == "paused"
    monkeypatch.setattr(module, "make_runs", make)
    assert module.create_runs(request).created == 4  # nothing new while it is paused
    assert cancel(request.id).state == "cancelled"
    other = materialize("flights", "2013-03-20..2013-03-22")
    with pytest.raises(OverlapError) as error:
        materialize("flights", "2013-03-21")
    assert error.value.request == other.id
    again = retry(request.id)
    assert (again.state, again.runs) == ("running", {"queued": 29, "elsewhere": 2})
    assert len(runs(dags)) == 31
