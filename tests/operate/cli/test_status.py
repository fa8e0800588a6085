"""The commands that tell of states, on a real metadata database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.metadata import Metadata
from tests.operate.states.world import put_runs

pytestmark = pytest.mark.airflow

MADE = datetime(2013, 3, 1, tzinfo=UTC)
Say = Callable[..., tuple[str, int]]


@pytest.fixture
def say(metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run a command on some partitions, and give what it prints and its exit status."""
    from airflow.cli.cli_parser import get_parser

    metadata.parse(
        tmp_path,
        flights="""
        DAYS = PartitionByInterval("@daily", start="2013-02-01", end="2013-02-11")

        @asset(schedule=None, partition=PartitionByInterval("@hourly", start="2013-02-01", end="2013-02-11"))
        def flights(partition): ...

        @asset(schedule=flights, partition=DAYS)
        def delays(partition): ...

        @asset(schedule=None, partition=PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")]))
        def airport_days(partition): ...

        @asset(schedule=None, partition=PartitionBySequence(["a[b]", "[red]"]))
        def odd(partition): ...
        """,
    )
    metadata.emit("flights", *(f"2013-02-0{day}T{hour:02}:00Z" for day in range(1, 6) for hour in range(24)), at=MADE)
    metadata.emit("flights", "2013-02-06T00:00Z", at=MADE)
    metadata.emit("delays", "2013-02-01", "2013-02-02", extra={"rows": 7}, source_dag_id="delays", source_run_id="one")
    put_runs(metadata, "delays", ["2013-02-03"], "failed", MADE)
    metadata.emit("airport_days", *(f"2013-02-{day:02}|EWR" for day in range(1, 11)))
    metadata.emit("odd", "[red]")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str) -> tuple[str, int]:
        args: Any = get_parser().parse_args(["asset-partitions", *words])
        capsys.readouterr()
        code: Any = 0
        try:
            args.func(args)
        except SystemExit as ended:
            code = ended.code
        return capsys.readouterr().out, code

    return run


def test_status_shows_a_strip_stretches_and_what_is_lacking(say: Say) -> None:
    text, code = say("status", "delays")
    assert code == 1
    title, strip, legend, *table = text.splitlines()
    assert title.strip() == "delays"
    assert len(strip) == 98
    assert [strip[round(98 * (day + 0.5) / 10)] for day in range(10)] == [*"██✗··○····"]
    assert legend.split() == ["✗", "failed", "1", "○", "waiting", "1", "·", "missing", "6", "█", "materialized", "2"]
    (waiting,) = [line for line in table if "waiting" in line]
    assert waiting.split()[1:6] == ["waiting", "2013-02-06", "2013-02-06", "1", "flights"]
    assert "1of24:2013-02-06T01:00Zto2013-02-06T23:00Z" in "".join("".join(table).split())


def test_a_value_stands_below_the_states_with_what_is_out_of_the_ordinary(say: Say, metadata: Metadata) -> None:
    for day in range(1, 11):
        rows = 10**12 if day == 4 else 10 * day
        metadata.emit("airport_days", f"2013-02-{day:02}|JFK", extra={"rows": rows})
    text = say("status", "airport_days", "--value", "rows")[0]
    lines = [line.strip() for line in text.splitlines()]
    title = next(i for i, line in enumerate(lines) if line.startswith("rows: "))
    assert lines[title] == "rows: ▁ 20 to █ 100; 10 partitions tell none"
    assert lines[title + 1] == "EWR"
    blocks = lines[title + 2].removeprefix("JFK ")
    assert [blocks[round(94 * (day + 0.5) / 10)] for day in range(10)] == [*"▼▁▂▲▄▅▆▇██"]
    assert lines[title + 3 : title + 5] == ["▲ 2013-02-04|JFK 1,000,000,000,000", "▼ 2013-02-01|JFK 10"]


def test_scripts_get_values_as_json_and_lines(say: Say) -> None:
    answer = json.loads(say("status", "delays", "--value", "rows", "--output", "json")[0])
    assert (answer["values"]["most"], answer["values"]["line"][:3]) == (7, [7, 7, None])
    lines = say("status", "delays", "--value", "rows", "--output", "plain")[0].splitlines()
    assert lines == ["\t2013-02-01\t2013-02-01\t7", "\t2013-02-02\t2013-02-02\t7"]
    assert "nearest: rows" in str(say("status", "delays", "--value", "row")[1])


