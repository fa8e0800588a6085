"""Checks under a real scheduler: what fails one is not published, and what depends on it waits."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite",)  # what is checked has nothing to do with the database
pytestmark = pytest.mark.airflow

DAG_FILE = """
import os
from pathlib import Path

import polars as pl

from airflow_partitions import asset
from airflow_partitions.checks import FunctionCheck, NotNull, RowCount
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
DAYS = PartitionByInterval("@daily", name="day", timezone="America/New_York", start="2013-01-01")

def few_delays(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("delay") > 60)

@asset(schedule=None, partition=DAYS, storage=Parquet(f"{LAKE}/checked_days"),
       checks=[RowCount(at_least=1), NotNull("origin"), FunctionCheck(few_delays, severity="warn")])
def checked_days() -> pl.DataFrame:
    return pl.read_csv(f"{LAKE}/checked.csv")

@asset(schedule=checked_days, partition=DAYS, storage=Parquet(f"{LAKE}/after_checks"))
def after_checks(checked_days: pl.DataFrame) -> pl.DataFrame:
    return checked_days.select(pl.sum("delay"))

with DAG("checks", schedule=None):
    EmptyOperator(task_id="nothing")
"""
KEY = "2013-02-08"


def test_what_fails_a_check_is_not_published_and_the_next_asset_waits(airflow: Airflow) -> None:
    lake = airflow.home.lake
    airflow.write("checks", DAG_FILE)
    airflow.wait(lambda: airflow.parsed("checked_days") and airflow.parsed("after_checks"), "the assets")

    def make(text: str, count: int) -> tuple[str, str]:
        """State and id of the run of these rows, the one of that number."""
        (lake / "checked.csv").write_text(text)
        assert airflow.trigger("checked_days", KEY).status_code == 200
        _, state, run = airflow.wait_finished("checked_days", count)[-1]
        return state, run

    def stored(asset: str) -> list[dict[str, object]]:
        (file,) = (lake / asset / f"day={KEY}").glob("*.parquet")
        return list(pq.read_table(file, partitioning=None).to_pylist())

    assert make("origin,delay\nEWR,1\n", 1)[0] == "success"
    airflow.wait_finished("after_checks", 1)

    state, run = make("origin,delay\n,2\n,3\n", 2)
    assert state == "failed"
    assert stored("checked_days") == [{"origin": "EWR", "delay": 1}]
    assert airflow.events("checked_days") == [KEY]
    log = "".join(file.read_text() for file in airflow.home.logs.rglob(f"run_id={run}/**/attempt=1.log"))
    assert "no nulls in origin: 2 failing rows of 2; expected no nulls; such as {'origin': None, 'delay'" in log
    (kept,) = (lake / "_checked_days" / "staging").iterdir()
    assert f"stays in {kept}" in log

    state, run = make("origin,delay\nJFK,90\n", 3)
    assert state == "success"
    airflow.wait_finished("after_checks", 2)  # and not 3: the failed run has started none
    assert stored("after_checks") == [{"delay": 90}]
    note = "select content from dag_run_note n join dag_run r on r.id = n.dag_run_id where r.run_id = ?"
    airflow.wait(lambda: "few_delays" in airflow.sql(note, run)[0][0], "the note")
    ((text,),) = airflow.sql(note, run)
    assert text.endswith("\nPublished in spite of failed checks: few_delays")
    events = "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = ? order by e.id"
    *_, (extra,) = airflow.sql(events, "checked_days")
    assert [each["passed"] for each in json.loads(extra)["checks"]] == [True, True, False]
