"""Jobs that nobody here has submitted: what they stage is published, or refused."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite",)  # what a job stages has nothing to do with the database
pytestmark = pytest.mark.airflow

DAG_FILE = '''
import os
import pyarrow as pa
from airflow_partitions import Publish
from airflow_partitions.checks import NotNull
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
NEW_YORK = {"timezone": "America/New_York", "start": "2013-01-01"}
DAYS = PartitionByInterval("@daily", **NEW_YORK)

@asset(schedule=None, partition=PartitionByInterval("0 */12 * * *", **NEW_YORK),
       storage=Parquet(f"{LAKE}/open_halves", partition_on={"half": "%Y-%m-%dT%H"}))
def open_halves(partition):
    return pa.table({"origin": ["EWR", "JFK"], "seconds": [int(partition.interval.duration.total_seconds())] * 2})

OPEN_DAYS = Asset("open_days")

# A program of its own, by DuckDB: it knows nothing of partitions.
DUCKDB = """python - <<'END'
import duckdb
duckdb.execute(r"""+'"""'+"""
  COPY (SELECT origin, sum(seconds)::BIGINT AS seconds FROM read_parquet($FILES, hive_partitioning = true)
        WHERE {{ partition.where('halves', 'duckdb') }} GROUP BY origin ORDER BY origin)
  TO '{{ partition.staging }}/days.parquet' (FORMAT parquet)
"""+'"""'+""".replace("$FILES", repr({{ partition.paths('halves') }})))
END"""

with DAG("open_days", schedule=Partitioned(open_halves, DAYS, asset=OPEN_DAYS)):
    BashOperator(task_id="make", bash_command=DUCKDB) >> Publish(
        asset=OPEN_DAYS,
        storage=Parquet(f"{LAKE}/open_days", partition_on={"day": "%Y-%m-%d"}),
        inputs={"halves": open_halves},
        checks=[NotNull("origin")],
    )

with DAG("any_engine", schedule=None):
    EmptyOperator(task_id="nothing")
'''


def test_a_plain_process_stages_a_partition_and_it_is_published_in_one_step(airflow: Airflow) -> None:
    airflow.write("any_engine", DAG_FILE)
    lake = airflow.home.lake
    airflow.wait(lambda: airflow.parsed("open_halves") and airflow.parsed("open_days"), "the assets")
    for key in ("2013-11-03T00:00-04:00", "2013-11-03T12:00-05:00"):
        assert airflow.trigger("open_halves", key).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("open_halves", 2)} == {"success"}
    assert [(key, state) for key, state, _ in airflow.wait_finished("open_days", 1)] == [("2013-11-03", "success")]
    (file,) = (lake / "open_days" / "day=2013-11-03").glob("*.parquet")
    assert pq.read_table(file, partitioning=None).to_pylist() == [
        {"origin": "EWR", "seconds": 25 * 3600},
        {"origin": "JFK", "seconds": 25 * 3600},
    ]
    ((extra,),) = airflow.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'open_days'"
    )
    counts = json.loads(extra)
    assert (counts["rows"], counts["files"], counts["bytes"]) == (2, 1, file.stat().st_size)
    assert counts["unseen"] == ["what was read of halves: 2 partitions promised"]
    assert [(check["name"], check["passed"]) for check in counts["checks"]] == [("no nulls in origin", True)]
    assert not list((lake / "_open_days" / "staging").iterdir())
