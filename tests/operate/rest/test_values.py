"""A value of each partition over REST."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.metadata import Metadata
from tests.operate.rest.conftest import problem
from tests.operate.states.world import put_runs, put_tasks

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def test_each_cell_has_its_value_and_the_columns_are_those_of_the_states(
    client: httpx.Client, estate: Metadata
) -> None:
    estate.emit("airport_days", "2013-01-02|JFK", extra={"rows": 4})
    estate.emit("airport_days", "2013-01-03|JFK", "2013-01-03|EWR", extra={"rows": 7})
    view = {"end": "2013-01-05"}
    answer = client.get("/assets/airport_days/values", params={**view, "value": "rows"}).json()
    grid = client.get("/assets/airport_days/grid", params=view).json()
    shared = ("across", "down", "columns", "start", "end", "unit", "timezone", "row_count", "row_cursor")
    assert [answer[name] for name in shared] == [grid[name] for name in shared]
    assert {row["value"]: row["values"] for row in answer["rows"]} == {
        "EWR": [None, None, 7, None],
        "JFK": [None, 4, 7, None],
        "a/b|c": [None] * 4,
    }
    assert (answer["line"], answer["measure"], answer["of_several"]) == ([None, 4, 7, None], "number", "mean")
    assert [answer[name] for name in ("least", "low", "high", "most")] == [4, 4, 7, 7]
    months = client.get("/assets/airport_days/values", params={"value": "rows", "columns": 3, "down": ""}).json()
    assert months["rows"] == [{"value": None, "values": [6, None, None]}]


def test_an_unknown_value_is_refused_with_the_nearest(client: httpx.Client) -> None:
    answer = problem(client.get("/assets/days/values", params={"value": "rowz"}))
    assert answer["status"] == 422
    assert "expected one of rows, bytes" in answer["detail"]
    assert answer["detail"].endswith("nearest: rows")
    assert problem(client.get("/assets/days/values"))["status"] == 422


def test_who_has_the_values_already_is_told_so(client: httpx.Client, estate: Metadata) -> None:
    tag = client.get("/assets/days/values", params={"value": "rows"}).headers["ETag"]
    seen = {"If-None-Match": tag}
    assert client.get("/assets/days/values", params={"value": "rows"}, headers=seen).status_code == 304
    estate.emit("days", "2013-01-02", extra={"rows": 3})
    changed = client.get("/assets/days/values", params={"value": "rows"}, headers=seen)
    assert (changed.status_code, changed.json()["most"]) == (200, 3)


def test_tries_are_those_of_the_newest_run_and_age_is_since_the_last_time(
    client: httpx.Client, estate: Metadata
) -> None:
    made = datetime.now(UTC) - timedelta(hours=2)
    put_runs(estate, "makes", ["2013-01-02", "2013-01-03"], "failed", made)
    put_tasks(estate, "makes", ["2013-01-02", "2013-01-03"], "days", "failed", made)
    later = made + timedelta(hours=1)
    put_runs(estate, "makes", ["2013-01-03"], "failed", later)
    put_tasks(estate, "makes", ["2013-01-03"], "days", "failed", later, tries=4)
    estate.emit("days", "2013-01-01", at=made)
    view = {"end": "2013-01-05"}
    tries = client.get("/assets/days/values", params={**view, "value": "tries"}).json()
    assert (tries["line"], tries["of_several"]) == ([None, 1, 4, None], "most")
    age = client.get("/assets/days/values", params={**view, "value": "age"}).json()
    assert age["measure"] == "seconds"
    assert age["line"][0] == pytest.approx(7_200, abs=300)
    assert age["line"][1:] == [None] * 3