def test_explain_says_where_reads_are_not_proven(say: Say, metadata: Metadata) -> None:
    assert "reads" not in say("explain", "delays", "2013-02-01")[0]
    metadata.emit("delays", "2013-02-01", extra={"rows": 7, "unproven": "flights"})
    words = " ".join(say("explain", "delays", "2013-02-01")[0].split())
    assert "• what it read of flights is not proven" in words
    assert "materialized rows files bytes reads by" in words
    assert "not proven: flights outside" in words


def test_the_exit_status_says_whether_all_is_there(say: Say) -> None:
    assert say("status", "delays", "--until", "2013-02-03")[1] == 0
    assert say("status", "delays", "--from", "2013-02-02", "--until", "2013-02-04")[1] == 1
    assert say("status", "airport_days", "airport in EWR", "--from", "2013-02-03")[1] == 0
    assert say("status", "airport_days", "--only", "materialized")[1] == 1


def test_scripts_get_stretches_as_json_yaml_and_lines(say: Say) -> None:
    answer = json.loads(say("status", "delays", "--output", "json")[0])
    assert (answer["total"], answer["counts"]["missing"]) == (10, 6)
    assert answer["stretches"][-1]["state"] == "materialized"
    assert yaml.safe_load(say("status", "delays", "--output", "yaml")[0])["stretches"] == answer["stretches"]
    text, code = say("status", "delays", "--only", "missing", "--only", "failed", "--output", "plain")
    assert code == 1
    assert text.splitlines() == [
        "missing\t2013-02-07\t2013-02-10\t4",
        "missing\t2013-02-04\t2013-02-05\t2",
        "failed\t2013-02-03\t2013-02-03\t1",
    ]


def test_a_matrix_has_a_strip_for_each_combination_of_segments(say: Say) -> None:
    lines = say("status", "airport_days")[0].splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["EWR", "JFK"]
    assert [set(line.split()[1]) for line in lines[1:3]] == [{"█"}, {"·"}]


def test_names_are_shown_as_they_are(say: Say) -> None:
    text = say("status", "odd")[0]
    assert "a[b]" in text
    assert "[red]" in text


def test_what_cant_be_read_is_refused_with_a_way_out(say: Say) -> None:
    assert "nearest: delays" in str(say("status", "delay")[1])
    assert "say the time in each of them" in str(say("status", "delays", "all; all", "--from", "2013")[1])


def test_list_shows_all_assets_with_their_partitions_by_state(say: Say) -> None:
    text, code = say("list", "--output", "plain")
    assert code == 0
    assert [line.split("\t") for line in text.splitlines() if line.startswith("delays")] == [
        ["delays", "failed", "1"],
        ["delays", "materialized", "2"],
        ["delays", "waiting", "1"],
        ["delays", "missing", "6"],
    ]
    table, _ = say("list", "--search", "DELAYS")
    assert "airport_days" not in table
    assert "█ materialized" in " ".join(table.split())
    assert next(line for line in table.splitlines() if "delays" in line).split() == ["delays", "1", "1", "6", "2"]


def test_a_board_has_a_row_for_each_asset_upstream_ones_first(say: Say) -> None:
    spring = ("board", "--since", "2013-02-01T00:00Z", "--until", "2013-02-11T00:00Z")
    text, code = say(*spring)
    assert code == 0
    rows = {row.split()[0]: row for row in text.splitlines() if row.split()}
    names = [name for name in rows if name in ("flights", "delays", "airport_days", "odd")]
    assert names == ["airport_days", "flights", "delays", "odd"]
    assert "█" in rows["flights"]
    assert "✗" in rows["delays"]
    assert "no time: " in rows["odd"]
    lines = say(*spring, "--asset", "delays", "--output", "plain")[0].splitlines()
    assert lines[2] == "delays\t\t2013-02-03\t2013-02-03\tfailed\t1"
    answer = json.loads(say(*spring, "--only", "failed", "--output", "json")[0])
    assert [strip["asset"] for strip in answer["strips"]] == ["delays"]
    assert "expected a length of time" in str(say("board", "--since", "x")[1])


