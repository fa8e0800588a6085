"""Requests for partitions over REST."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from sqlalchemy import event, select, update

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidRequestError
from airflow_partitions.engine.database import models
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.contract.operations import OPERATIONS
from airflow_partitions.operate.contract.requests import MaterializePartitions
from airflow_partitions.operate.requests.materialize import ask as ask_without_runs
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor, starter, viewer
from tests.operate.rest.conftest import RunningApp, Server, ask_for, problem
from tests.operate.rest.test_doctor import change_dag

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def ask(client: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = client.post("/assets/days/requests", json=body)
    assert answer.status_code == 200, answer.text
    (request,) = answer.json()["requests"]
    number: int = request["id"]
    while (request := client.get(f"/requests/{number}").json())["state"] == "creating":
        time.sleep(0.05)
    asked: dict[str, Any] = request
    return asked


def test_a_request_is_made_watched_paused_and_cancelled(client: httpx.Client) -> None:
    request = ask(client, select="2013-03-01..2013-03-05", label="outage", concurrency=2, newest_first=True)
    assert (request["state"], request["partitions"], request["runs"]) == ("running", 4, {"queued": 4})
    assert (request["by"], request["options"]["label"]) == ("editor", "outage")
    path = f"/requests/{request['id']}"
    assert client.get(path).json() == request
    assert client.post(f"{path}/pause", json={"dry_run": True}).json()["state"] == "running"
    assert client.post(f"{path}/pause", json={}).json()["state"] == "paused"
    assert client.post(f"{path}/resume", json={}).json()["state"] == "running"
    assert client.post(f"{path}/cancel", json={}).json()["state"] == "cancelled"
    assert problem(client.post(f"{path}/pause", json={}))["status"] == 409
    assert client.post(f"{path}/retry", json={}).json()["state"] == "running"


def test_ed1_what_was_accepted_is_shown(client: httpx.Client, estate: Metadata) -> None:
    most = ask(client, select="2013-03-01..2013-03-03", concurrency=100_000)
    assert most["options"]["concurrency"] == 100_000
    with pytest.raises(InvalidRequestError, match=r"concurrency=100001; expected a number from 1 to 100,000"):
        MaterializePartitions.of(asset="days", select="all", concurrency=100_001)
    with pytest.raises(InvalidRequestError, match="label="):
        MaterializePartitions.of(asset="days", select="all", label="x" * 2_001)
    # what another release has accepted, or somebody has written by hand
    with estate.engine.begin() as at:
        at.execute(update(models.Request).where(models.Request.id == most["id"]).values(label="x" * 3_000))
    try:
        requests = client.get("/requests").json()["requests"]
        assert next(each for each in requests if each["id"] == most["id"])["options"]["label"] == "x" * 3_000
        assert client.get(f"/requests/{most['id']}").status_code == 200
    finally:
        client.post(f"/requests/{most['id']}/cancel", json={})


def test_a_field_that_there_is_not_is_refused(client: httpx.Client) -> None:
    answer = problem(client.post("/assets/days/mark", json={"select": "2013-03-01", "dryrun": True}))
    assert (answer["status"], answer["mistakes"][0]["field"]) == (422, "body.dryrun")


def test_a_request_that_cant_be_read_is_cancelled_by_who_may(
    server: Server, client: httpx.Client, estate: Metadata
) -> None:
    number = ask(client, select="2013-03-01..2013-03-05")["id"]
    estate.break_form(models.Request.selection, models.Request.id == number)
    shown = client.get(f"/requests/{number}").json()  # what is broken is a row with its cause
    assert (shown["selection"], "can't be read" in shown["problem"]) == ("", True)
    with server.client(viewer()) as reader:
        assert reader.post(f"/requests/{number}/cancel", json={}).status_code == 403
    answer = client.post(f"/requests/{number}/cancel", json={}).json()
    assert (answer["state"], answer["partitions"], answer["selection"]) == ("cancelled", 4, "")


def test_d9_to_ask_for_partitions_takes_few_statements(
    client: httpx.Client, estate: Metadata, running_app: RunningApp
) -> None:
    estate.prepare_runs()  # Airflow has that row: without it each run would be inserted by itself
    ask(client, select="2013-03-11")
    running_app.wait()
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    event.listen(estate.engine, "before_cursor_execute", note)
    assert client.post("/assets/days/requests", json={"select": "2013-03-01..2013-03-04"}).status_code == 200
    running_app.wait()  # until the three runs are there
    event.remove(estate.engine, "before_cursor_execute", note)
    assert any(statement.startswith("INSERT INTO dag_run ") for statement in statements)
    assert len(statements) <= 32
    assert sum("FROM serialized_dag" in statement for statement in statements) <= 2


def test_missing_runs_are_created_after_a_resumed_request_is_answered(
    client: httpx.Client, running_app: RunningApp
) -> None:
    asset = partitioned_asset("days")
    path = f"/requests/{ask_without_runs(asset, Selection.of(asset.definition, '2013-03-01'), by='tests').id}"
    assert client.post(f"{path}/resume", json={"dry_run": True}).json()["state"] == "creating"
    running_app.wait()
    answer = client.post(f"{path}/resume", json={}).json()
    assert (answer["state"], answer["created"]) == ("creating", 0)
    running_app.wait()
    answer = client.get(path).json()
    assert (answer["state"], answer["runs"]) == ("running", {"queued": 1})


def test_a_run_whose_partition_airflow_cleared_leaves_states_and_requests_as_they_are(
    client: httpx.Client, server: Server, estate: Metadata
) -> None:
    from airflow.models.dagrun import DagRun

    ask(client, select="2013-03-01..2013-03-04")
    estate.emit("days", "2013-03-01", "2013-03-02", "2013-03-03")
    with estate.engine.begin() as at:
        at.execute(update(DagRun).values(state="success"))
    body = {"partition_key": "2013-03-02", "dry_run": False}
    answer = client.post(f"{server.address}/api/v2/dags/makes/clearPartitions", json=body)
    assert answer.json()["dag_runs_cleared"] == 1, answer.text
    assert client.get("/assets/days/counts").json()["counts"]["materialized"] == 3
    assert ask(client, select="2013-03-02")["runs"] == {"queued": 1}


def test_an_overlapping_request_is_refused_with_the_first_one(client: httpx.Client) -> None:
    first = ask(client, select="2013-03-01..2013-03-05")
    document = problem(client.post("/assets/days/requests", json={"select": "2013-03-04..2013-03-07"}))
    assert (document["status"], document["title"], document["request"]) == (409, "Overlap", first["id"])


def test_requests_are_listed_newest_first_in_pages(client: httpx.Client, server: Server) -> None:
    numbers = [ask(client, select=f"2013-03-0{day}")["id"] for day in (1, 2, 3)]
    first = client.get("/requests", params={"limit": 2}).json()
    second = client.get("/requests", params={"limit": 2, "cursor": first["cursor"]}).json()
    assert [each["id"] for each in first["requests"] + second["requests"]] == numbers[::-1]
    assert client.get("/requests", params={"asset": "airport_days"}).json()["requests"] == []
    assert problem(client.get("/requests", params={"asset": "day"}))["nearest"] == ["days"]
    with server.client(viewer("others")) as stranger:
        assert problem(stranger.get("/requests", params={"asset": "day"})).get("nearest", []) == []
        assert stranger.get("/requests", params={"asset": "days"}).status_code == 403
        assert stranger.get("/requests").json()["requests"] == []
        assert stranger.get(f"/requests/{numbers[0]}").status_code == 403


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"select": "2013-13"}, 422, "2013-13"),
        ({"select": "2014-01-01"}, 422, "2014-01-01"),
        ({"select": ""}, 422, "selects nothing"),
        ({"select": "all", "concurrency": 0}, 422, "body.concurrency"),
        ({"select": "all", "sekect": 0}, 422, "body.sekect"),
        ({}, 422, "nothing says which partitions are meant"),
        ({"states": ["lost"]}, 422, "body.states.0"),
    ],
)
def test_what_can_not_be_asked_for_is_a_problem(
    client: httpx.Client, body: dict[str, Any], status: int, words: str
) -> None:
    document = problem(client.post("/assets/days/requests", json=body))
    assert document["status"] == status
    assert words in document["detail"]


def test_more_than_the_limit_is_refused_with_the_number(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__MAX_REQUEST_SIZE", "50")
    document = problem(client.post("/assets/days/requests", json={"select": "all"}))
    assert document["status"] == 422
    assert "90 partitions are selected" in document["detail"]


def test_a_paused_dag_and_an_asset_of_others_are_conflicts(client: httpx.Client, estate: Metadata) -> None:
    from airflow.models.dag import DagModel

    with estate.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=True))
    document = problem(client.post("/assets/days/requests", json={"select": "all"}))
    assert (document["status"], document["title"]) == (409, "Not ready")
    assert problem(client.post("/assets/customers/requests", json={"select": "all"}))["status"] in (409, 422)


def test_a_request_that_is_not_there_is_told(client: httpx.Client, server: Server) -> None:
    assert problem(client.get("/requests/12345"))["title"] == "Unknown request"
    with server.client(editor("others")) as other:
        assert problem(other.post("/requests/12345/cancel", json={}))["status"] == 404


def test_a_plan_tells_what_a_request_would_do_and_a_dry_run_does_nothing(client: httpx.Client) -> None:
    query = {"select": "2013-03-01..2013-03-04", "downstream": "true"}
    plan = client.get("/assets/days/plan", params=query).json()
    assert [(step["role"], step["asset"], step["partitions"]) for step in plan["steps"]] == [
        ("asked", "days", 3),
        ("downstream", "airport_days", 9),
    ]
    body = {"select": "2013-03-01..2013-03-04", "states": ["missing"], "dry_run": True}
    answer = client.post("/assets/days/requests", json=body).json()
    assert (answer["plan"]["partitions"], answer["requests"]) == (3, [])
    listed = {"keys": ["2013-03-01", "2013-03-02", "2013-03-03"], "downstream": True, "dry_run": True}
    assert client.post("/assets/days/requests", json=listed).json()["plan"]["steps"] == plan["steps"]
    assert client.get("/requests").json()["requests"] == []


def test_upstream_dags_are_asked_where_one_may_start_runs_of_them(client: httpx.Client, server: Server) -> None:
    body = {"select": "2013-03-01 & airport = EWR", "upstream": True, "dry_run": True}
    answer = client.post("/assets/airport_days/requests", json=body).json()
    assert [step["asset"] for step in answer["plan"]["steps"]] == ["days", "airport_days"]
    with server.client(editor("airport_days")) as stranger:
        answer = stranger.post("/assets/airport_days/requests", json=body).json()
        assert [step["asset"] for step in answer["plan"]["steps"]] == ["airport_days"]
        assert answer["plan"]["lacking"] == {}


def test_requests_are_chosen_by_assets_and_by_state_and_counted_at_once(client: httpx.Client, estate: Metadata) -> None:
    numbers = [ask_for(f"2013-03-0{day}") for day in range(1, 5)]
    client.post(f"/requests/{numbers[1]}/cancel", json={})

    def listed(**query: Any) -> list[int]:
        return [each["id"] for each in client.get("/requests", params=query).json()["requests"]]

    assert listed(states=["cancelled"]) == [numbers[1]]
    assert listed(states=["running"], limit=2) == [numbers[3], numbers[2]]
    assert listed(states=["running"], cursor=str(numbers[2])) == [numbers[0]]
    assert listed(asset=["days", "airport_days"]) == numbers[::-1]
    assert listed(asset=["airport_days"]) == []
    assert problem(client.get("/requests", params={"states": "lost"}))["status"] == 422
    statements: list[str] = []
    event.listen(estate.engine, "before_cursor_execute", lambda *of: statements.append(of[2]))
    one, all_of_them = (len(listed(limit=limit)) and len(statements) for limit in (1, 4))
    assert all_of_them == 2 * one + 1  # as many again, and once which of the failed runs had begun


def test_what_is_asked_for_while_a_dag_is_paused_takes_the_right_to_unpause_it(
    client: httpx.Client, server: Server, estate: Metadata
) -> None:
    change_dag(estate, "makes", is_paused=True)
    body = {"select": "2013-03-01", "while_paused": True}
    with server.client(starter()) as other:
        assert problem(other.post("/assets/days/requests", json=body))["status"] == 403
    assert "while_paused" in problem(client.post("/assets/days/requests", json={"select": "2013-03-01"}))["detail"]
    tried = client.post("/assets/days/requests", json=body | {"dry_run": True})
    assert (tried.status_code, tried.json()["plan"]["partitions"]) == (200, 1)
    assert client.get("/assets/days").json()["holds"] == {}
    request = ask(client, **body)
    about = client.get("/assets/days").json()
    assert (about["paused"], about["holds"]) == ([], {"makes": [request["id"]]})
    reasons = client.get("/assets/days/partitions/2013-03-02").json()["reasons"]
    assert any(f"works for request {request['id']} alone" in reason for reason in reasons)
    with server.client(starter()) as other:
        path = f"/requests/{request['id']}"
        assert other.post(f"{path}/pause", json={}).status_code == 200
        assert problem(other.post(f"{path}/resume", json={}))["status"] == 403
        assert problem(other.post(f"{path}/retry", json={}))["status"] == 403
    assert client.post(f"{path}/resume", json={}).status_code == 200


@pytest.mark.parametrize("conf", [r'{"a":"\ud800"}', r'{"a":"\u0000"}', '{"a":1e999}', '{"a":NaN}', r'{"\ud800":1}'])
def test_eo1_a_conf_that_can_not_be_stored_is_refused(client: httpx.Client, conf: str) -> None:
    for dry_run in ("true", "false"):
        body = f'{{"select":"2013-01-11","dry_run":{dry_run},"conf":{conf}}}'
        answer = client.post("/assets/days/requests", content=body, headers={"Content-Type": "application/json"})
        assert problem(answer)["mistakes"][0]["field"] == "body.conf"
        assert answer.status_code == 422
    misnamed = client.post(
        "/assets/days/requests", content=r'{"\ud800":1}', headers={"Content-Type": "application/json"}
    )
    assert misnamed.status_code == 422
    assert client.get("/requests").status_code == 200


def test_eo1_a_request_that_is_stored_badly_is_shown_and_cancelled(client: httpx.Client, estate: Metadata) -> None:
    number = ask(client, select="2013-01-12")["id"]
    with estate.engine.begin() as at:
        at.execute(update(models.Request).where(models.Request.id == number).values(conf={"a": "\ud800"}))
    (listed,) = [each for each in client.get("/requests").json()["requests"] if each["id"] == number]
    assert (listed["options"]["conf"], "conf is left out" in listed["problem"]) == ({}, True)
    assert client.get(f"/requests/{number}").json() == listed
    assert client.post(f"/requests/{number}/cancel", json={}).json()["state"] == "cancelled"


def test_eo5_a_dry_run_is_refused_as_the_change_is(client: httpx.Client) -> None:
    number = ask(client, select="2013-01-13")["id"]
    refused = client.post(f"/requests/{number}/retry", json={"dry_run": True})
    assert problem(refused) == problem(client.post(f"/requests/{number}/retry", json={}))
    client.post(f"/requests/{number}/cancel", json={})
    for verb in ("pause", "resume", "cancel"):
        tried, done = (client.post(f"/requests/{number}/{verb}", json={"dry_run": dry}) for dry in (True, False))
        assert (tried.status_code, problem(tried)) == (409, problem(done))


def test_eo1_a_request_that_is_stored_badly_is_deleted(server: Server, client: httpx.Client, estate: Metadata) -> None:
    bad = ask(client, select="2013-01-14")["id"]
    with estate.engine.begin() as at:
        at.execute(update(models.Request).where(models.Request.id == bad).values(conf={"a": "\ud800"}))
    estate.break_form(models.Request.selection, models.Request.id == ask(client, select="2013-01-15")["id"])
    for number in [each["id"] for each in client.get("/requests").json()["requests"] if each["problem"]]:
        path = f"/requests/{number}/delete"
        assert "cancel it first" in problem(client.post(path, json={"dry_run": True}))["detail"]
        assert problem(client.post(path))["status"] == 409
        client.post(f"/requests/{number}/cancel")
        with server.client(viewer()) as reader:
            assert reader.post(path).status_code == 403
        assert client.post(path).json()["id"] == number
        assert problem(client.get(f"/requests/{number}"))["status"] == 404
    assert [each for each in client.get("/requests").json()["requests"] if each["problem"]] == []


def test_a_deleted_request_holds_its_dag_no_more(client: httpx.Client, estate: Metadata) -> None:
    from airflow.models.dag import DagModel

    change_dag(estate, "makes", is_paused=True)
    try:
        number = ask(client, select="2013-01-16", while_paused=True)["id"]
        client.post(f"/requests/{number}/cancel")
        assert client.post(f"/requests/{number}/delete").status_code == 200
        with estate.engine.connect() as at:
            assert at.scalar(select(DagModel.is_paused).where(DagModel.dag_id == "makes")) is True
            assert at.scalars(select(models.Hold.request_id)).all() == []
    finally:
        change_dag(estate, "makes", is_paused=False)


def test_eo6_a_list_of_keys_is_asked_for(client: httpx.Client) -> None:
    keys = [f"2013-02-{day:02}" for day in range(1, 28, 2)]
    planned = client.get("/assets/days/plan", params={"keys": keys}).json()
    assert planned["partitions"] == 14
    request = ask(client, keys=[*keys, keys[0]])
    assert (request["partitions"], request["runs"]) == (14, {"queued": 14})
    client.post(f"/requests/{request['id']}/cancel")
    assert client.post("/assets/days/mark", json={"keys": keys}).json()["count"] == 14
    assert client.post("/assets/days/forget", json={"keys": keys}).json()["count"] == 14
    assert client.post("/assets/days/remember", json={"keys": keys[:3]}).json()["count"] == 3


@pytest.mark.parametrize("path", ["requests", "mark", "forget", "remember"])
def test_eo6_keys_or_a_selection_and_each_key_is_one(client: httpx.Client, path: str) -> None:
    def refused(**body: Any) -> str:
        answer = problem(client.post(f"/assets/days/{path}", json=body))
        assert answer["status"] == 422
        detail: str = answer["detail"]
        return detail

    assert "expected one of both" in refused(select="all", keys=["2013-03-01"])
    assert "expected one of both" in refused(select="2013-03-01", keys=["2013-03-01"])
    assert "nothing says which partitions are meant" in refused()
    wrong = refused(keys=["2013-03-01", "2013-03-2", "2013-03-03", "JFK"])
    assert wrong.startswith("keys[1]: '2013-03-2' ")
    assert "nearest: 2013-03" in wrong
    assert "keys[3]: 'JFK'" in wrong
    assert "keys" in refused(keys=[])


#: What changes something and can be tried first: what a refusal of it takes, and what it says.
REFUSED: dict[str, tuple[dict[str, Any], int]] = {
    "POST /assets/{asset}/requests": ({"select": "2013-01-01|JFK"}, 422),
    "POST /fill": ({"since": "2h", "until": "3h"}, 422),
    "POST /assets/{asset}/mark": ({"select": "2015-01-01"}, 422),
    "POST /assets/{asset}/forget": ({"select": "2015-01-01"}, 422),
    "POST /assets/{asset}/remember": ({"select": "2015-01-01"}, 422),
    "POST /assets/{asset}/adopt": ({"from_asset": "days"}, 422),
    "POST /assets/{asset}/keys/add": ({"keys": ["ann"]}, 422),
    "POST /assets/{asset}/keys/remove": ({"keys": ["ann"]}, 422),
    "POST /assets/{asset}/reconcile": ({}, 404),
    "POST /assets/{asset}/missed/skip": ({}, 404),
    "POST /requests/{request}/pause": ({}, 409),
    "POST /requests/{request}/resume": ({}, 409),
    "POST /requests/{request}/cancel": ({}, 409),
    "POST /requests/{request}/retry": ({}, 409),
    "POST /requests/{request}/delete": ({}, 409),
}


def test_eo5_every_change_can_be_tried_and_is_refused_as_it_would_be(client: httpx.Client, estate: Metadata) -> None:
    assert {each.route for each in OPERATIONS if each.route.startswith("POST")} == REFUSED.keys()
    done, at_work = ask(client, select="2013-01-17")["id"], ask(client, select="2013-01-18")["id"]
    with estate.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.backfill_id == done).values(state="success"))
    for route, (body, status) in REFUSED.items():
        number = at_work if route.endswith("delete") else done
        asset = "lost" if status == 404 else "days"
        path = route.split()[1].format(request=number, asset=asset)
        tried, changed = (client.post(path, json=body | {"dry_run": dry_run}) for dry_run in (True, False))
        assert (route, changed.status_code) == (route, status)
        assert (route, problem(tried)) == (route, problem(changed))
    client.post(f"/requests/{at_work}/cancel")


def test_eo5_to_ask_for_partitions_is_refused_in_a_dry_run_as_else(client: httpx.Client, estate: Metadata) -> None:
    number = ask(client, select="2013-01-19")["id"]
    before = [each["id"] for each in client.get("/requests").json()["requests"]]

    def refused(**body: Any) -> int:
        tried, asked = (
            client.post("/assets/days/requests", json=body | {"dry_run": dry_run}) for dry_run in (True, False)
        )
        assert problem(tried) == problem(asked)
        return tried.status_code

    assert refused(select="2013-01-19..2013-01-21") == 409  # in part asked for already
    client.post(f"/requests/{number}/cancel")
    change_dag(estate, "makes", is_paused=True)
    try:
        assert refused(select="2013-01-20") == 409
        body = {"select": "2013-01-20", "while_paused": True, "dry_run": True}
        assert client.post("/assets/days/requests", json=body).json()["requests"] == []
    finally:
        change_dag(estate, "makes", is_paused=False)
    assert client.post("/assets/days/requests", json={"select": "2013-01-20", "dry_run": True}).status_code == 200
    assert [each["id"] for each in client.get("/requests").json()["requests"]] == before


def test_eo5_reconcile_can_be_tried(client: httpx.Client, estate: Metadata) -> None:
    client.post("/assets/days/mark", json={"select": "2013-01-21..2013-01-24", "quiet": True})
    tried = client.post("/assets/days/reconcile", json={"dry_run": True}).json()
    assert (tried["dry_run"], tried["written"] >= 3) == (True, True)
    assert client.post("/assets/days/reconcile", json={"dry_run": True}).json() == tried  # nothing was written
    assert client.post("/assets/days/reconcile").json() == tried | {"dry_run": False}
    assert client.post("/assets/days/reconcile", json={"dry_run": True}).json()["written"] == 0


@pytest.mark.parametrize(
    "path", ["/assets/a%0Ab", "/assets/a%0Ab/states", "/nothing", "/assets/days/nothing", "/a%0Ab"]
)
def test_eo10_what_is_not_there_is_a_problem_document(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, problem(answer)["status"]) == (404, 404)


def test_eo14_a_skipped_partition_is_not_made(client: httpx.Client, estate: Metadata) -> None:
    number = ask(client, select="2013-01-25..2013-01-28")["id"]
    with estate.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.backfill_id == number).values(state="success"))
        own = select(DagRun.run_id).where(DagRun.backfill_id == number, DagRun.partition_key == "2013-01-26")
        at.execute(update(TaskInstance).where(TaskInstance.run_id.in_(own)).values(state="skipped"))
    shown = client.get(f"/requests/{number}").json()
    assert (shown["state"], shown["runs"]) == ("done", {"success": 2, "skipped": 1})


def test_eo11_a_retry_answers_soon_and_goes_on_afterwards(client: httpx.Client, estate: Metadata) -> None:
    number = ask(client, select="2013-01-01..2013-03-30")["id"]
    with estate.engine.begin() as at:
        at.execute(update(DagRun).where(DagRun.backfill_id == number).values(state="failed"))
    answered = client.post(f"/requests/{number}/retry").json()
    assert (answered["state"], answered["runs"]["queued"]) == ("creating", 50)
    while client.get(f"/requests/{number}").json()["runs"] != {"queued": 88}:
        time.sleep(0.05)
    client.post(f"/requests/{number}/cancel")
