"""Plans: what a request would make, along the assets, in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from airflow_partitions.core.dependencies import parse_selection, selection_text
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, NotReadyError, RequestSizeError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.materialize import carry_out, create_runs
from airflow_partitions.operate.requests.plan import Plan, plan
from airflow_partitions.operate.requests.request_rows import requests_of
from airflow_partitions.operate.states import State
from tests.metadata import Metadata

DAGS = """
HOURS = PartitionByInterval("@hourly", start="2013-01-01")
MONTHS = PartitionByInterval("@monthly")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")

@asset(schedule="@hourly", partition=HOURS)
def hours(): ...

@asset(schedule=hours, partition=DAYS)
def days(): ...

@asset(schedule=days, partition=MONTHS)
def months(): ...

@asset(schedule=days, partition=DAYS, rerun="never")
def once(): ...

@asset(schedule=days & Asset.ref(name="once"), partition=DAYS)
def both(): ...

weather = Asset("weather")

@asset(schedule=hours & weather, partition=DAYS, upstreams={"weather": DAYS})
def joined(): ...

@asset(schedule=hours & Asset("rates"), partition=DAYS, rules={"rates": Unpartitioned()})
def rated(): ...

with DAG("report", schedule=Partitioned(Asset.ref(name="months"), MONTHS)):
    EmptyOperator(task_id="send")

@asset(schedule="@daily", partition=PartitionByProduct([DAYS, AIRPORTS]))
def airports(): ...

@asset(schedule="@hourly", partition=HOURS, batch=100)
def batched(): ...

@asset(schedule="@hourly", partition=HOURS, batch="auto")
def sized(): ...

@asset(schedule="@daily", partition=PartitionByProduct([DAYS, AIRPORTS]), limits={"airport": 2})
def limited(): ...

