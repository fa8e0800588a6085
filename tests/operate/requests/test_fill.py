"""Several assets filled over one stretch of time, by one plan."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.event import listen, remove

from airflow_partitions.core.errors import InvalidRequestError, RequestSizeError, UnknownAssetError
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.contract.requests import ListRequests
from airflow_partitions.operate.operations import answer
from tests.metadata import Metadata

DAGS = """
HOURS = PartitionByInterval("@hourly", start="2013-01-01")
MONTHS = PartitionByInterval("@monthly", start="2013-01-01")
FROM = PartitionByInterval("@daily", start="2013-01-01")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")

@asset(schedule="@hourly", partition=HOURS, tags=["team-a"])
def hours(): ...

@asset(schedule=hours, partition=FROM)
def days(): ...

@asset(schedule=days, partition=MONTHS)
def months(): ...

weather = Asset("weather")

@asset(schedule=hours & weather, partition=FROM, upstreams={"weather": FROM})
def joined(): ...

@asset(schedule="@daily", partition=PartitionByProduct([FROM, AIRPORTS]))
def airports(): ...

@asset(schedule=None, partition=AIRPORTS)
def lists(): ...

@asset(schedule="@daily", partition=FROM)
def paused(): ...
"""
MANY = """
FROM = PartitionByInterval("@daily", start="2013-01-01")
for number in range(12):
    own = Asset(f"many_{number}")
    upstream = Asset.ref(name=f"many_{number - 1}") if number % 3 else None
    with DAG(own.name, schedule=Partitioned(upstream, FROM, asset=own)):
        EmptyOperator(task_id="write", outlets=[own])
