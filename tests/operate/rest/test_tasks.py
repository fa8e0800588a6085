"""Every task of a Dag, partition by partition, over REST."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event

from tests.metadata import Metadata
from tests.operate.rest.conftest import problem, unpause
from tests.operate.states.world import put_runs, put_tasks

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
LATER = BEGAN + timedelta(hours=1)
STEPS = """
with DAG("steps", schedule=Partitioned("@daily", PartitionByInterval("@daily", start="2013-01-01", end="2013-04-01"),
         asset=Asset("steps"))):
    write = EmptyOperator(task_id="write", outlets=[Asset("steps")])
    EmptyOperator(task_id="a_check") << write
    EmptyOperator(task_id="zone") >> write

with DAG("grid", schedule=Partitioned("@daily", PartitionByProduct([
         PartitionByInterval("@daily", start="2013-01-01", end="2013-01-04", name="date"),
         PartitionBySequence(["JFK", "EWR"], name="airport")]), asset=Asset("grid"))):
    EmptyOperator(task_id="load") >> EmptyOperator(task_id="write", outlets=[Asset("grid")])
"""


@pytest.fixture
def steps(estate: Metadata, tmp_path: Path) -> Metadata:
    """An asset whose Dag has three tasks, and one of a product whose Dag has two."""
    estate.parse(tmp_path, steps=STEPS)
    unpause(estate)
    return estate


def shown(client: httpx.Client, asset: str = "steps", **query: Any) -> dict[str, Any]:
    answer = client.get(f"/assets/{asset}/tasks", params=query)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def cells_of(answer: dict[str, Any], task_id: str) -> list[Any]:
    (dag,) = answer["dags"]
    (row,) = [row for row in dag["tasks"] if row["task_id"] == task_id]
    cells: list[Any] = row["cells"]
    return cells


def test_each_cell_is_the_newest_try_in_the_newest_run(client: httpx.Client, steps: Metadata) -> None:
    days = ["2013-03-29", "2013-03-30"]
    put_runs(steps, "steps", days, "failed", BEGAN)
    put_tasks(steps, "steps", days, "zone", "success", BEGAN, start_date=BEGAN, end_date=BEGAN + timedelta(seconds=90))
    put_tasks(steps, "steps", days, "write", "failed", BEGAN, tries=3, start_date=BEGAN, end_date=LATER)
    put_tasks(steps, "steps", days, "a_check", "upstream_failed", BEGAN, tries=0)
    put_tasks(steps, "steps", days, "gone", "success", BEGAN)  # of an older version of the Dag
    put_runs(steps, "steps", days[:1], "running", LATER)
    put_tasks(steps, "steps", days[:1], "zone", "up_for_retry", LATER, tries=2, start_date=LATER, end_date=LATER)
    put_tasks(steps, "steps", days[:1], "write", None, LATER, tries=0)
    steps.emit("steps", "2013-03-28", at=BEGAN)
    answer = shown(client, limit=4)
    assert [(one["key"], one["state"]) for one in answer["partitions"]] == [
        ("2013-03-28", "materialized"), ("2013-03-29", "running"), ("2013-03-30", "failed"), ("2013-03-31", "missing"),
    ]  # fmt: skip
    assert answer["partitions"][0]["start"] == "2013-03-28T00:00:00+00:00"
    (dag,) = answer["dags"]
    assert (dag["dag_id"], [row["task_id"] for row in dag["tasks"]]) == ("steps", ["zone", "write", "a_check", "gone"])
    later, first = f"steps 2013-03-29 {LATER.isoformat()}", f"steps 2013-03-30 {BEGAN.isoformat()}"
    assert dag["runs"] == [
        None, {"run_id": later, "state": "running"}, {"run_id": first, "state": "failed"}, None,
    ]  # fmt: skip
    zone = cells_of(answer, "zone")
    assert zone == [
        None,
        {"state": "up_for_retry", "tries": 2, "began": LATER.isoformat(), "seconds": 0.0},
        {"state": "success", "tries": 1, "began": BEGAN.isoformat(), "seconds": 90.0},
        None,
    ]
    undecided = {"state": None, "tries": 0, "began": None, "seconds": None}
    assert cells_of(answer, "write")[1:3] == [undecided, zone[2] | {"state": "failed", "tries": 3, "seconds": 3600.0}]
    assert cells_of(answer, "a_check")[1:3] == [None, undecided | {"state": "upstream_failed"}]
    assert [cell and cell["state"] for cell in cells_of(answer, "gone")] == [None, None, "success", None]


def test_mapped_instances_are_one_cell_of_the_worst_of_them(client: httpx.Client, steps: Metadata) -> None:
    day = ["2013-03-31"]
    put_runs(steps, "steps", day, "running", BEGAN)
    for index, (state, ended) in enumerate([("success", LATER), ("running", None), ("success", BEGAN)]):
        put_tasks(
            steps, "steps", day, "write", state, BEGAN, 1 + index % 2, map_index=index, start_date=BEGAN, end_date=ended
        )
    (cell,) = cells_of(shown(client, limit=1), "write")
    assert cell == {"state": "running", "tries": 2, "began": BEGAN.isoformat(), "seconds": None, "instances": 3}


def test_pages_go_back_in_time_and_have_each_partition_once(client: httpx.Client, steps: Metadata) -> None:
    first = shown(client, "grid", limit=3)
    second = shown(client, "grid", limit=3, cursor=first["cursor"])
    keys = [[one["key"] for one in page["partitions"]] for page in (first, second)]
    assert keys == [
        ["2013-01-02|JFK", "2013-01-03|JFK", "2013-01-03|EWR"],
        ["2013-01-01|JFK", "2013-01-01|EWR", "2013-01-02|EWR"],
    ]
    assert second["cursor"] is None
    chosen = shown(client, "grid", select="2013-01-02 & airport in EWR")
    assert [one["key"] for one in chosen["partitions"]] == ["2013-01-02|EWR"]


def test_keys_of_runtime_and_of_an_asset_that_others_make_are_told_too(client: httpx.Client, estate: Metadata) -> None:
    estate.emit("customers", "ann", "bob")
    answer = shown(client, "customers")
    assert [(one["key"], one["start"]) for one in answer["partitions"]] == [("ann", None), ("bob", None)]
    assert [one["key"] for one in shown(client, "customers", select="bob")["partitions"]] == ["bob"]


def test_statements_do_not_grow_with_partitions_runs_or_tasks(client: httpx.Client, steps: Metadata) -> None:
    days = [one["key"] for one in client.get("/assets/steps/keys").json()["keys"]]
    put_runs(steps, "steps", days, "failed", BEGAN)
    for task_id in ("zone", "write", "a_check"):
        put_tasks(steps, "steps", days, task_id, "failed", BEGAN)
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    def number(limit: int) -> int:
        statements.clear()
        assert len(shown(client, limit=limit)["partitions"]) == limit
        return len(statements)

    number(90)  # what is kept of Dags is there now
    event.listen(steps.engine, "before_cursor_execute", note)
    few, many = number(1), number(90)
    event.remove(steps.engine, "before_cursor_execute", note)
    assert few == many > 0


@pytest.mark.parametrize("query", [{"limit": 201}, {"limit": 0}, {"cursor": "x"}, {"select": "x"}])
def test_what_makes_no_sense_is_refused(client: httpx.Client, steps: Metadata, query: dict[str, Any]) -> None:
    assert problem(client.get("/assets/steps/tasks", params=query))["status"] == 422


def test_an_asset_tells_how_many_tasks_its_dags_have(client: httpx.Client, steps: Metadata) -> None:
    numbers = {
        name: [source["tasks"] for source in client.get(f"/assets/{name}").json()["sources"]]
        for name in ("days", "steps", "grid")
    }
    assert numbers == {"days": [1], "steps": [3], "grid": [2]}