@asset(schedule="@daily", partition=PartitionByProduct([DAYS, AIRPORTS]), limits={"airport": "tower"})
def shared(): ...
"""
MARCH = [f"2013-03-{day:02}T{hour:02}:00Z" for day in range(1, 32) for hour in range(24)]


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Metadata:
    from airflow.models.dag import DagModel

    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__LIMITS", '{"tower": 3}')
    metadata.parse(tmp_path, dags=DAGS)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    return metadata


def made(name: str, text: str, **arguments: Any) -> Plan:
    asset = partitioned_asset(name)
    return plan(asset, parse_selection(asset.definition, text, closed_by=datetime.now(UTC)), **arguments)


def steps(a_plan: Plan) -> dict[str, tuple[str, str]]:
    """By Dag: what it makes, and what of it begins at once."""
    return {step.dag_id: (selection_text(step.selection), selection_text(step.begins)) for step in a_plan.steps}


def test_a_plan_of_one_asset(estate: Metadata) -> None:
    estate.emit("hours", *MARCH[:30])
    one = made("hours", "2013-03-01, 2013-03-02")
    assert steps(one) == {"hours": ("2013-03-01..2013-03-03", "2013-03-01..2013-03-03")}
    assert (one.asked.again, one.to_json()["partitions"]) == (30, 48)


def test_only_those_in_some_state(estate: Metadata) -> None:
    estate.emit("hours", *MARCH[:30])
    assert steps(made("hours", "2013-03-01..2013-03-03", states={State.MISSING})) == {
        "hours": ("2013-03-02T06:00Z..2013-03-03", "2013-03-02T06:00Z..2013-03-03")
    }
    with pytest.raises(RequestSizeError, match="none of the 48 selected partitions is failed"):
        made("hours", "2013-03-01..2013-03-03", states={State.FAILED})


def test_missing_upstream_first_and_what_follows_by_itself(estate: Metadata) -> None:
    estate.emit("hours", *MARCH[:30], *MARCH[72:])
    estate.emit("days", *(f"2013-03-{day:02}" for day in range(5, 32)))
    chain = made("months", "2013-03", upstream=True)
    assert steps(chain) == {
        "hours": ("2013-03-02T06:00Z..2013-03-04", "2013-03-02T06:00Z..2013-03-04"),
        # The first and the fourth have all they need; the others are made when the last of their hours is.
        "days": ("2013-03-01..2013-03-05", "2013-03-01, 2013-03-04"),
        "months": ("2013-03-01", ""),
    }
    assert [step.role for step in chain.steps] == ["upstream", "upstream", "asked"]
    assert steps(made("months", "2013-03")) == {"months": ("2013-03-01", "2013-03-01")}


def test_a_plan_is_carried_out_by_a_request_for_each_dag_of_which_something_begins(estate: Metadata) -> None:
    estate.emit("hours", *MARCH[:30], *MARCH[72:])
    estate.emit("days", *(f"2013-03-{day:02}" for day in range(5, 32)))
    requests = carry_out(made("months", "2013-03", upstream=True), RunOptions(label="march"), by="ann")
    assert [(request.dag_id, len(request.selection), request.options.label) for request in requests] == [
        ("hours", 42, "march"), ("days", 2, "march")
    ]  # fmt: skip
    for request in requests:
        create_runs(request)
    again = made("months", "2013-03", upstream=True)
    assert steps(again) == {"days": ("2013-03-02..2013-03-04", ""), "months": ("2013-03-01", "")}
    assert carry_out(again, by="ann") == ()


def test_nothing_is_asked_for_if_a_dag_of_the_plan_is_not_ready(estate: Metadata) -> None:
    from airflow.models.dag import DagModel

    estate.emit("hours", *MARCH[:24])
    chain = made("days", "2013-03-01..2013-03-03", upstream=True)
    with estate.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == "days").values(is_paused=True))
    with pytest.raises(NotReadyError, match="Dag days is paused"):
        carry_out(chain, by="ann")
    assert list(requests_of(None)) == []


def test_upstream_that_is_there_or_at_work_is_left_alone(estate: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    estate.emit("hours", *MARCH[:47])
    with estate.engine.begin() as at:
        row = {"dag_id": "hours", "run_id": "a", "partition_key": MARCH[47], "state": "running", "run_type": "manual"}
        at.execute(insert(DagRun.__table__).values(row | {"run_after": datetime.now(UTC), "clear_number": 0}))
    assert steps(made("days", "2013-03-01", upstream=True)) == {"days": ("2013-03-01", "2013-03-01")}
    assert steps(made("days", "2013-03-02", upstream=True)) == {"days": ("2013-03-02", "")}


def test_what_no_dag_makes_is_told(estate: Metadata) -> None:
    estate.emit("hours", *MARCH)
    chain = made("joined", "2013-03-01..2013-03-03", upstream=True)
    assert steps(chain) == {"joined": ("2013-03-01..2013-03-03", "2013-03-01..2013-03-03")}
    assert chain.to_json()["lacking"] == {"weather": "2013-03-01..2013-03-03"}
    with pytest.raises(NotReadyError, match="no Dag has a run for each partition of asset 'weather'"):
        made("weather", "2013-03-01")


def test_what_is_downstream(estate: Metadata) -> None:
    estate.emit("hours", *MARCH)
    days = [f"2013-03-{day:02}" for day in range(1, 32)]
    for name in ("days", "once"):
        estate.emit(name, *days)
    chain = made("hours", "2013-03-05T01:00Z", downstream=True)
    made_by = {dag_id: selected for dag_id, (selected, _) in steps(chain).items()}
    assert made_by == {
        "hours": "2013-03-05T01:00Z",
        "days": "2013-03-05",
        "months": "2013-03-01",
        "once": "",
        "both": "2013-03-05",
        "rated": "2013-03-05",
        "report": "2013-03-01",
    }
    by_dag = {step.dag_id: step for step in chain.steps}
    assert selection_text(by_dag["once"].stays) == "2013-03-05"
    assert by_dag["report"].asset is None
    assert not any(step.begins for step in chain.steps if step.role == "downstream")
    assert [step.dag_id for step in chain.steps][:2] == ["hours", "days"]


def test_what_waits_for_more_is_not_downstream(estate: Metadata) -> None:
    assert list(steps(made("hours", "2013-03-05T01:00Z", downstream=True))) == ["hours"]


def test_an_upstream_without_partitions_is_no_hindrance(estate: Metadata) -> None:
    estate.emit("hours", *MARCH[:24])
    estate.emit("rates", None)
    chain = made("rated", "2013-03-01..2013-03-03", upstream=True)
    assert steps(chain) == {
        "hours": ("2013-03-02", "2013-03-02"),
        "rated": ("2013-03-01..2013-03-03", "2013-03-01"),
    }


def test_costs_are_medians_of_recent_partitions(estate: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    now = datetime.now(UTC)
    for i, seconds in enumerate((10, 20, 600)):
        with estate.engine.begin() as at:
            at.execute(
                insert(DagRun.__table__).values(
                    dag_id="airports", run_id=str(i), state="success", run_type="manual", run_after=now,
                    start_date=now, end_date=now + timedelta(seconds=seconds), clear_number=0,
                )
            )  # fmt: skip
    for day, size in enumerate((100, 300, 200), 1):
        estate.emit("airports", f"2013-03-0{day}|JFK", extra={"bytes": size})
    form = made("airports", "2013-03-01..2013-03-11").to_json()
    assert (form["partitions"], form["seconds"], form["bytes"]) == (20, 400, 4000)
    assert made("hours", "2013-03-01").to_json()["seconds"] is None


@pytest.mark.parametrize(
    ("text", "again"), [("2013-03-01..2013-03-04", 3), ("2013-03 & airport = JFK", 2), ("2013-04", 0)]
)
def test_what_was_made_before_is_counted(estate: Metadata, text: str, again: int) -> None:
    estate.emit("airports", "2013-03-01|JFK", "2013-03-01|EWR", "2013-03-03|JFK")
    assert made("airports", text).asked.again == again


def test_the_tasks_of_batches_are_told(estate: Metadata) -> None:
    forms = {name: made(name, "2013-03-01..2013-03-11").to_json()["steps"][0] for name in ("batched", "sized", "hours")}
    assert {name: (form["batch"], form["tasks"]) for name, form in forms.items()} == {
        "batched": (100, 3),
        "sized": (16, 15),
        "hours": (1, 240),
    }


def test_how_many_runs_of_a_value_are_at_work_is_told(estate: Metadata) -> None:
    limits = {name: made(name, "2013-03-01").to_json()["steps"][0]["limits"] for name in ("limited", "shared", "hours")}
    assert limits == {"limited": {"airport": 2}, "shared": {"airport": 3}, "hours": {}}


def test_a_limit_that_airflow_lacks_is_told_by_plan_and_doctor(
    estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__LIMITS", '{"towers": 3}')
    with pytest.raises(InvalidDefinitionError, match="names no limit 'tower'; expected one of towers"):
        made("shared", "2013-03-01")
    problems = [one for one in answer(ListProblems(records=False))["problems"] if one["dag_id"] == "shared"]
    (problem,) = [one for one in problems if one["kind"] == "graph"]
    assert problem["is_error"]
    assert problem["text"].startswith("Dag 'shared' begins no runs: limits={'airport': 'tower'}: ")
    assert problem["text"].endswith("nearest: towers; restart the scheduler once it is there")


def test_limits(estate: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__MAX_REQUEST_SIZE", "1000")
    with pytest.raises(RequestSizeError, match="8,760 partitions are selected; expected at most 1,000"):
        made("hours", "2013")
    with pytest.raises(InvalidKeyError, match="is not over yet"):
        made("hours", "2100-01-01T00:00Z")


def test_en14_what_follows_for_the_first_time_is_downstream(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(
        tmp_path,
        shop="""
        DATES = PartitionByInterval("@daily", start="2026-11-01", name="date")
        BOTH = PartitionByProduct([DATES, PartitionBySequence(["eu", "us", "asia"], name="region")])

        @asset(schedule="@daily", partition=BOTH)
        def orders(): ...

        @asset(schedule=orders, partition=DATES)
        def revenue(): ...

        @asset(schedule=orders, partition=BOTH)
        def region_report(): ...

        @asset(schedule=orders, partition=PartitionAtRuntime(name="customers"))
        def customers(): ...

        @asset(schedule=revenue, partition=PartitionByInterval("0 0 * * 1", start="2026-11-02"))
        def weekly(): ...
        """,
    )
    orders = partitioned_asset("orders")
    week = parse_selection(orders.definition, "2026-11-02..2026-11-09")
    steps = plan(orders, week, downstream=True, now=datetime(2026, 11, 20, tzinfo=UTC)).steps
    assert {step.dag_id: len(step.selection) for step in steps} == {
        "orders": 21, "customers": 21, "region_report": 21, "revenue": 7, "weekly": 1
    }  # fmt: skip
