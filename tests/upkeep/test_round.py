"""A round of upkeep, whatever others have left in the cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.upkeep import one_round
from airflow_partitions.upkeep import round as round_of_upkeep
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly", start="2013-01-01")
DAG_FILE = """
@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", start="2013-01-01"))
def hours(partition): ...

@asset(schedule=hours, partition=PartitionByInterval("@daily", start="2013-01-01"))
def days(partition): ...
"""


def pause(metadata: Metadata, *, paused: bool) -> None:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=paused))


def test_forms_of_another_release_are_told_and_keep_nothing_else(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    metadata.emit("hours", "2013-01-01T00:00Z")
    metadata.emit("days", "2013-01-01")
    assert one_round().problems == ()
    for cell in ("ledger", "consumer/days"):
        metadata.put("hours", cell, metadata.cells("hours")[cell] | {"version": 2})
    metadata.emit("days", "2013-01-02")
    outcome = one_round()
    assert outcome.records == 1
    ledger, consumer = outcome.problems
    assert ledger.startswith("asset 'hours': the progress of a ledger has version 2; expected 1.")
    assert consumer.startswith(
        "Dag 'days': the last event that consumer 'days' has looked at has version 2; expected 1"
    )


@pytest.mark.parametrize("form", ["x", 7, [], {}, None, {"version": 1}, {"version": "1"}, [[[[]]]]], ids=repr)
@pytest.mark.parametrize("cell", ["ledger", "consumer/days", "record/", "page/"])
def test_ea2_one_bad_cell_is_told_and_keeps_nothing_from_being_done(
    metadata: Metadata, tmp_path: Path, cell: str, form: Any
) -> None:
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    hours = [str(key) for key in HOURS.keys("2013-01-01", "2013-01-02")]
    metadata.emit("hours", *hours)
    one_round()
    metadata.put("hours", next(iter(metadata.cells("hours", cell))), form)
    metadata.emit("hours", hours[0])
    metadata.emit("days", "2013-01-02")
    outcome = one_round()
    assert outcome.records == 2
    told = [problem for problem in outcome.problems if "can't be read, and counts as not there" in problem]
    assert len(told) == (cell != "page/" and form is not None)
    assert one_round().problems == ()
    assert metadata.pages("hours") == {"201301": hours}


@pytest.mark.parametrize("kind", [TypeError, KeyError, ZeroDivisionError])
def test_ea2_what_fails_for_one_asset_or_dag_keeps_not_the_others(
    metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    metadata.parse(tmp_path, files=DAG_FILE)
    pause(metadata, paused=False)
    metadata.emit("days", "2013-01-02")
    update: Any = round_of_upkeep.update_ledger

    def broken(asset: str, *rest: Any, **more: Any) -> Any:
        if asset == "hours":
            raise kind("something else")
        return update(asset, *rest, **more)

    def also_broken(*_: Any, **__: Any) -> Any:
        raise kind("something else")

    monkeypatch.setattr(round_of_upkeep, "update_ledger", broken)
    monkeypatch.setattr(round_of_upkeep, "catch_up", also_broken)
    outcome = one_round()
    assert outcome.records == 1
    assert [problem.partition(":")[0] for problem in outcome.problems] == ["asset 'hours'", "Dag 'days'"]
    assert all(kind.__name__ in problem for problem in outcome.problems)
