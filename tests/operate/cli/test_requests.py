"""Commands about requests, as they are typed, on the real metadata tables."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.cli import cli_parser

from airflow_partitions.operate.cli.materialize import FAILED, STANDS_STILL
from tests.metadata import Metadata
from tests.operate.requests.test_materialize import dags, finish, runs

__all__ = ["dags"]


def run(*arguments: str) -> None:
    parser = cli_parser.get_parser()
    args = parser.parse_args(["asset-partitions", *arguments])
    args.func(args)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    run(*arguments, "--output", "json")
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    return form


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The state of the one request that a command was about."""
    (request,) = answer(capsys, *arguments)["requests"]
    state: str = request["state"]
    return state


def test_a_month_is_filled_watched_and_repaired(dags: Metadata, capsys: pytest.CaptureFixture[str]) -> None:
    planned = answer(capsys, "plan", "flights", "2013-03", "--only", "missing")
    assert (planned["partitions"], planned["steps"][0]["selection"]) == (31, "2013-03")
    asked = answer(capsys, "materialize", "flights", "2013-03", "--label", "fill", "--concurrency", "4")
    (request,) = asked["requests"]
    number = str(request["id"])
    assert (request["state"], request["runs"], request["options"]["concurrency"]) == ("running", {"queued": 31}, 4)
    finish(dags)
    finish(dags, "failed", "2013-03-07")
    (listed,) = answer(capsys, "requests", "flights")["requests"]
    assert (listed["state"], listed["runs"]) == ("failed", {"success": 30, "failed": 1})
    assert answer(capsys, "plan", "flights", "--only", "failed")["steps"][0]["selection"] == "2013-03-07"
    assert told(capsys, "retry", number) == "running"
    assert told(capsys, "pause", number, "--dry-run") == "running"
    assert told(capsys, "pause", number) == "paused"
    assert told(capsys, "resume", number) == "running"
    assert told(capsys, "cancel", number) == "cancelled"


def test_forms_for_people_and_lines_for_scripts(dags: Metadata, capsys: pytest.CaptureFixture[str]) -> None:
    run("materialize", "flights", "2013-03-01", "2013-03-03", "--label", "repair")
    shown = capsys.readouterr().out
    assert "flights: 2013-03-01, 2013-03-03" in shown
    assert "▶ running" in shown
    run("requests", "flights", "--output", "plain")
    line = capsys.readouterr().out.splitlines()[-1].split("\t")
    assert line[1:7] == ["running", "2", "0", "0", "0", "2"]
    assert line[8:] == ["repair", "2013-03-01, 2013-03-03"]
    run("plan", "flights", "2013-03-01..2013-03-05", "--output", "plain")
    assert capsys.readouterr().out.splitlines()[-1].split("\t")[:5] == ["flights", "flights", "asked", "4", "4"]


@pytest.mark.parametrize(("version", "is_told"), [("3.3.2", True), ("3.4.0b2", False)])
def test_more_at_a_time_than_airflow_works_on_is_told(
    dags: Metadata, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, version: str, is_told: bool
) -> None:
    monkeypatch.setattr("airflow_partitions.operate.requests.concurrency.airflow_version", version)
    run("materialize", "flights", "2013-03", "--concurrency", "300", "--dry-run")
    shown = " ".join(capsys.readouterr().out.split())
    assert ("no more than 20 running runs of all requests and backfills together" in shown) == is_told


def test_a_dry_run_asks_for_nothing(dags: Metadata, capsys: pytest.CaptureFixture[str]) -> None:
    form = answer(capsys, "materialize", "flights", "2013-03-01", "--dry-run")
    assert (form["requests"], form["dry_run"], form["plan"]["partitions"]) == ([], True, 1)
    assert runs(dags) == []


