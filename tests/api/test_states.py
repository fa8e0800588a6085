"""States of partitions over REST."""

from __future__ import annotations

import httpx
import pytest

from tests.api.auth_manager import viewer
from tests.api.conftest import Server, problem
from tests.metadata import Metadata

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


@pytest.fixture
def january(estate: Metadata) -> Metadata:
    days = [f"2013-01-{day:02}" for day in range(1, 32)]
    estate.emit("days", *days, source_dag_id="makes", source_run_id="run1", extra={"rows": 7})
    return estate


def test_states_come_in_stretches_and_counts(client: httpx.Client, january: Metadata) -> None:
    answer = client.get("/assets/days/states").json()
    assert [(each["state"], each["first"], each["last"], each["count"]) for each in answer["stretches"]] == [
        ("missing", "2013-02-01", "2013-03-31", 59),
        ("materialised", "2013-01-01", "2013-01-31", 31),
    ]
    assert client.get("/assets/days/counts").json()["counts"] == {"materialised": 31, "missing": 59}
    query = {"select": "2013-01-30..2013-02-03", "states": "missing"}
    (missing,) = client.get("/assets/days/states", params=query).json()["stretches"]
    assert missing == {
        "state": "missing",
        "first": "2013-02-01",
        "last": "2013-02-02",
        "count": 2,
        "start": "2013-02-01T00:00:00+00:00",
        "end": "2013-02-03T00:00:00+00:00",
    }
    (days,) = client.get("/assets", params={"search": "days", "counts": "true", "limit": 1, "cursor": "b"}).json()[
        "assets"
    ]
    assert days["counts"]["counts"] == {"materialised": 31, "missing": 59}


def test_states_are_paged(client: httpx.Client, january: Metadata) -> None:
    first = client.get("/assets/days/states", params={"limit": 1}).json()
    second = client.get("/assets/days/states", params={"limit": 1, "cursor": first["cursor"]}).json()
    assert [each["state"] for each in first["stretches"] + second["stretches"]] == ["missing", "materialised"]


def test_a_partition_tells_its_story(client: httpx.Client, january: Metadata) -> None:
    day = client.get("/assets/days/partitions/2013-01-05").json()
    assert (day["state"], day["start"]) == ("materialised", "2013-01-05T00:00:00+00:00")
    assert day["events"][0]["extra"] == {"rows": 7}
    assert [each["asset"] for each in day["downstream"]] == ["airport_days"]
    product = client.get("/assets/airport_days/partitions/2013-01-05%7Ca%2Fb%5C%7Cc").json()
    assert (product["key"], product["upstream"][0]["asset"]) == ("2013-01-05|a/b\\|c", "days")
    assert "nearest" in problem(client.get("/assets/days/partitions/2014-01-01"))


def test_what_one_may_not_read_is_not_told_of_partitions_beside_it(
    server: Server, client: httpx.Client, january: Metadata
) -> None:
    path = "/assets/airport_days/partitions/2013-02-05%7CEWR"
    assert "days" in str(client.get(path).json()["upstream"])
    with server.client(viewer("airport_days")) as stranger:
        assert stranger.get(path).json()["upstream"] == []
    with server.client(viewer("makes")) as stranger:
        assert stranger.get("/assets/days/partitions/2013-01-05").json()["downstream"] == []


@pytest.mark.parametrize("query", [{"states": "lost"}, {"cursor": "x"}, {"select": "x"}, {"limit": "0"}])
def test_what_can_not_be_read_is_a_problem(client: httpx.Client, query: dict[str, str]) -> None:
    assert problem(client.get("/assets/days/states", params=query))["status"] == 422