def test_explain_says_why_and_shows_runs_events_and_neighbours(say: Say) -> None:
    text, code = say("explain", "delays", "2013-02-06")
    assert code == 0
    assert text.splitlines()[0].split() == ["○", "waiting", "delays", "2013-02-06"]
    assert "1 of 24 partitions of 'flights' that it needs are there" in text
    text, _ = say("explain", "delays", "2013-02-01")
    assert "run one of delays materialized it at 2020-01-01 00:00:00 UTC" in text
    assert json.loads(say("explain", "delays", "2013-02-03", "--output", "json")[0])["runs"][0]["state"] == "failed"
    assert "is needed by" in say("explain", "flights", "2013-02-03T05:00Z")[0]
    assert "nearest" in str(say("explain", "flights", "2013-02-03")[1])


def test_partitions_of_an_older_definition_are_orphaned(say: Say, metadata: Metadata, tmp_path: Path) -> None:
    assert "orphaned" not in say("status", "airport_days")[0]
    metadata.parse(
        tmp_path,
        flights="""
        DAYS = PartitionByInterval("@daily", start="2013-02-01", end="2013-02-11")

        @asset(schedule=None, partition=PartitionByProduct([DAYS, PartitionBySequence(["JFK", "LGA"], name="airport")]))
        def airport_days(partition): ...
        """,
    )
    text, code = say("status", "airport_days")
    assert code == 1
    assert "10 orphaned, of an older definition: 2013-02-01|EWR to 2013-02-10|EWR" in text
    answer = json.loads(say("status", "airport_days", "--output", "json")[0])
    assert answer["counts"] == {"missing": 20}


def test_an_open_calendar_of_which_nothing_is_known_is_not_complete(
    say: Say, metadata: Metadata, tmp_path: Path
) -> None:
    metadata.parse(tmp_path, open="@asset(schedule=None, partition=DAYS)\ndef open_days(partition): ...\n")
    text, code = say("status", "open_days")
    assert (code, "--from says where to begin" in text) == (1, True)


def test_eo12_nothing_is_cut_where_there_is_no_terminal(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    text, _ = say("status", "delays")
    (waiting,) = [line for line in text.splitlines() if "waiting" in line and "2013-02-06" in line]
    assert "flights 1 of 24: 2013-02-06T01:00Z to 2013-02-06T23:00Z" in waiting
    assert "…" not in text
    assert max(map(len, map(str.rstrip, text.splitlines()))) < 250
    monkeypatch.setenv("COLUMNS", "60")
    text, _ = say("status", "delays")
    assert max(map(len, text.splitlines())) <= 60


def test_en16_the_list_has_definitions_in_few_words_and_json_all(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    lines = [line.strip() for line in say("list")[0].splitlines()]
    assert {"hourly, UTC", "daily, UTC", "time (daily) x airport (2), UTC", "segment (2)"} <= set(lines)
    (product,) = json.loads(say("list", "--search", "airport", "--output", "json")[0])["assets"]
    assert product["definition"]["text"].startswith("PartitionByProduct([PartitionByInterval('@daily'")


def test_en13_each_partition_that_waits_says_what_it_lacks(say: Say, metadata: Metadata) -> None:
    metadata.emit("flights", *(f"2013-02-07T{hour:02}:00Z" for hour in range(7)), at=MADE)
    stretches = json.loads(say("status", "delays", "--output", "json")[0])["stretches"]
    waiting = [(one["first"], one["count"], one["upstream"][0]) for one in stretches if one["state"] == "waiting"]
    assert [(key, count, needs["there"], needs["lacks"]) for key, count, needs in waiting] == [
        ("2013-02-07", 1, 7, "2013-02-07T07:00Z to 2013-02-07T23:00Z"),
        ("2013-02-06", 1, 1, "2013-02-06T01:00Z to 2013-02-06T23:00Z"),
    ]


def test_en17_status_tells_the_errors_of_what_failed(say: Say) -> None:
    text, _ = say("status", "delays")
    assert "1 partition of delays" in text
    (failure,) = json.loads(say("status", "delays", "--output", "json")[0])["failures"]
    assert failure["error"].startswith("no task failed: the run took too long")
    assert "1 partition of delays" in say("failures")[0]
    (row,) = say("failures", "--output", "plain")[0].splitlines()
    assert row.split("\t")[:4] == ["1", "delays", "1", "2013-02-03"]
    assert "nothing got worse" in say("changes", "--since", "1s")[0]
    assert "expected a length of time" in str(say("changes", "--since", "yesterday")[1])


def test_message_70_an_asset_without_partitions_is_said_to_have_none(say: Say, metadata: Metadata) -> None:
    metadata.asset("exchange_rates")
    assert "asset 'exchange_rates' has no partitions" in str(say("status", "exchange_rates")[1])
