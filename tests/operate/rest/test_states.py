"""States of partitions over REST."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest

from tests.metadata import Metadata
from tests.operate.rest.auth_manager import viewer
from tests.operate.rest.conftest import Server, problem
from tests.operate.states.world import put_runs, put_tasks

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
        ("materialized", "2013-01-01", "2013-01-31", 31),
    ]
    assert client.get("/assets/days/counts").json()["counts"] == {"materialized": 31, "missing": 59}
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
    assert days["counts"]["counts"] == {"materialized": 31, "missing": 59}


@pytest.mark.parametrize(
    ("asset", "select", "text"),
    [
        ("days", "latest", "2013-03-31"),
        ("days", "2013-02-03,2013-02-01..2013-02-03", "2013-02-01..2013-02-04"),
        ("airport_days", "latest & airport = JFK", "2013-03-31|JFK"),
        ("days", None, None),
    ],
)
def test_counts_tell_what_was_selected(
    client: httpx.Client, january: Metadata, asset: str, select: str | None, text: str | None
) -> None:
    answer = client.get(f"/assets/{asset}/counts", params={} if select is None else {"select": select}).json()
    assert answer["selection"] == text


@pytest.mark.parametrize(("days", "length"), [(6, 1726), (7, None)])
def test_a_very_long_text_of_what_was_selected_is_not_told(
    client: httpx.Client, estate: Metadata, days: int, length: int | None
) -> None:
    hours = [f"2013-01-{day:02}T{hour:02}:00Z" for day in range(1, days + 1) for hour in range(0, 24, 2)]
    answer = client.get("/assets/s3:%2F%2Flake%2Fhours/counts", params={"select": ",".join(hours)}).json()
    assert answer["total"] == len(hours)
    assert length == (None if answer["selection"] is None else len(answer["selection"]))


def test_states_are_paged(client: httpx.Client, january: Metadata) -> None:
    first = client.get("/assets/days/states", params={"limit": 1}).json()
    second = client.get("/assets/days/states", params={"limit": 1, "cursor": first["cursor"]}).json()
    assert [each["state"] for each in first["stretches"] + second["stretches"]] == ["missing", "materialized"]


def test_a_partition_tells_its_story(client: httpx.Client, january: Metadata) -> None:
    day = client.get("/assets/days/partitions/2013-01-05").json()
    assert (day["state"], day["start"]) == ("materialized", "2013-01-05T00:00:00+00:00")
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
        hidden = stranger.get(path).json()
        assert (hidden["upstream"], hidden["upstream_hidden"], hidden["downstream_hidden"]) == ([], True, False)
    with server.client(viewer("makes")) as stranger:
        hidden = stranger.get("/assets/days/partitions/2013-01-05").json()
        assert (hidden["downstream"], hidden["upstream_hidden"], hidden["downstream_hidden"]) == ([], False, True)


def test_where_nothing_is_up_or_downstream_nothing_is_hidden(client: httpx.Client, january: Metadata) -> None:
    day = client.get("/assets/days/partitions/2013-01-05").json()
    assert (day["upstream"], day["upstream_hidden"], day["downstream_hidden"]) == ([], False, False)


@pytest.mark.parametrize("query", [{"states": "lost"}, {"cursor": "x"}, {"select": "x"}, {"limit": "0"}])
def test_what_can_not_be_read_is_a_problem(client: httpx.Client, query: dict[str, str]) -> None:
    assert problem(client.get("/assets/days/states", params=query))["status"] == 422


def test_a_partition_leads_to_those_beside_it_and_to_its_tasks(client: httpx.Client, january: Metadata) -> None:
    began = datetime(2013, 1, 6, 1, tzinfo=UTC)
    put_runs(january, "makes", ["2013-01-05"], "failed", began)
    put_tasks(january, "makes", ["2013-01-05"], "days", "failed", began)
    day = client.get("/assets/days/partitions/2013-01-05").json()
    assert (day["previous"], day["next"]) == ("2013-01-04", "2013-01-06")
    (run,) = day["runs"]
    assert (run["dag_id"], run["task_id"], run["tries"]) == ("makes", "days", 1)
    first = client.get("/assets/days/partitions/2013-01-01").json()
    last = client.get("/assets/days/partitions/2013-03-31").json()
    assert (first["previous"], last["next"]) == (None, None)
    hours = client.get("/assets", params={"search": "hours"}).json()["assets"][0]
    newest = client.get(f"/assets/s3:%2F%2Flake%2Fhours/partitions/{hours['definition']['last']}").json()
    assert newest["next"] is None  # it is not over


def test_the_newest_materializations_come_in_order_with_what_was_written_and_read(
    client: httpx.Client, estate: Metadata
) -> None:
    for day in range(1, 32):
        reads = {"a": {"rows": 2, "bytes": 10}, "b": {"rows": None, "bytes": 5}}
        extra = {"rows": day, "files": 1, "bytes": 100 * day, "seconds": 1.5, "reads": reads}
        estate.emit("days", f"2013-01-{day:02}", source_dag_id="makes", source_run_id="run1", extra=extra)
    answer = client.get("/assets/days/materializations", params={"limit": 3}).json()
    assert [each["key"] for each in answer["materializations"]] == ["2013-01-29", "2013-01-30", "2013-01-31"]
    newest = answer["materializations"][-1]
    measures = {name: newest[name] for name in ("rows", "files", "bytes", "seconds", "read_rows", "read_bytes")}
    assert measures == {
        "rows": 31, "files": 1, "bytes": 3100, "seconds": 1.5, "read_rows": 2, "read_bytes": 15,
    }  # fmt: skip
    event = client.get("/assets/days/partitions/2013-01-31").json()["events"][0]
    assert {name: event[name] for name in measures} == measures
    some = client.get("/assets/days/materializations", params={"limit": 2, "select": "..2013-01-11"}).json()
    assert [each["key"] for each in some["materializations"]] == ["2013-01-09", "2013-01-10"]
    estate.emit("airport_days", "2013-01-02|JFK", "2013-01-02|EWR", "2013-01-01|JFK", extra={"rows": "many"})
    query = {"select": "airport = JFK"}
    product = client.get("/assets/airport_days/materializations", params=query).json()["materializations"]
    assert [(each["key"], each["rows"]) for each in product] == [("2013-01-01|JFK", None), ("2013-01-02|JFK", None)]
    estate.emit("customers", "bob", "ann")
    assert len(client.get("/assets/customers/materializations").json()["materializations"]) == 2
