"""``airflow asset-partitions tasks`` on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks

pytestmark = pytest.mark.airflow

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
STEPS = """
with DAG("steps", schedule=Partitioned("@daily", PartitionByInterval("@daily", start="2013-01-01", end="2013-01-06"),
         asset=Asset("steps"))):
    EmptyOperator(task_id="load") >> EmptyOperator(task_id="write", outlets=[Asset("steps")])

@asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2999-01-01"))
def nothing_yet(): ...
"""


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    from airflow.cli.cli_parser import get_parser

    args: Any = get_parser().parse_args(["asset-partitions", "tasks", *words])
    capsys.readouterr()
    args.func(args)
    return capsys.readouterr().out


@pytest.fixture
def steps(metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Metadata:
    metadata.parse(tmp_path, steps=STEPS)
    put_runs(metadata, "steps", ["2013-01-02", "2013-01-04"], "failed", BEGAN)
    put_tasks(
        metadata, "steps", ["2013-01-02", "2013-01-04"], "load", "success", BEGAN, start_date=BEGAN, end_date=BEGAN
    )
    put_tasks(metadata, "steps", ["2013-01-02"], "write", "failed", BEGAN, tries=2, start_date=BEGAN, end_date=BEGAN)
    put_tasks(metadata, "steps", ["2013-01-04"], "write", None, BEGAN, tries=0)
    monkeypatch.setenv("COLUMNS", "100")
    return metadata


def test_a_row_for_each_task_and_a_character_for_each_partition(
    steps: Metadata, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line.split() for line in said(capsys, "steps").splitlines()]
    assert ["steps"] in lines
    assert ["load", "·█·█·"] in lines
    assert ["write", "·✗·-·"] in lines
    assert any("2013-01-01 to 2013-01-05" in " ".join(line) for line in lines)
    assert ["✗", "failed", "1", "-", "not", "begun", "1", "█", "success", "2", "·", "no", "run"] in lines
    assert "--after '2013-01-04'" in said(capsys, "steps", "--limit", "2")
    assert "there are no such partitions" in said(capsys, "nothing_yet")


def test_scripts_get_lines(steps: Metadata, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "steps", "2013-01-02", "--output", "plain").splitlines() == [
        "steps\tload\t2013-01-02\tsuccess\t1\t0.0",
        "steps\twrite\t2013-01-02\tfailed\t2\t0.0",
    ]
