"""What is said of partitions by hand over REST and by the command line: marked, forgotten, taken over, keys added."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import httpx
import pytest
from airflow.cli.cli_config import ActionCommand

from airflow_partitions.operate.cli.commands import get_commands
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor
from tests.operate.rest.conftest import Server, problem

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def events(metadata: Metadata) -> list[tuple[str | None, Any]]:
    from airflow.models.asset import AssetEvent
    from sqlalchemy import select

    with metadata.engine.connect() as at:
        return [tuple(row) for row in at.execute(select(AssetEvent.partition_key, AssetEvent.extra).order_by("id"))]


def answer(client: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints, on one line."""
    import argparse

    parser = argparse.ArgumentParser()
    command = next(each for each in get_commands()[0].subcommands if each.name == words[0])  # type: ignore[attr-defined]
    assert isinstance(command, ActionCommand)
    for arg in command.args:
        arg.add_to_parser(parser)
    args: Namespace = parser.parse_args(words[1:])
    command.func(args)
    return " ".join(capsys.readouterr().out.split())


def test_partitions_are_marked_and_forgotten_by_who_is_signed_in(client: httpx.Client, estate: Metadata) -> None:
    body = {"select": "2013-01-01..2013-01-03", "reason": "loaded by hand"}
    assert answer(client, "/assets/days/mark", **body, dry_run=True)["count"] == 2
    assert events(estate) == []
    assert answer(client, "/assets/days/mark", **body) == {
        "asset": "days",
        "count": 2,
        "present": 0,
        "new": "2013-01-01..2013-01-03",
        "quiet": False,
        "dry_run": False,
    }
    extra = {"marked": {"by": "editor", "reason": "loaded by hand", "quiet": False}}
    assert events(estate) == [("2013-01-01", extra), ("2013-01-02", extra)]
    assert answer(client, "/assets/days/forget", select="2013-01")["absent"] == 29
    (part,) = estate.cells("days", "forgotten")["forgotten"]["parts"]
    assert part["by"] == "editor"


def test_runtime_keys_are_added_listed_and_removed(client: httpx.Client, estate: Metadata) -> None:
    change = answer(client, "/assets/customers/keys/add", keys=["ann", "bob"], metadata={"since": 2013})
    assert (change["name"], change["keys"]) == ("customers", ["ann", "bob"])
    listed = client.get("/assets/customers/keys", params={"limit": 1}).json()
    assert [(each["key"], each["metadata"]) for each in listed["keys"]] == [("bob", {"since": 2013})]
    assert (listed["count"], listed["cursor"]) == (2, "1:bob")
    rest = client.get("/assets/customers/keys", params={"cursor": listed["cursor"]}).json()
    assert ([each["key"] for each in rest["keys"]], rest["cursor"]) == (["ann"], None)
    answer(client, "/assets/customers/keys/remove", keys=["ann"])
    assert [each["key"] for each in client.get("/assets/customers/keys").json()["keys"]] == ["bob"]
    refused = problem(client.post("/assets/customers/keys/remove", json={"keys": ["bib"]}))
    assert (refused["status"], refused["nearest"]) == (422, ["bob"])


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        ("days/mark", {"select": "2013-01-01..2013-01-01"}, 422, "selects no partition"),
        ("days/mark", {"select": "2099-01-01"}, 422, "2099-01-01"),
        ("days/forget", {"select": "nonsense"}, 422, "'nonsense'"),
        ("dyas/mark", {"select": "2013-01-01"}, 404, "nearest: days"),
        ("days/adopt", {}, 422, "expected one of both"),
        ("days/adopt", {"from_storage": True, "from_asset": "x"}, 422, "expected one of both"),
        ("days/adopt", {"from_storage": True}, 422, "no Dag says where asset 'days' is stored"),
        ("days/adopt", {"from_asset": "x"}, 404, "Airflow knows no asset 'x'"),
        ("days/keys/add", {"keys": ["x"]}, 422, "follow from its definition"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(
    client: httpx.Client, path: str, body: dict[str, Any], status: int, detail: str
) -> None:
    refused = problem(client.post(f"/assets/{path}", json=body))
    assert refused["status"] == status
    assert detail in refused["detail"]


def test_commands_do_the_same_on_the_database_and_over_rest(
    server: Server, estate: Metadata, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.client(editor()) as client:
        monkeypatch.setenv("AIRFLOW_CLI_TOKEN", client.headers["Authorization"].removeprefix("Bearer "))
    monkeypatch.setenv("NO_PROXY", "*")
    for source in ([], ["--url", server.address]):
        told = run(capsys, "mark", "days", "2013-01-01", "--quiet", *source)
        assert told.startswith("1 partition of days marked as materialized")
        told = run(capsys, "forget", "days", "2013-01-01..2013-01-03", "--dry-run", *source)
        assert told.startswith("dry run, nothing was changed: 1 partition of days forgotten; 1 were missing before")
        run(capsys, "keys", "customers", "--add", "ann", "--metadata", '{"since": 2013}', *source)
        listed = json.loads(run(capsys, "keys", "customers", "--output", "json", *source))
        assert [(each["key"], each["metadata"]) for each in listed["keys"]] == [("ann", {"since": 2013})]
        assert run(capsys, "keys", "customers", "--remove", "ann", "--output", "plain", *source) == "ann"
        with pytest.raises(SystemExit, match="no Dag says where asset 'days' is stored"):
            run(capsys, "adopt", "days", "--from-storage", *source)
