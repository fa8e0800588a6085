"""The commands that look, on a real metadata database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.upkeep import one_round
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

NEW_YORK = PartitionByInterval("@hourly", timezone="America/New_York")
HOURS = [str(hour) for hour in NEW_YORK.keys("2013-11-03", "2013-11-04")]
Say = Callable[..., str]


@pytest.fixture
def say(metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run a command on some records, and give what it prints."""
    from airflow.cli.cli_parser import get_parser

    metadata.parse(
        tmp_path,
        flights="""
        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", timezone="America/New_York"))
        def flights(): ...

        @asset(schedule=None, partition=PartitionBySequence(["a[b]", "[red]"]), dag_id="oddities")
        def odd(): ...
        """,
    )
    metadata.emit("flights", *HOURS[:24], source_dag_id="flights", source_run_id="run1", extra={"rows": 7, "files": 1})
    metadata.emit("flights", HOURS[24], "nonsense")
    metadata.emit("odd", "a[b]", "[red]")
    one_round()
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> str:
        args: Any = get_parser().parse_args(["asset-partitions", *words])
        capsys.readouterr()
        args.func(args)
        return capsys.readouterr().out

    return run


def test_a_range_is_read_in_the_zone_of_the_partition(say: Say) -> None:
    def keys(*words: str) -> list[str]:
        return [row["key"] for row in json.loads(say("records", "flights", *words, "--output", "json"))]

    assert keys() == HOURS
    assert keys("--from", "2013-11-03", "--until", "2013-11-04") == HOURS
    assert keys("--from", "2013-11-04") == []
    assert keys("--until", "2013-11-03T01:00-04:00") == HOURS[:1]
    assert keys("--from", "2013-11-03T01:00-05:00", "--until", "2013-11-03T03:00-05:00") == HOURS[2:4]


def test_a_record_says_who_made_it(say: Say) -> None:
    first, *_, last = json.loads(say("records", "flights", "--output", "json"))
    assert (first["dag_id"], first["run_id"], first["extra"]) == ("flights", "run1", {"rows": 7, "files": 1})
    assert (last["dag_id"], last["first"], last["last"]) == (None, "2020-01-01T00:00:00+00:00", last["first"])
    table = say("records", "flights")
    assert all(hour in table for hour in HOURS)
    assert table.count("run1") == 24


def test_keys_are_shown_as_they_are(say: Say) -> None:
    table = say("records", "odd")
    assert "a[b]" in table
    assert "[red]" in table


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("records", "flihgts"), "no Dag makes or waits for partitions of an asset 'flihgts'; nearest: flights"),
        (("records", "oddities"), "'oddities' is the Dag that makes 'odd'"),
        (("records", "nothing alike"), "there are: flights, odd"),
        (("records", "flights", "--from", "yesterday"), "--from='yesterday' is not a time"),
        (("records", "flights", "--until", "2013-11-03T01:00"), "--until="),
        (("records", "odd", "--until", "2013-11-03"), "--from and --until choose intervals"),
        (("reconcile", "flihgts"), "nearest: flights"),
    ],
)
def test_eu12_what_makes_no_sense_is_refused(say: Say, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(SystemExit) as refused:
        say(*words)
    assert said in str(refused.value)


def test_the_doctor_tells_what_can_never_run(
    say: Say, metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as well:
        say("doctor")
    assert well.value.code == 0
    waiting = "@asset(schedule=Asset.ref(name='nothing'), partition=DAYS)\ndef lonely(): ...\n"
    metadata.parse(tmp_path, lonely=waiting)
    for words in ((), ("--output", "json")):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ill:
            say("doctor", *words)
        assert ill.value.code == 1
        out = capsys.readouterr().out
        assert "no Dag makes partitions of the asset 'nothing'" in " ".join(out.split())
    assert len(json.loads(out)["problems"]) == 1
