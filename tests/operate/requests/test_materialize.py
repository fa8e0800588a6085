"""Partitions asked for: a run for each, exactly once, on Airflow's own tables."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import case, inspect, select, text, update

from airflow_partitions.core.dependencies import parse_selection
from airflow_partitions.core.errors import (
    InvalidDefinitionError,
    InvalidKeyError,
    NotReadyError,
    OverlapError,
    RequestSizeError,
    SelectionError,
    UnknownAssetError,
)
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.operate.requests import materialize as module
from airflow_partitions.operate.requests.materialize import create_runs
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.request_rows import read_request, requests_of
from tests.metadata import Metadata

DAGS = """
from airflow.sdk import Param

flights = Asset("flights")
carriers = Asset("carriers")
plain = Asset("plain")

with DAG("flights", schedule=Partitioned("@daily", PartitionByInterval("@daily", start="2013-01-01"), asset=flights)):
    EmptyOperator(task_id="load") >> EmptyOperator(task_id="check") >> EmptyOperator(task_id="make", outlets=[flights])

with DAG("carriers", schedule=Partitioned("@daily", PartitionBySequence(["AA", "B6", "DL"]), asset=carriers),
         params={"rate": Param(1, type="integer", minimum=0)}):
    EmptyOperator(task_id="make", outlets=[carriers])
