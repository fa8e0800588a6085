"""Who gets which answer: every route, for nobody, a viewer, an editor of another Dag, and an editor."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from airflow_partitions.operate.rest.app import create_app
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor, viewer
from tests.operate.rest.conftest import PREFIX, Server, ask_for, problem

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

#: The answers to nobody, a viewer of all, an editor of another Dag, and an editor of all, by route.
ANSWERS = {
    "GET /assets": (401, 200, 200, 200),
    "GET /assets/{asset}": (401, 200, 403, 200),
    "GET /assets/{asset}/keys": (401, 200, 403, 200),
    "GET /assets/{asset}/states": (401, 200, 403, 200),
    "GET /assets/{asset}/counts": (401, 200, 403, 200),
    "GET /assets/{asset}/grid": (401, 200, 403, 200),
    "GET /board": (401, 200, 200, 200),
    "GET /assets/{asset}/values": (401, 200, 403, 200),
    "GET /assets/{asset}/tasks": (401, 200, 403, 200),
    "GET /assets/{asset}/partitions/{key}": (401, 200, 403, 200),
    "GET /assets/{asset}/materializations": (401, 200, 403, 200),
    "GET /assets/{asset}/plan": (401, 200, 403, 200),
    "POST /assets/{asset}/requests": (401, 403, 403, 200),
    "GET /requests": (401, 200, 200, 200),
    "GET /requests/{request}": (401, 200, 403, 200),
    "POST /requests/{request}/pause": (401, 403, 403, 200),
    "POST /requests/{request}/resume": (401, 403, 403, 200),
    "POST /requests/{request}/cancel": (401, 403, 403, 200),
    "POST /requests/{request}/delete": (401, 403, 403, 409),
    "POST /requests/{request}/retry": (401, 403, 403, 409),
    "GET /assets/{asset}/orphans": (401, 200, 403, 200),
    "GET /assets/{asset}/late": (401, 200, 403, 200),
    "GET /assets/{asset}/missed": (401, 200, 403, 200),
    "POST /assets/{asset}/missed/skip": (401, 403, 403, 200),
    "POST /assets/{asset}/mark": (401, 403, 403, 200),
    "POST /assets/{asset}/forget": (401, 403, 403, 200),
    "POST /assets/{asset}/remember": (401, 403, 403, 200),
    "POST /assets/{asset}/adopt": (401, 403, 403, 422),
    "POST /assets/{asset}/keys/add": (401, 403, 403, 422),
    "POST /assets/{asset}/keys/remove": (401, 403, 403, 422),
    "POST /assets/{asset}/reconcile": (401, 403, 403, 200),
    "GET /failures": (401, 200, 200, 200),
    "GET /changes": (401, 200, 200, 200),
    "GET /doctor": (401, 200, 200, 200),
    "GET /upkeep": (401, 200, 200, 200),
    "POST /fill": (401, 200, 200, 200),  # who may start no Dag has all left out
}
#: What a route needs in its query.
QUERIES = {
    "GET /assets/{asset}/plan": {"select": "2013-01-01"},
    "GET /assets/{asset}/values": {"value": "rows"},
    "GET /changes": {"since": "2h"},
}
#: What a request of a route needs to be answered.
BODIES: dict[str, dict[str, Any]] = {
    "POST /fill": {"since": "2013-01-01T00:00Z", "until": "2013-03-01T00:00Z", "dry_run": True},
    "POST /assets/{asset}/requests": {"select": "2013-01-01..2013-01-03", "dry_run": True},
    **{
        f"POST /requests/{{request}}/{verb}": {"dry_run": True}
        for verb in ("pause", "resume", "cancel", "retry", "delete")
    },
    "POST /assets/{asset}/mark": {"select": "2013-01-01"},
    "POST /assets/{asset}/forget": {"select": "2013-01-01"},
    "POST /assets/{asset}/remember": {"select": "2013-01-01"},
    "POST /assets/{asset}/adopt": {"from_storage": True},
    "POST /assets/{asset}/keys/add": {"keys": ["ann"]},
    "POST /assets/{asset}/keys/remove": {"keys": ["ann"]},
}
PLACES: dict[str, str | int] = {"asset": "days", "key": "2013-03-01"}
USERS = {"nobody": None, "viewer": viewer(), "editor of another Dag": editor("others"), "editor": editor()}


def operations() -> dict[str, dict[str, Any]]:
    """All routes of the OpenAPI document, as method and path."""
    paths = create_app().openapi()["paths"]
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}": operation
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


def ask(client: httpx.Client, route: str) -> httpx.Response:
    method, path = route.split()
    return client.request(method, path.format(**PLACES), json=BODIES.get(route), params=QUERIES.get(route))


def test_every_route_answers_each_user_as_the_matrix_says(server: Server, estate: Metadata) -> None:
    assert operations().keys() == ANSWERS.keys()
    PLACES["request"] = ask_for("2013-02-01")
    answers = dict[str, list[int]]()
    for user in USERS.values():
        with server.client(user) as client:
            for route in ANSWERS:
                answers.setdefault(route, []).append(ask(client, route).status_code)
    assert {route: tuple(statuses) for route, statuses in answers.items()} == ANSWERS


@pytest.mark.usefixtures("engine")
def test_every_answer_of_the_matrix_is_documented() -> None:
    for route, operation in operations().items():
        assert {str(status) for status in ANSWERS[route]} <= operation["responses"].keys()


def test_a_change_by_the_cookie_alone_is_refused(server: Server, estate: Metadata) -> None:
    PLACES["request"] = ask_for("2013-02-01")
    with server.client(editor()) as signed_in:
        cookie = {"Cookie": f"_token={signed_in.headers['Authorization'].removeprefix('Bearer ')}"}
    with server.client() as browser:
        for route in operations():
            method, path = route.split()
            if method == "GET":
                answer = browser.get(path.format(**PLACES), headers=cookie, params=QUERIES.get(route))
                assert answer.status_code == 200
                continue
            path = path.format(**PLACES)
            answer = browser.request(method, path, headers=cookie, json=BODIES.get(route))
            assert "X-Requested-With" in problem(answer)["detail"]
            headers = {**cookie, "X-Requested-With": "test"}
            answer = browser.request(method, path, headers=headers, json=BODIES.get(route))
            assert answer.status_code == ANSWERS[route][-1]


def test_a_forged_token_is_refused(server: Server, estate: Metadata) -> None:
    with server.client() as client:
        answer = client.get("/assets", headers={"Authorization": "Bearer nonsense"})
        assert problem(answer)["status"] in (401, 403)
        assert PREFIX in str(answer.url)