"""
HOURS = [f"2013-01-{day:02}T{hour:02}:00Z" for day in range(1, 4) for hour in range(24)]
SPAN = {"since": "2013-01-01T00:00Z", "until": "2013-01-04T00:00Z"}


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, dags=DAGS)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=DagModel.dag_id == "paused"))
    return metadata


def tried(**asked: Any) -> dict[str, Any]:
    """What would be asked for in the three days."""
    filled: dict[str, Any] = answer(FillAssets(**SPAN | {"dry_run": True} | asked))
    assert filled["requests"] == []
    return filled


def left_out(filled: dict[str, Any]) -> dict[str, str]:
    """Why assets are left out, by name."""
    return {each["asset"]: each["why"] for each in filled["left_out"]}


def steps(filled: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """By asset, in order: what is made, and what of it begins at once."""
    return {step["asset"]: (step["selection"], step["begins"]) for step in filled["plan"]["steps"]}


def test_a_plan_of_many_assets_reads_dags_and_ledgers_at_once_and_locks_nothing(
    metadata: Metadata, tmp_path: Path
) -> None:
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, many=MANY)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    statements: list[str] = []

    def note(*of: Any) -> None:
        statements.append(of[2])

    def planned(number: int) -> list[str]:
        statements.clear()
        filled = tried(asset=[f"many_{i}" for i in range(number)])
        assert (len(filled["plan"]["steps"]), filled["left_out"]) == (number, [])
        return list(statements)

    planned(12)  # what is kept of Dags is there now
    listen(metadata.engine, "before_cursor_execute", note)
    few, many = planned(4), planned(12)
    remove(metadata.engine, "before_cursor_execute", note)
    for table in ("serialized_dag", "task_outlet_asset_reference"):
        assert sum(f"FROM {table}" in one for one in few) == sum(f"FROM {table}" in one for one in many), table
    assert len(many) - len(few) <= 7 * (12 - 4)  # what each has cost, and whether something is in its way
    assert not any(one.startswith(("UPDATE", "INSERT")) for one in many)


def test_what_is_upstream_is_asked_for_and_what_is_made_of_it_follows(estate: Metadata) -> None:
    estate.emit("hours", *HOURS[:30])
    filled = tried(asset=["days", "hours"])
    assert list(steps(filled).items()) == [
        ("hours", ("2013-01-02T06:00Z..2013-01-04", "2013-01-02T06:00Z..2013-01-04")),
        ("days", ("2013-01-01..2013-01-04", "2013-01-01")),  # its hours are all there
    ]
    assert (filled["plan"]["lacking"], left_out(filled)) == ({}, {})
    assert (filled["start"], filled["end"]) == ("2013-01-01T00:00:00+00:00", "2013-01-04T00:00:00+00:00")


def test_what_lacks_something_that_is_not_planned_is_not_asked_for(estate: Metadata) -> None:
    estate.emit("hours", *HOURS[:30])
    filled = tried(asset=["days", "months", "joined"], until="2013-02-01T00:00Z")
    assert steps(filled) == {"days": ("2013-01-01", "2013-01-01")}
    assert set(filled["plan"]["lacking"]) == {"hours", "days", "weather"}
    assert filled["plan"]["lacking"]["hours"].startswith("2013-01-02T06:00Z..")


def test_all_assets_that_fit_are_filled_and_one_that_can_not_be_keeps_none_from_it(estate: Metadata) -> None:
    estate.emit("lists", "EWR")
    filled = tried()
    assert list(steps(filled)) == ["airports", "hours", "days", "lists"]
    assert steps(filled)["lists"] == ("JFK", "JFK")
    assert steps(filled)["airports"][0] == "2013-01-01..2013-01-04"
    assert "Dag paused is paused" in left_out(filled)["paused"]
    assert list(steps(tried(tag="team-a"))) == ["hours"]
    assert list(steps(tried(search="AIR"))) == ["airports"]
    assert set(steps(tried(dag="hours"))) == {"hours", "days"}
    assert "paused" in steps(tried(while_paused=True))


def test_an_asset_that_can_not_be_told_of_is_left_out(estate: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.operate.states.asset_states import AssetStates

    stretches = AssetStates.stretches

    def broken(self: AssetStates, selection: Any) -> Any:
        if self.asset.name == "airports":
            raise ValueError("bad cell")
        return stretches(self, selection)

    monkeypatch.setattr(AssetStates, "stretches", broken)
    filled = tried(asset=["airports", "hours"])
    assert left_out(filled) == {"airports": "what is to be filled can't be told: ValueError: bad cell"}
    assert list(steps(filled)) == ["hours"]


def test_only_in_the_states_that_are_asked_for(estate: Metadata) -> None:
    estate.emit("hours", *HOURS)
    assert steps(tried(asset=["hours"], states=["materialized"])) == {
        "hours": ("2013-01-01..2013-01-04", "2013-01-01..2013-01-04")
    }
    with pytest.raises(RequestSizeError, match=r"of 1 assets none has a partition .* and is failed"):
        tried(asset=["hours"], states=["failed"])


def test_it_is_asked_for_once_and_what_others_ask_for_is_left_out(estate: Metadata) -> None:
    estate.emit("hours", *HOURS[:48])
    filled = answer(FillAssets(**SPAN, asset=["hours", "days"], label="night"))
    assert [(one["asset"], one["partitions"], one["options"]["label"]) for one in filled["requests"]] == [
        ("hours", 24, "night"),
        ("days", 2, "night"),
    ]
    requests = answer(ListRequests())["requests"]
    assert sorted(one["created"] for one in requests) == [2, 24]
    with pytest.raises(RequestSizeError, match="none has a partition"):  # all are queued now, or follow
        answer(FillAssets(**SPAN, asset=["hours"]))


def test_a_request_meanwhile_leaves_out_its_asset_alone(estate: Metadata) -> None:
    from airflow_partitions.operate.operations import fill as operation

    begin_fill = operation.begin_fill

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        patch.undo()
        answer(FillAssets(**SPAN, asset=["hours"]))
        return begin_fill(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operation, "begin_fill", meanwhile)
        filled = answer(FillAssets(**SPAN, asset=["hours", "airports"]))
    assert [one["asset"] for one in filled["requests"]] == ["airports"]
    assert re.search(
        r"72 of the 72 partitions are being made already .* of request \d+; wait for it", left_out(filled)["hours"]
    )


def test_who_may_start_some_dags_only_fills_these(estate: Metadata) -> None:
    class Guest(Asker):
        readable = frozenset({"hours", "days", "airports"})

        def startable(self, dag_ids: Any) -> Any:
            return set(dag_ids) & {"hours"}

    filled = answer(FillAssets(**SPAN, dry_run=True), Guest())
    assert list(steps(filled)) == ["hours"]
    assert left_out(filled)["airports"] == "you may not start runs of Dag airports, which makes it"
    assert "paused" not in left_out(filled)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"since": "2013-01-05T00:00Z"}, InvalidRequestError, "is not before until="),
        ({"asset": ["hour"]}, UnknownAssetError, "hours"),
        ({"since": "yesterdayish"}, InvalidRequestError, "yesterdayish"),
    ],
)
def test_what_can_not_be_meant_is_refused(estate: Metadata, asked: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        tried(**asked)
