"""Commands that an API server answers: the same as on the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import yaml

from airflow_partitions.operate.contract.operations import OPERATIONS
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor, viewer
from tests.operate.rest.conftest import Server
from tests.operate.rest.test_permissions import operations

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

Say = Callable[..., str]


@pytest.fixture
def say(server: Server, estate: Metadata, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run a command, and give what it prints."""
    from airflow.cli.cli_parser import get_parser

    with server.client(editor()) as client:
        monkeypatch.setenv("AIRFLOW_CLI_TOKEN", client.headers["Authorization"].removeprefix("Bearer "))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def run(*words: str) -> str:
        args: Any = get_parser().parse_args(["asset-partitions", *words])
        capsys.readouterr()
        try:
            args.func(args)
        except SystemExit as end:
            if isinstance(end.code, str):  # a reason, not that something is incomplete
                raise
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "days", "--limit", "3"),
        ("keys", "days", "2013-03-01..2013-03-05", "--search", "03-0", "--after", "2013-03-03"),
        ("keys", "s3://lake/hours", "2013-11-03", "--oldest-first"),
        ("reconcile",),
        ("reconcile", "days", "customers"),
        ("list",),
        ("status", "days", "2013-03"),
        ("tasks", "days", "2013-03-01..2013-03-05", "--limit", "3"),
        ("explain", "days", "2013-03-01"),
        ("plan", "days", "2013-03-01..2013-03-05"),
        ("materialize", "days", "2013-03-01..2013-03-05", "--dry-run"),
        ("requests",),
        ("mark", "days", "2013-03-01", "--dry-run"),
        ("forget", "days", "2013-03-01", "--dry-run"),
    ],
)
def test_a_command_says_the_same_of_an_api_server(say: Say, server: Server, words: tuple[str, ...]) -> None:
    here = json.loads(say(*words, "--output", "json"))
    assert here
    assert timeless(json.loads(say(*words, "--output", "json", "--url", server.address))) == timeless(here)


def timeless(answer: Any) -> Any:
    """An *answer* without the moments at which it was given."""
    if isinstance(answer, list):
        return [timeless(each) for each in answer]
    if isinstance(answer, dict):
        return {name: timeless(each) for name, each in answer.items() if name != "now"}
    return answer


def test_the_doctor_asks_an_api_server(say: Say, server: Server) -> None:
    answer = json.loads(say("doctor", "--output", "json", "--url", server.address))
    assert answer == {"problems": [], "notes": []}


def test_output_comes_as_people_and_scripts_like_it(say: Say) -> None:
    words = "keys", "airport_days", "--dimension", "airport"
    assert yaml.safe_load(say(*words, "--output", "yaml"))["count"] == 3
    assert say(*words, "--output", "plain").splitlines() == ["EWR\t\t", "JFK\t\t", "a/b|c\t\t"]
    table = say("keys", "days", "--limit", "2")
    assert "2013-03-31" in table
    assert "2 of 90" in table


def test_a_connection_of_airflow_names_the_server_and_the_token(
    say: Say, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = httpx.URL(server.address).port
    with server.client(viewer()) as client:
        token = client.headers["Authorization"].removeprefix("Bearer ")
    form = {"conn_type": "http", "host": "127.0.0.1", "port": port, "password": token}
    monkeypatch.setenv("AIRFLOW_CONN_OTHER_AIRFLOW", json.dumps(form))
    monkeypatch.delenv("AIRFLOW_CLI_TOKEN")
    words = "keys", "days", "--output", "json"
    assert json.loads(say(*words, "--connection", "other_airflow")) == json.loads(say(*words))
    with pytest.raises(SystemExit, match=r"refuses \(403\)"):
        say("reconcile", "days", "--connection", "other_airflow")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("keys", "day", "--url", "{url}"), "nearest: days"),
        (("keys", "days", "--url", "{url}/elsewhere"), "no Airflow with airflow-partitions"),
        (("keys", "days", "--url", "http://127.0.0.1:9"), "does not answer"),
        (("keys", "days", "--url", "airflow"), "expected for example https://"),
        (("keys", "days", "--connection", "nowhere"), "no connection 'nowhere'"),
        (("keys", "days", "--limit", "0"), "limit"),
    ],
)
def test_what_can_not_be_asked_is_said(say: Say, server: Server, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        say(*(word.format(url=server.address) for word in words))


def test_no_token_and_a_wrong_token_are_said(say: Say, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CLI_TOKEN", "nonsense")
    with pytest.raises(SystemExit, match="refuses"):
        say("keys", "days", "--url", server.address)
    monkeypatch.delenv("AIRFLOW_CLI_TOKEN")
    with pytest.raises(SystemExit, match="expected a token in the variable AIRFLOW_CLI_TOKEN"):
        say("keys", "days", "--url", server.address)


@pytest.mark.usefixtures("engine")
def test_every_operation_is_a_route_of_its_name() -> None:
    routes = {operation["operationId"]: route for route, operation in operations().items()}
    assert routes == {each.called(): each.route for each in OPERATIONS}