@pytest.mark.parametrize(
    ("state", "status"), [("success", 0), ("failed", FAILED), ("running", None), ("cancelled", STANDS_STILL)]
)
def test_the_exit_status_tells_what_became_of_it(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch, state: str, status: int | None
) -> None:
    from airflow_partitions.operate.cli import materialize
    from airflow_partitions.operate.contract.requests import CancelRequest, ListRequests
    from airflow_partitions.operate.operations import answer

    def meanwhile(_: float) -> None:
        if state == "cancelled":
            answer(CancelRequest(request=answer(ListRequests(asset=["flights"]))["requests"][0]["id"]))
        elif state == "running":
            raise KeyboardInterrupt
        else:
            finish(dags, state)

    monkeypatch.setattr(materialize, "time", SimpleNamespace(sleep=meanwhile))  # threads of others sleep, too
    if status is None:
        with pytest.raises(KeyboardInterrupt):
            run("materialize", "flights", "2013-03-01", "--wait")
        (request,) = answer(ListRequests(asset=["flights"]))["requests"]
        assert request["state"] == "running"  # it goes on without whoever waits
        return
    with pytest.raises(SystemExit) as ended:
        run("materialize", "flights", "2013-03-01", "--wait")
    assert ended.value.code == status


@pytest.mark.parametrize("away", ["database", "server"])
def test_en11_who_waits_goes_on_while_the_database_is_away(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], away: str
) -> None:
    from sqlalchemy.exc import OperationalError

    from airflow_partitions.core.errors import RemoteError
    from airflow_partitions.operate.cli import materialize, source
    from airflow_partitions.operate.contract.requests import ShowRequest

    errors = {
        "database": OperationalError("SELECT", {}, Exception("database is locked")),
        "server": RemoteError("Airflow does not answer", status=503),
    }
    pauses: list[float] = []
    ask = source.Database.ask

    def answer_later(self: source.Database, asked: Any) -> Any:
        if isinstance(asked, ShowRequest) and len(pauses) < 3:
            raise errors[away]
        return ask(self, asked)

    def meanwhile(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            finish(dags, "success")

    monkeypatch.setattr(source.Database, "ask", answer_later)
    monkeypatch.setattr(materialize, "time", SimpleNamespace(sleep=meanwhile))  # threads of others sleep, too
    with pytest.raises(SystemExit) as ended:
        run("materialize", "flights", "2013-03-01", "--wait")
    assert (ended.value.code, pauses) == (0, [2, 4, 8])
    told = capsys.readouterr().err
    assert {"database": "database is locked", "server": "does not answer"}[away] in told


def test_en11_who_waits_ends_where_the_server_refuses(dags: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.core.errors import RemoteError
    from airflow_partitions.operate.cli import materialize, source
    from airflow_partitions.operate.contract.requests import ShowRequest

    ask = source.Database.ask

    def refuse(self: source.Database, asked: Any) -> Any:
        if isinstance(asked, ShowRequest):
            raise RemoteError("expected a token that is valid now", status=401)
        return ask(self, asked)

    monkeypatch.setattr(source.Database, "ask", refuse)
    monkeypatch.setattr(materialize, "time", SimpleNamespace(sleep=lambda _: None))
    with pytest.raises(SystemExit) as ended:
        run("materialize", "flights", "2013-03-01", "--wait")
    assert "valid now" in str(ended.value.code)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("materialize", "flights"), "nothing says which partitions are meant"),
        (("materialize", "flight", "all"), "nearest: flights"),
        (("materialize", "flights", "2013-02-30"), "'2013-02-30' is not a partition"),
        (("materialize", "flights", "2013-03-01", "--conf", "[1]"), "expected an object of JSON"),
        (("materialize", "flights", "2013-03-01", "--conf", "{"), "is no JSON"),
        (("materialize", "flights", "2013-03-01", "--concurrency", "0"), "expected a number from 1 to 100,000"),
        (("plan", "flights", "2013-03-01", "--only", "stale"), "none of the 1 selected partitions is stale"),
        (("cancel", "12345"), "there is no request 12345"),
        (("requests", "flights", "--after", "x"), "expected the number of a request"),
    ],
)
def test_what_is_refused_is_said_in_words(dags: Metadata, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert words in str(ended.value.code)


def test_pages_of_requests(dags: Metadata, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = [answer(capsys, "materialize", "flights", f"2013-03-0{day}")["requests"][0]["id"] for day in range(1, 4)]
    first = answer(capsys, "requests", "--limit", "2")
    assert [request["id"] for request in first["requests"]] == numbers[:0:-1]
    rest = answer(capsys, "requests", "flights", "--limit", "2", "--after", first["cursor"])
    assert ([request["id"] for request in rest["requests"]], rest["cursor"]) == (numbers[:1], None)


def test_eo15_several_are_told_at_once_and_one_that_is_refused_keeps_none_from_the_others(
    dags: Metadata, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (
        str(answer(capsys, "materialize", "flights", f"2013-03-0{day}")["requests"][0]["id"]) for day in (1, 2)
    )
    with pytest.raises(SystemExit) as ended:
        run("cancel", one, "12345", other, one, "--output", "json")
    form = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(each["id"], each["state"]) for each in form["requests"]] == [
        (int(one), "cancelled"),
        (int(other), "cancelled"),
    ]
    assert [each["id"] for each in form["refused"]] == [12345]
    assert str(ended.value.code).startswith("12345: there is no request 12345")
    with pytest.raises(SystemExit):
        run("retry", "12345", one, other, "--output", "plain")
    lines = [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()[-3:]]
    assert lines == [[one, "running"], [other, "running"], ["12345", "refused"]]


def test_a_request_is_deleted_when_it_has_ended(dags: Metadata, capsys: pytest.CaptureFixture[str]) -> None:
    number = str(answer(capsys, "materialize", "flights", "2013-03-01")["requests"][0]["id"])
    with pytest.raises(SystemExit, match=f"can't be deleted; cancel it first: .* cancel {number}"):
        run("delete", number)
    run("cancel", number)
    assert told(capsys, "delete", number, "--dry-run") == "cancelled"
    assert told(capsys, "delete", number) == "cancelled"
    assert answer(capsys, "requests")["requests"] == []
    assert len(runs(dags)) == 1
    with pytest.raises(SystemExit, match=f"there is no request {number}"):
        run("delete", number)


def test_eo6_keys_come_from_a_file_or_the_standard_input(
    dags: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ticket.txt"
    days = [f"2013-03-{day:02}" for day in range(1, 32, 2)]
    file.write_text("\ufeff# of the ticket\n\n" + "\n".join(f"  {day} " for day in days) + "\n")
    assert answer(capsys, "plan", "flights", "--keys-file", str(file))["partitions"] == 16
    monkeypatch.setattr("sys.stdin", io.StringIO("2013-04-01\n2013-04-03\n"))
    (request,) = answer(capsys, "materialize", "flights", "--keys-file", "-")["requests"]
    assert request["selection"] == "2013-04-01, 2013-04-03"
    assert answer(capsys, "mark", "flights", "--keys-file", str(file))["count"] == 16
    assert answer(capsys, "forget", "flights", "--keys-file", str(file), "--dry-run")["count"] == 16
    assert answer(capsys, "remember", "flights", "--keys-file", str(file))["count"] == 0
    assert answer(capsys, "plan", "flights", "--keys-file", str(file), "--only", "materialized")["partitions"] == 16


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "2013-03-01\n\n# a comment\n2013-03-33\nx\n",
            "line 4 of .*ticket.txt: '2013-03-33' is not .*; line 5 of .*'x'",
        ),
        ("2013-03-01\n2013-3-2\n", "line 2 of .*: '2013-3-2' .*nearest: "),
    ],
)
def test_eo6_a_wrong_key_is_told_by_its_line(dags: Metadata, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "ticket.txt").write_text(text)
    for command in ("materialize", "mark", "forget", "remember", "plan"):
        with pytest.raises(SystemExit, match=words):
            run(command, "flights", "--keys-file", str(tmp_path / "ticket.txt"))


def test_eo6_a_file_without_keys_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, words in (("empty", "has no key"), ("binary", "expected a file of text"), ("none", "No such file")):
        with pytest.raises(SystemExit):
            run("mark", "flights", "--keys-file", str(tmp_path / name))
        assert words in capsys.readouterr().err
