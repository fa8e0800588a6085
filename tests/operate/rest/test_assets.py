"""Assets and their keys over REST."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import httpx
import pytest

from airflow_partitions.operate.states import overview
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor, viewer
from tests.operate.rest.conftest import Server, problem

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def test_assets_come_by_name_with_definition_and_dags(client: httpx.Client) -> None:
    answer = client.get("/assets").json()
    assert [each["name"] for each in answer["assets"]] == ["airport_days", "customers", "days", "s3://lake/hours"]
    assert answer["cursor"] is None
    product, runtime, days, hours = answer["assets"]
    assert (days["producers"], days["consumers"]) == (["makes"], ["airport_days"])
    definition = days["definition"]
    assert (definition["first"], definition["last"], definition["count"]) == ("2013-01-01", "2013-03-31", 90)
    assert [(each["name"], each["count"]) for each in product["definition"]["dimensions"]] == [
        ("date", None),
        ("airport", 3),
    ]
    assert product["definition"]["count"] == 270
    assert (runtime["definition"]["kind"], runtime["definition"]["count"]) == ("runtime", None)
    assert hours["definition"]["timezone"] == "America/New_York"
    assert (hours["definition"]["first"], hours["definition"]["count"]) == (None, None)


def test_assets_are_searched_and_paged(client: httpx.Client) -> None:
    first = client.get("/assets", params={"search": "DAYS", "limit": 1}).json()
    second = client.get("/assets", params={"search": "DAYS", "limit": 1, "cursor": first["cursor"]}).json()
    assert [each["name"] for each in first["assets"] + second["assets"]] == ["airport_days", "days"]
    assert second["cursor"] is None


def test_a_list_never_names_what_one_may_not_read(server: Server, estate: Metadata) -> None:
    with server.client(viewer("makes")) as client:
        (days,) = client.get("/assets").json()["assets"]
        assert (days["name"], days["consumers"]) == ("days", [])
        assert client.get("/assets/days").json().items() >= days.items()
        assert client.get("/assets/customers").status_code == 403
        unknown = problem(client.get("/assets/airport_day"))
        assert unknown["status"] == 404
        assert "airport_days" not in str(unknown)


def test_a_name_may_have_slashes(client: httpx.Client) -> None:
    assert client.get("/assets/s3%3A%2F%2Flake%2Fhours").json()["name"] == "s3://lake/hours"
    keys = client.get("/assets/s3:%2f%2flake%2fhours/keys", params={"limit": 1}).json()["keys"]
    assert len(keys) == 1
    assert client.get("/assets/s3://lake/hours").status_code == 404


def test_who_has_an_answer_already_gets_no_body(client: httpx.Client) -> None:
    answer = client.get("/assets")
    again = client.get("/assets", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_long_answers_are_compressed(client: httpx.Client) -> None:
    answer = client.get("/assets/days/keys", params={"limit": 90})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.json()["keys"]) == 90


def test_keys_come_newest_first_in_pages(client: httpx.Client) -> None:
    def keys(asset: str, **query: str | int) -> list[str]:
        texts, cursor = [], None
        while True:
            page = client.get(
                f"/assets/{asset}/keys", params={**query, **({} if cursor is None else {"cursor": cursor})}
            )
            assert page.status_code == 200, page.text
            texts += [each["key"] for each in page.json()["keys"]]
            cursor = page.json()["cursor"]
            if cursor is None:
                return texts

    assert keys("days", limit=30)[:2] == ["2013-03-31", "2013-03-30"]
    assert len(keys("days", limit=30)) == 90
    assert keys("days", limit=7, select="2013-02-27..2013-03-02") == ["2013-03-01", "2013-02-28", "2013-02-27"]
    assert keys("days", limit=1, search="-03-3", oldest_first="true") == ["2013-03-30", "2013-03-31"]
    two = ["2013-03-31|EWR", "2013-03-31|a/b\\|c", "2013-03-30|EWR", "2013-03-30|a/b\\|c"]
    assert keys("airport_days", limit=3, select='2013-03-30.. & airport in EWR,"a/b|c"') == two
    assert keys("airport_days", limit=1, dimension="airport") == ["EWR", "JFK", "a/b|c"]
    assert keys("airport_days", limit=50, dimension="date")[0] == "2013-03-31"
    hour = "s3:%2F%2Flake%2Fhours"
    night = ["2013-11-03T02:00-05:00", "2013-11-03T01:00-05:00", "2013-11-03T01:00-04:00"]
    assert keys(hour, limit=2, select="2013-11-03T01:00-04:00..2013-11-03T03:00-05:00") == night


@pytest.mark.parametrize("oldest_first", [False, True])
def test_ed6_paging_of_keys_goes_on_after_that_of_its_cursor_is_gone(
    client: httpx.Client, *, oldest_first: bool
) -> None:
    names = [f"page-{number}" for number in range(6)]
    assert client.post("/assets/customers/keys/add", json={"keys": names, "once": True}).status_code == 200

    def page(cursor: str | None = None) -> tuple[list[str], str | None]:
        query = {"search": "page-", "limit": 2, "oldest_first": oldest_first, "cursor": cursor}
        answer = client.get("/assets/customers/keys", params={k: v for k, v in query.items() if v is not None}).json()
        return [each["key"] for each in answer["keys"]], answer["cursor"]

    first, cursor = page()
    assert client.post("/assets/customers/keys/remove", json={"keys": first[-1:]}).status_code == 200
    assert client.post("/assets/customers/keys/add", json={"keys": ["page-new"]}).status_code == 200
    others: list[str] = []
    while cursor is not None:
        keys, cursor = page(cursor)
        others += keys
    assert client.post("/assets/customers/keys/remove", json={"keys": ["page-new"]}).status_code == 200
    assert set(names) <= {*first, *others}
    if not oldest_first:
        assert others == names[3::-1]


def test_a_cursor_that_no_page_of_keys_has_is_refused(client: httpx.Client) -> None:
    assert "is not one of a page" in problem(client.get("/assets/customers/keys", params={"cursor": "x"}))["detail"]


def test_a_key_has_the_bounds_of_its_interval_in_its_zone(client: httpx.Client) -> None:
    query = {"select": "2013-11-03T01:00-04:00"}
    (key,) = client.get("/assets/s3:%2F%2Flake%2Fhours/keys", params=query).json()["keys"]
    assert (key["start"], key["end"]) == ("2013-11-03T01:00:00-04:00", "2013-11-03T01:00:00-05:00")
    assert key["dimensions"] == {"time": "2013-11-03T01:00-04:00"}


@pytest.mark.parametrize(
    ("path", "query", "status", "words"),
    [
        ("/assets/day", {}, 404, "nearest: days"),
        ("/nothing", {}, 404, "Not Found"),
        ("/assets/days/keys", {"select": "2013-03-10..x"}, 422, "x"),
        ("/assets/days/keys", {"select": "2014-01-01"}, 422, "2014-01-01"),
        ("/assets/days/keys", {"cursor": "2013-13-01"}, 422, "2013-13-01"),
        ("/assets/days/keys", {"dimension": "airport"}, 422, "expected one of time"),
        ("/assets/days/keys", {"limit": "0"}, 422, "query.limit"),
        ("/assets/days/keys", {"search": "\0"}, 422, "query.search"),
        ("/assets/%00", {}, 404, "no Dag makes"),
    ],
)
def test_what_can_not_be_answered_is_a_problem_document(
    client: httpx.Client, path: str, query: dict[str, str], status: int, words: str
) -> None:
    document = problem(client.get(path, params=query))
    assert document["status"] == status
    assert words in document["detail"]


def test_a_problem_says_what_was_given_and_what_is_nearest(client: httpx.Client) -> None:
    assert problem(client.get("/assets/day")) == {
        "type": "urn:airflow-partitions:unknown-asset",
        "title": "Unknown asset",
        "status": 404,
        "detail": "no Dag makes or waits for partitions of an asset 'day'; nearest: days",
        "given": "day",
        "nearest": ["days"],
    }


AROUND = """
RAW = Asset("raw", group="lake")