"""


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(tmp_path, dags=DAGS)
    pause(metadata, "flights", False)
    pause(metadata, "carriers", False)
    return metadata


def materialize(name: str, text: str, options: RunOptions | None = None, *, by: str = "ann") -> Request:
    asset = partitioned_asset(name)
    selection = parse_selection(asset.definition, text, closed_by=datetime.now(UTC))
    return module.materialize(asset, selection, options, by=by)


def pause(metadata: Metadata, dag_id: str, paused: bool) -> None:
    from airflow.models.dag import DagModel

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=paused))


def runs(metadata: Metadata, dag_id: str = "flights") -> list[Any]:
    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        return list(at.execute(select(DagRun.__table__).where(DagRun.dag_id == dag_id).order_by(DagRun.id)))


def finish(metadata: Metadata, state: str = "success", *keys: str) -> None:
    """End runs as Airflow does, with their tasks."""
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance as Task

    begun = case((Task.try_number == 0, 1), else_=Task.try_number)
    with metadata.engine.begin() as at:
        which = [DagRun.partition_key.in_(keys)] if keys else []
        ids = at.scalars(select(DagRun.run_id).where(*which)).all()
        at.execute(update(DagRun).where(DagRun.run_id.in_(ids)).values(state=state, start_date=DagRun.run_after))
        at.execute(update(Task).where(Task.run_id.in_(ids), is_live(Task)).values(state=state, try_number=begun))


def test_a_request_makes_a_run_for_each_partition(dags: Metadata) -> None:
    from airflow.models.backfill import Backfill, BackfillDagRun
    from airflow.models.dagrun import DagRunNote
    from airflow.models.taskinstance import TaskInstance

    request = materialize("flights", "2013-03-01..2013-03-04, 2013-03-10", RunOptions(label="repair"))
    made = runs(dags)
    assert [run.partition_key for run in made] == ["2013-03-01", "2013-03-02", "2013-03-03", "2013-03-10"]
    assert {run.state for run in made} == {"queued"}
    assert [f"{run.partition_date:%Y-%m-%d}" for run in made] == [run.partition_key for run in made]
    assert {(run.run_type, run.backfill_id, run.triggering_user_name) for run in made} == {
        ("backfill", request.id, "ann")
    }
    with dags.engine.connect() as at:
        tasks = Counter(at.scalars(select(TaskInstance.task_id)))
        backfill = at.execute(select(Backfill.__table__)).one()
        ordinals = at.execute(select(BackfillDagRun.partition_key, BackfillDagRun.sort_ordinal)).all()
        notes = list(at.scalars(select(DagRunNote.content)))
    assert tasks == {"load": 4, "check": 4, "make": 4}
    assert (backfill.id, backfill.max_active_runs, backfill.completed_at) == (request.id, 16, None)
    assert f"{backfill.from_date:%m-%d} {backfill.to_date:%m-%d}" == "03-01 03-11"
    assert sorted(ordinals, key=lambda row: row[1]) == [(run.partition_key, i) for i, run in enumerate(made, 1)]
    assert f"Request {request.id}: repair" in notes[0]
    assert "2013-03-01" in notes[0]
    assert read_request(request.id) == request


def test_a_partition_with_a_run_gets_a_new_try_of_it(dags: Metadata) -> None:
    from airflow.models.taskinstance import TaskInstance

    materialize("flights", "2013-03")
    finish(dags)
    second = materialize("flights", "2013-03-30..2013-04-03", RunOptions(conf={"full": True}))
    made = runs(dags)
    assert len(made) == 33
    again = [run for run in made if run.backfill_id == second.id]
    tries = [("2013-03-30", 1), ("2013-03-31", 1), ("2013-04-01", 0), ("2013-04-02", 0)]
    assert [(run.partition_key, run.clear_number) for run in again] == tries
    assert {run.state for run in again} == {"queued"}
    assert [run.conf for run in again] == [{"full": True}] * 4
    with dags.engine.connect() as at:
        states = Counter(at.scalars(select(TaskInstance.state).where(is_live(TaskInstance))))
        assert states == {"success": 29 * 3, None: 4 * 3}
        kept = "task_instance_history" if inspect(at).has_table("task_instance_history") else "task_instance"
        ended = "state is not null" if kept == "task_instance_history" else "working_set is null"  # since Airflow 3.4
        assert at.scalar(text(f"select count(*) from {kept} where {ended}")) == 6


def test_no_two_runs_of_a_request_were_asked_for_at_the_same_moment(dags: Metadata, tmp_path: Path) -> None:
    product = """
    DAYS = PartitionByInterval("@daily", timezone="America/New_York", name="day")
    AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")

    @asset(schedule=None, is_paused_upon_creation=False, partition=PartitionByProduct([DAYS, AIRPORTS]))
    def airport_days(): ...
    """
    dags.parse(tmp_path, dags=DAGS, product=product)
    materialize("carriers", "all")
    materialize("airport_days", "2013-03-10..2013-03-12")
    days = [run.run_after for run in runs(dags, "airport_days")]
    assert (len(set(days)), {at.date().isoformat() for at in days}) == (4, {"2013-03-11", "2013-03-12"})
    assert len({run.run_after for run in runs(dags, "carriers")}) == 3


def test_one_run_of_a_batch_begins_however_many_are_asked_for_at_a_time(dags: Metadata, tmp_path: Path) -> None:
    from airflow.models.backfill import Backfill

    batched = """
    @asset(schedule=None, is_paused_upon_creation=False, partition=PartitionByInterval("@daily"), batch=10)
    def batched_days(): ...
    """
    dags.parse(tmp_path, dags=DAGS, batched=batched)
    materialize("batched_days", "2013-03-01..2013-03-04", RunOptions(concurrency=8))
    with dags.engine.connect() as at:
        assert at.scalar(select(Backfill.max_active_runs)) == 1


def test_the_newest_scheduled_run_keeps_its_place_in_the_schedule(dags: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    materialize("flights", "2013-03-01..2013-03-04")
    finish(dags)
    with dags.engine.begin() as at:
        at.execute(update(DagRun).values(run_type="scheduled"))
    materialize("flights", "2013-03-01..2013-03-04")
    assert [run.run_type for run in runs(dags)] == ["backfill", "backfill", "scheduled"]


def test_newest_first(dags: Metadata) -> None:
    materialize("flights", "2013-03-01..2013-03-04", RunOptions(newest_first=True))
    assert [run.partition_key for run in runs(dags)] == ["2013-03-03", "2013-03-02", "2013-03-01"]


def test_partitions_without_time(dags: Metadata) -> None:
    materialize("carriers", "AA, DL")
    assert [(run.partition_key, run.partition_date) for run in runs(dags, "carriers")] == [("AA", None), ("DL", None)]


def test_an_overlapping_request_names_the_first_one(dags: Metadata) -> None:
    first = materialize("flights", "2013-03")
    with pytest.raises(OverlapError, match=r"2 of the 12 partitions .* \(2013-03-30..2013-04-01\)") as error:
        materialize("flights", "2013-03-30..2013-04-11")
    assert error.value.request == first.id
    materialize("flights", "2013-04")  # beside it
    assert len(runs(dags)) == 61


def test_who_is_killed_in_the_middle_leaves_a_request_to_go_on_with(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    monkeypatch.setattr(module, "PORTION", 10)
    make, portions = module.make_runs, []

    def make_and_die(*arguments: Any) -> None:
        make(*arguments)
        portions.append(1)
        if len(portions) == 3:  # after all was written, before it was committed
            raise Killed

    monkeypatch.setattr(module, "make_runs", make_and_die)
    with pytest.raises(Killed):
        materialize("flights", "2013")
    assert len(runs(dags)) == 20
    with pytest.raises(OverlapError) as error:  # those without a run are asked for, too
        materialize("flights", "2013-12-31")
    finish(dags)
    assert error.value.request is not None
    request = read_request(error.value.request)
    assert create_runs(request).created == 365
    assert sorted(run.partition_key for run in runs(dags)) == [str(key) for key in request.selection]
    assert create_runs(read_request(request.id)).created == 365
    assert len(runs(dags)) == 365


def test_cleared_runs_carry_the_label_beside_what_a_person_wrote(dags: Metadata) -> None:
    from airflow.models.dagrun import DagRunNote

    materialize("flights", "2013-03-01..2013-03-03", RunOptions(label="first", conf={"rate": 1}))
    finish(dags)
    first, second = runs(dags)
    with dags.engine.begin() as at:
        at.execute(update(DagRunNote).where(DagRunNote.dag_run_id == second.id).values(content="ask Bob"))
    for label in ("again", "and again"):
        request = materialize("flights", "2013-03-01..2013-03-03", RunOptions(label=label))
        finish(dags)
        with dags.engine.connect() as at:
            notes = dict(at.execute(select(DagRunNote.dag_run_id, DagRunNote.content)).all())
        assert notes[second.id] == f"ask Bob\nRequest {request.id}: {label}"
        assert notes[first.id].startswith("Partition 2013-03-01: ")
        assert notes[first.id].endswith(f"\nRequest {request.id}: {label}")
    assert {str(run.conf) for run in runs(dags)} == {"{'rate': 1}"}


def test_another_definition_stops_a_request_only_where_it_lacks_its_keys(
    dags: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = module.make_runs
    monkeypatch.setattr(module, "PORTION", 10)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "make_runs", stop)
    with pytest.raises(KeyboardInterrupt):
        materialize("flights", "2013-03")
    monkeypatch.setattr(module, "make_runs", make)
    (request,) = requests_of(["flights"])
    dags.parse(tmp_path, dags=DAGS.replace('start="2013-01-01"', 'start="2013-03-15"'))
    with pytest.raises(InvalidDefinitionError, match="has other partitions now than when request"):
        create_runs(request)
    assert runs(dags) == []
    dags.parse(tmp_path, dags=DAGS.replace('start="2013-01-01"', 'start="2012-01-01"'))
    assert create_runs(request).created == 31


def test_of_several_dags_one_that_is_not_paused_makes_them_and_goes_on(dags: Metadata, tmp_path: Path) -> None:
    second = DAGS.replace('DAG("flights", schedule=Partitioned("@daily"', 'DAG("by_hand", schedule=Partitioned(None')
    dags.parse(tmp_path, second=second.partition('with DAG("carriers"')[0])
    pause(dags, "flights", True)
    pause(dags, "by_hand", False)
    asset = partitioned_asset("flights")
    request = module.ask(asset, parse_selection(asset.definition, "2013-03-01"), by="ann")
    assert request.dag_id == "by_hand"
    pause(dags, "flights", False)
    pause(dags, "by_hand", True)
    assert create_runs(read_request(request.id)).created == 1
    assert ([run.partition_key for run in runs(dags, "by_hand")], runs(dags)) == (["2013-03-01"], [])


def test_ten_callers_at_once_make_each_run_once(dags: Metadata) -> None:
    outcomes: list[Any] = []

    def ask(number: int) -> None:
        try:
            outcomes.append(materialize("flights", f"2013-03-{number + 1:02}..2013-03-{number + 11:02}"))
        except OverlapError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    requests = [outcome for outcome in outcomes if not isinstance(outcome, OverlapError)]
    assert len(outcomes) == 10
    assert len(requests) >= 1
    assert max(Counter(run.partition_key for run in runs(dags)).values()) == 1
    assert len(runs(dags)) == sum(len(request.selection) for request in requests)
    ids = {request.id for request in requests}
    assert {outcome.request for outcome in outcomes if isinstance(outcome, OverlapError)} <= ids


def test_what_can_not_be_asked_for(dags: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__MAX_REQUEST_SIZE", "1000")
    with pytest.raises(UnknownAssetError, match="nearest: flights"):
        materialize("flight", "2013-03-01")
    with pytest.raises(SelectionError, match="selects no partition"):
        materialize("flights", "2012")
    with pytest.raises(InvalidKeyError, match="is not over yet"):
        materialize("flights", "2100-01-01")
    with pytest.raises(RequestSizeError, match="1,095 partitions are selected; expected at most 1,000"):
        materialize("flights", "2013..2016")
    with pytest.raises(NotReadyError, match="does not fit the params of Dag carriers"):
        materialize("carriers", "AA", RunOptions(conf={"rate": -1}))
    pause(dags, "flights", True)
    with pytest.raises(NotReadyError, match="airflow dags unpause flights"):
        materialize("flights", "2013-03-01")
    assert not runs(dags)
