"""Each command that reads answers for all else while one asset is broken, and names that one with its cause."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.cli.cli_config import GroupCommand

from airflow_partitions.operate.cli.commands import get_commands
from airflow_partitions.operate.states import overview
from tests.metadata import Metadata
from tests.operate.absent.sound_estate import names_broken, of_others
from tests.operate.absent.test_isolation import DAMAGES

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

Say = Callable[..., tuple[str, Any]]
#: Commands about many assets, and about a sound one, each as it is called.
READ = {
    "list": ("list",),
    "status": ("status", "sound"),
    "tasks": ("tasks", "sound"),
    "explain": ("explain", "sound", "2013-01-04"),
    "failures": ("failures",),
    "board": ("board", "--since", "2012-12-20T00:00Z", "--until", "2013-02-01T00:00Z", "--asset", "sound"),
    "fill": ("fill", "--since", "2012-12-20T00:00Z", "--until", "2013-02-01T00:00Z", "--asset", "sound", "--dry-run"),
    "changes": ("changes", "--since", "2013-01-01T00:00+00:00"),
    "records": ("records", "sound"),
    "keys": ("keys", "sound"),
    "plan": ("plan", "sound", "2013-01-03", "--downstream"),
    "requests": ("requests",),
    "reconcile": ("reconcile", "--dry-run"),
    "maintain": ("maintain", "--dry-run"),
    "doctor": ("doctor",),
}
#: Those that change something, or look at no asset that is kept here.
OTHERS = {"materialize", "pause", "resume", "cancel", "retry", "delete", "mark", "forget", "remember", "skip-missed",
          "adopt", "upkeep", "downgrade", "test", "ddl", "spark-server", "spark-classes"}  # fmt: skip
BROKEN = ("definition that is no JSON", "records that are no JSON", "request that is no JSON", "tasks that are none",
          "file with an import error", "cell of a later release")  # fmt: skip
#: Those that tell of the broken one where nothing is known of it.
TELL = ("list", "changes", "failures", "reconcile")


@pytest.fixture
def say(estate: Metadata, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run a command, and give what it prints and its exit status."""
    from airflow.cli.cli_parser import get_parser

    monkeypatch.setenv("COLUMNS", "400")

    def run(*words: str) -> tuple[str, Any]:
        args: Any = get_parser().parse_args(["asset-partitions", *words])
        overview._OVERVIEWS.clear()
        capsys.readouterr()
        code: Any = 0
        try:
            args.func(args)
        except SystemExit as ended:
            code = ended.code
        return capsys.readouterr().out, code

    return run


def told(say: Say) -> dict[str, tuple[Any, Any]]:
    """What each command tells of the sound assets, and its exit status."""
    answers = {}
    for name, words in READ.items():
        text, code = say(*words, "--output", "json")
        form = json.loads(text)
        if name == "doctor":
            form = form["problems"], [note for note in form["notes"] if "broken" not in note]
            form = [[one for one in some if "broken" not in one] for some in form]
        answers[name] = of_others(form), code
    return answers


@pytest.mark.usefixtures("engine")
def test_each_command_is_among_these() -> None:
    (group,) = get_commands()
    assert isinstance(group, GroupCommand)
    assert {command.name for command in group.subcommands} == READ.keys() | OTHERS
    assert not READ.keys() & OTHERS


@pytest.mark.parametrize("damage", BROKEN)
def test_each_command_answers_for_all_else(estate: Metadata, say: Say, folder: Path, damage: str) -> None:
    before = told(say)
    assert (before["doctor"][1], before["list"][1], before["status"][1]) == (0, 0, 1)
    DAMAGES[damage][0](estate, folder)
    after = told(say)
    for name, (form, code) in before.items():
        assert after[name][0] == form, name
        if name == "doctor":
            assert after[name][1] == 1
        elif name != "reconcile":
            assert after[name][1] == code, name
    problems = json.loads(say("doctor", "--output", "json")[0])["problems"]
    assert [text for text in problems if "broken" in text]
    ways = "airflow asset-partitions", "mend", "reserialize", "delete what the other one left"
    assert all(any(way in text for way in ways) for text in problems)


@pytest.mark.parametrize("damage", BROKEN)
def test_a_ledger_is_taken_over_beside_a_broken_asset(estate: Metadata, say: Say, folder: Path, damage: str) -> None:
    words = ("adopt", "after_sound", "--from-asset", "sound", "--dry-run", "--output", "json")
    before = json.loads(say(*words)[0])
    assert before["count"] == 3
    DAMAGES[damage][0](estate, folder)
    text, code = say(*words)
    assert (json.loads(text), code) == (before, 0)


@pytest.mark.usefixtures("engine")
def test_an_asset_is_told_in_sql_beside_a_file_that_cant_be_read(say: Say, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import airflow  # that is to have a dag\nraise NameError('x')")
    (tmp_path / "sound.py").write_text(
        "from airflow_partitions import PartitionByInterval, asset\n"
        "from airflow_partitions.storage import Parquet\n"
        "@asset(schedule='@daily', partition=PartitionByInterval('@daily', name='day'),"
        " storage=Parquet('/nowhere/told', schema={'n': 'long'}))\n"
        "def told(): ...\n"
    )
    text, code = say("ddl", "told", "--engine", "duckdb", "--dags", str(tmp_path))
    assert code == 0
    assert "/nowhere/told" in text
    text, code = say("ddl", "broken", "--engine", "duckdb", "--dags", str(tmp_path))
    assert "NameError: x" in str(code)


def test_commands_tell_of_what_cant_be_counted(estate: Metadata, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.operate.states.readings import Readings

    times = Readings.times

    def broken(self: Readings, asset: Any) -> Any:
        if asset.name == "broken":
            raise OverflowError("no such time")
        return times(self, asset)

    before = told(say)
    monkeypatch.setattr(Readings, "times", broken)
    after = told(say)
    for name, (form, code) in before.items():
        assert after[name][0] == form, name
        assert after[name][1] == (1 if name == "doctor" else code), name
    for name in ("list", "changes", "failures"):
        for output in ("table", "plain", "json"):
            text, code = say(*READ[name], "--output", output)
            assert "OverflowError: no such time" in text, (name, output)
            assert code == 0
    text, code = say("doctor")
    assert "asset 'broken': what failed of it can't be told: OverflowError: no such time" in text
    assert "airflow asset-partitions reconcile broken" in text
    assert code == 1
    assert not names_broken(say("status", "sound")[0])


def test_a_ledger_that_cant_be_made_again_keeps_none_of_the_others(
    estate: Metadata, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.core.errors import StorageError
    from airflow_partitions.operate.operations import upkeep

    changes = upkeep.ledger_changes

    def broken(asset: str, *rest: Any, **more: Any) -> Any:
        if asset == "broken":
            raise StorageError("told by the test")
        return changes(asset, *rest, **more)

    before = json.loads(say("reconcile", "--dry-run", "--output", "json")[0])
    monkeypatch.setattr(upkeep, "ledger_changes", broken)
    text, code = say("reconcile", "--dry-run", "--output", "json")
    assert json.loads(text) == [one for one in before if one["asset"] != "broken"]
    assert code == "asset 'broken': told by the test"