with DAG("makes_raw", schedule=Partitioned("@daily", PartitionByInterval("@daily", start="2013-01-01"), asset=RAW),
         tags=["nightly", "lake"], default_args={"owner": "ann"}):
    EmptyOperator(task_id="write", outlets=[RAW])

@asset(schedule=RAW, partition=PartitionByProduct([
    PartitionByInterval("@daily", start="2013-01-01", name="date"), PartitionBySequence(["a", "b"], name="side")]))
def clean(): ...

@asset(schedule=clean, partition=PartitionByInterval("@daily", start="2013-01-01"))
def report(): ...
"""


def test_an_asset_tells_what_is_around_it(server: Server, metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, around=AROUND)
    with server.client(editor()) as client:
        clean, raw, report = client.get("/assets").json()["assets"]
        assert (raw["group"], raw["tags"], raw["owners"]) == ("lake", ["lake", "nightly", "partitioned"], ["ann"])
        assert (raw["upstream"], raw["downstream"], raw["paused"]) == ([], ["clean"], ["makes_raw"])
        assert (clean["upstream"], clean["downstream"]) == (["raw"], ["report"])
        assert (report["upstream"], report["downstream"], report["may_change"]) == (["clean"], [], True)
        assert "counts" not in raw
        assert client.get("/assets/clean").json().items() >= clean.items()
        for query, names in (
            ({"tag": "lake"}, ["raw"]),
            ({"owner": "airflow"}, ["clean", "report"]),
            ({"owner": "ann", "tag": "none"}, []),
        ):
            assert [each["name"] for each in client.get("/assets", params=query).json()["assets"]] == names
    with server.client(viewer("clean", "report")) as client:
        clean, report = client.get("/assets").json()["assets"]
        assert (clean["upstream"], clean["may_change"], report["upstream"]) == ([], False, ["clean"])


def test_assets_tell_how_their_newest_partition_is_and_what_is_next(client: httpx.Client, estate: Metadata) -> None:
    estate.emit("airport_days", "2013-03-31|EWR", "2013-03-31|JFK")
    answer = client.get("/assets", params={"counts": True}).json()["assets"]
    product, customers, days, hours = answer
    assert product["newest"] == {
        "key": "2013-03-31",
        "state": "missing",
        "counts": {"materialized": 2, "missing": 1},
    }
    assert (product["next"], customers["newest"], customers["next"]) == (None, None, None)
    assert (product["counts"]["counts"], days["newest"]["state"]) == ({"materialized": 2, "missing": 268}, "missing")
    assert datetime.fromisoformat(hours["next"]["due"]) > datetime.fromisoformat(hours["next"]["key"])
    with_made = client.get("/assets", params={"states": "materialized"}).json()["assets"]
    assert [each["name"] for each in with_made] == ["airport_days"]


def test_states_of_an_asset_are_worked_out_once_until_something_changes(
    client: httpx.Client, estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    overview._OVERVIEWS.clear()
    counted: list[str] = []
    count = overview.counts_of
    monkeypatch.setattr(overview, "counts_of", lambda of, some: counted.append(of.asset.name) or count(of, some))
    for _ in range(3):
        client.get("/assets", params={"counts": True})
    assert counted == ["airport_days", "customers", "days", "s3://lake/hours"]
    estate.emit("days", "2013-03-31")
    (days,) = client.get("/assets", params={"counts": True, "search": "days", "cursor": "b"}).json()["assets"]
    assert (counted[4:], days["newest"]["state"]) == (["days"], "materialized")


def test_an_asset_tells_what_the_dags_say_that_make_it(client: httpx.Client) -> None:
    days = client.get("/assets/days").json()
    (source,) = days["sources"]
    assert source["dag_id"] == "makes"
    assert source["file"].endswith(".py")
    assert source["schedule"] == "daily, in UTC"
    assert days["example"] == "2013-03-25..2013-04-01"
    product = client.get("/assets/airport_days").json()
    assert product["example"] == "2013-03-25..2013-04-01"
    assert client.get("/assets/airport_days/counts", params={"select": product["example"]}).json()["total"] == 21
    assert [source["schedule"] for source in product["sources"]] == ["when what it needs is there"]
    assert client.get("/assets/customers").json()["example"] is None
