"""Functions over frames under a real scheduler: what they return is published, and the next asset reads it."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite",)  # what a function returns has nothing to do with the database
pytestmark = pytest.mark.airflow

DAG_FILE = """
import os
from typing import Annotated

import pandas as pd
import polars as pl

from airflow_partitions import asset
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
NEW_YORK = {"timezone": "America/New_York", "start": "2013-01-01"}

@asset(schedule=None, partition=PartitionByInterval("0 */12 * * *", **NEW_YORK),
       storage=Parquet(f"{LAKE}/frame_halves", partition_on={"half": "%Y-%m-%dT%H"}))
def frame_halves(partition) -> Annotated[pd.DataFrame, {"seconds": int, "note": str}]:
    seconds = int(partition.interval.duration.total_seconds())
    return pd.DataFrame({"seconds": [seconds], "note": ["x" * 1000]})

@asset(schedule=frame_halves, partition=PartitionByInterval("@daily", **NEW_YORK),
       storage=Parquet(f"{LAKE}/frame_days", partition_on={"day": "%Y-%m-%d"}))
def frame_days(frame_halves: Annotated[pl.DataFrame, ["half", "seconds"]]) -> pl.DataFrame:
    assert frame_halves.columns == ["half", "seconds"]
    return frame_halves.select(pl.sum("seconds"), halves=pl.n_unique("half"))

with DAG("frames", schedule=None):
    EmptyOperator(task_id="nothing")
"""


def test_f1_what_a_function_returns_is_published_and_read_as_what_the_next_one_takes(airflow: Airflow) -> None:
    airflow.write("frames", DAG_FILE)
    lake = airflow.home.lake
    airflow.wait(lambda: airflow.parsed("frame_halves") and airflow.parsed("frame_days"), "the assets")
    for key in ("2013-11-03T00:00-04:00", "2013-11-03T12:00-05:00"):
        assert airflow.trigger("frame_halves", key).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("frame_halves", 2)} == {"success"}
    assert [(key, state) for key, state, _ in airflow.wait_finished("frame_days", 1)] == [("2013-11-03", "success")]
    (file,) = (lake / "frame_days" / "day=2013-11-03").glob("*.parquet")
    assert pq.read_table(file, partitioning=None).to_pylist() == [{"seconds": 25 * 3600, "halves": 2}]
    ((extra,),) = airflow.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'frame_days'"
    )
    counts = json.loads(extra)
    size = sum(each.stat().st_size for each in (lake / "frame_halves").rglob("*.parquet"))
    reads = {"selected": 2, "partitions": 2, "files": 2, "bytes": size, "rows": 2, "scans": 1}
    assert (counts["rows"], counts["files"], counts["bytes"]) == (1, 1, file.stat().st_size)
    assert counts["reads"] == {"frame_halves": reads}
    assert not list((lake / "_frame_days" / "staging").iterdir())
