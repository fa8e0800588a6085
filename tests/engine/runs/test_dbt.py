"""One run of dbt for one partition makes exactly its batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, timedelta
from pathlib import Path

import duckdb
import pytest
from jinja2 import Environment

from airflow_partitions import DbtBatches, PartitionByInterval
from airflow_partitions.core.errors import CheckError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.templates import PartitionExtension

pytestmark = pytest.mark.long  # dbt is installed beside Airflow, with which it shares too little

DBT = ("dbt-core==1.11.16", "dbt-duckdb==1.11.1")
NEW_YORK = PartitionByInterval("@daily", timezone="America/New_York")
MODEL = """{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='{column}',
          batch_size='{size}', begin='2013-01-01') }}}}
select * from {{{{ ref('flights') }}}}"""
FILES = {
    "dbt_project.yml": "name: delays\nprofile: delays",
    "profiles.yml": "delays: {target: one, outputs: {one: {type: duckdb, path: delays.duckdb}}}",
    # Each hour of a year, in UTC and as clocks in New York show it.
    "models/flights.sql": "select utc, (utc at time zone 'UTC') at time zone 'America/New_York' as wall"
    " from range(timestamp '2013-01-01', timestamp '2014-01-01', interval 1 hour) t(utc)",
    "models/schema.yml": "models: [{name: flights, config: {event_time: utc}},"
    " {name: walls, config: {event_time: wall}}]",
    "models/walls.sql": "select * from {{ ref('flights') }}",
    "models/hours.sql": MODEL.format(column="utc", size="hour"),
    "models/days.sql": MODEL.format(column="wall", size="day").replace("flights", "walls"),
}


@pytest.fixture(scope="module")
def dbt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, and dbt in an environment of its own."""
    folder = tmp_path_factory.mktemp("dbt")
    uv = [Path(sys.executable).with_name("uv"), "--system-certs"]
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", folder / "venv/bin/python", *DBT], check=True)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    run(folder, {}, "flights", "walls")
    return folder


def run(folder: Path, bounds: dict[str, str], *models: str) -> None:
    process = subprocess.run(
        [folder / "venv/bin/dbt", "run", "--select", *models, "--profiles-dir", "."],
        cwd=folder, env={**os.environ, **bounds, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}, capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout


@pytest.mark.parametrize(("key", "hours"), [("2013-02-08", 24), ("2013-03-10", 23), ("2013-11-03", 25)])
@pytest.mark.parametrize(("model", "words"), [("hours", ""), ("days", "('wall')")])
def test_a_local_day_is_exactly_its_batches(dbt: Path, key: str, hours: int, model: str, words: str) -> None:
    day = Partition(NEW_YORK, key)
    template = Environment(extensions=[PartitionExtension]).from_string
    bounds = {
        f"DBT_EVENT_TIME_{name.upper()}": template(f"{{{{ partition | dbt_{name}{words} }}}}").render(partition=day)
        for name in ("start", "end")
    }
    run(dbt, bounds, model)
    (result,) = json.loads((dbt / "target/run_results.json").read_text())["results"]
    batches = result["batch_results"]
    assert (len(batches["successful"]), batches["failed"]) == (hours if model == "hours" else 1, [])
    proof = DbtBatches(dbt / "target", clock="utc" if model == "hours" else "wall", models=[model])
    assert proof.check(day) == {model: len(batches["successful"])}
    with pytest.raises(CheckError, match="are not partition"):
        proof.check(Partition(NEW_YORK, "2013-06-01"))
    with duckdb.connect(dbt / "delays.duckdb", read_only=True) as database:
        column = "utc" if model == "hours" else "wall"
        day_of_row = f"{column} >= ? and {column} < ?"
        query = f"select min(utc), max(utc), count(*) from {model} where {day_of_row}"
        first, last, count = database.execute(query, list(bounds.values())).fetchone() or ()
    assert day.start is not None
    assert day.end is not None
    assert (first.replace(tzinfo=UTC), count) == (day.start, hours)
    assert last.replace(tzinfo=UTC) == day.end.astimezone(UTC) - timedelta(hours=1)
