"""Pictures of partitions over REST."""

from __future__ import annotations

import httpx
import pytest

from airflow_partitions.operate.states import view
from tests.metadata import Metadata
from tests.operate.rest.conftest import problem

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def test_a_picture_has_run_lengths_for_its_columns_and_rows(client: httpx.Client, estate: Metadata) -> None:
    estate.emit("airport_days", "2013-01-02|JFK", "2013-01-03|JFK", "2013-01-03|EWR")
    answer = client.get("/assets/airport_days/grid", params={"end": "2013-01-05"}).json()
    assert (answer["across"], answer["down"], answer["unit"]) == ("date", "airport", "interval")
    assert [column["first"] for column in answer["columns"]] == ["2013-01-01", "2013-01-02", "2013-01-03", "2013-01-04"]
    assert answer["columns"][0]["start"] == "2013-01-01T00:00:00+00:00"
    lengths = {row["value"]: [length for length, _ in row["runs"]] for row in answer["rows"]}
    assert lengths == {"EWR": [2, 1, 1], "JFK": [1, 2, 1], "a/b|c": [4]}
    assert sorted(str(cell["states"]) for cell in answer["cells"]) == ["{'materialized': 1}", "{'missing': 1}"]
    assert answer["counts"] == {"materialized": 3, "missing": 9}
    months = client.get("/assets/airport_days/grid", params={"columns": 3, "down": ""}).json()
    assert [(column["first"], column["count"]) for column in months["columns"]] == [
        ("2013-01-01", 31),
        ("2013-02-01", 28),
        ("2013-03-01", 31),
    ]
    assert months["extent"]["last"] == "2013-03-31"


def test_who_has_a_picture_already_is_told_so_before_it_is_drawn(
    client: httpx.Client, estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    draw = view.grid
    monkeypatch.setattr("airflow_partitions.operate.operations.grid.grid", lambda *of: drawn.append(of) or draw(*of))
    tag = client.get("/assets/days/grid").headers["ETag"]
    again = client.get("/assets/days/grid", headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["ETag"], len(drawn)) == (304, b"", tag, 1)
    estate.emit("days", "2013-01-02")
    changed = client.get("/assets/days/grid", headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["counts"]["materialized"], len(drawn)) == (200, 1, 2)


@pytest.mark.parametrize("query", [{"across": "x"}, {"down": "date"}, {"columns": 0}, {"start": "x"}, {"select": "x"}])
def test_a_picture_that_makes_no_sense_is_refused(client: httpx.Client, query: dict[str, str]) -> None:
    assert problem(client.get("/assets/airport_days/grid", params=query))["status"] == 422


@pytest.mark.parametrize(("asset", "cursor"), [("airport_days", "zz"), ("airport_days", "EWR|JFK"), ("days", "EWR")])
def test_eo9_a_wrong_row_cursor_is_refused(client: httpx.Client, asset: str, cursor: str) -> None:
    answer = problem(client.get(f"/assets/{asset}/grid", params={"row_cursor": cursor}))
    assert (answer["status"], "is not one of a page" in answer["detail"]) == (422, True)


def test_eo9_a_row_cursor_goes_on(client: httpx.Client) -> None:
    first = client.get("/assets/airport_days/grid", params={"row_limit": 1}).json()
    assert client.get("/assets/airport_days/grid", params={"row_cursor": first["row_cursor"]}).status_code == 200
