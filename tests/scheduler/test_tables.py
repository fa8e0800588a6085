"""Tables of Iceberg under a real scheduler: several runs publish into one at once, and the next asset reads it."""

from __future__ import annotations

import json

import polars as pl
import pytest
from pyiceberg.catalog import load_catalog

from airflow_partitions import PartitionByInterval
from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite",)  # what is published has nothing to do with the database
pytestmark = pytest.mark.airflow

DAG_FILE = """
import polars as pl

from airflow_partitions import asset
from airflow_partitions.checks import RowCount
from airflow_partitions.storage import Iceberg

NEW_YORK = {"timezone": "America/New_York", "start": "2013-01-01"}
HALVES = PartitionByInterval("0 */12 * * *", name="half", **NEW_YORK)

@asset(schedule=None, partition=HALVES, checks=[RowCount(at_least=1)],
       storage=Iceberg("db.halves", catalog="table_lake", create=True, partition_on={"half": "begun_at"},
                       schema={"begun_at": "timestamp", "seconds": "bigint"}))
def table_halves(partition) -> pl.DataFrame:
    return pl.DataFrame({"seconds": [int(partition.interval.duration.total_seconds())]})

@asset(schedule=table_halves, partition=PartitionByInterval("@daily", name="day", **NEW_YORK),
       storage=Iceberg("db.days", catalog="table_lake", create=True, schema={"day": "date", "seconds": "bigint"}))
def table_days(table_halves: pl.DataFrame) -> pl.DataFrame:
    return table_halves.select(pl.sum("seconds"))

with DAG("tables", schedule=None):
    EmptyOperator(task_id="nothing")
"""


def test_a21_runs_publish_into_one_table_at_once_and_the_next_asset_reads_it(airflow: Airflow) -> None:
    root = airflow.home.root
    properties = {"type": "sql", "uri": f"sqlite:///{root}/lake.db?timeout=60", "warehouse": str(root / "warehouse")}
    airflow.api.post(
        "connections", {"connection_id": "table_lake", "conn_type": "iceberg", "extra": json.dumps(properties)}
    )
    airflow.write("tables", DAG_FILE)
    airflow.wait(lambda: airflow.parsed("table_halves") and airflow.parsed("table_days"), "the assets")
    halves = PartitionByInterval("0 */12 * * *", timezone="America/New_York", start="2013-01-01")
    keys = [str(key) for key in halves.keys("2013-11-02", "2013-11-05")]
    for key in keys:
        assert airflow.trigger("table_halves", key).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("table_halves", 6)} == {"success"}
    assert {state for _, state, _ in airflow.wait_finished("table_days", 3)} == {"success"}
    catalog = load_catalog("table_lake", **properties)
    days = catalog.load_table("db.days")
    assert len(catalog.load_table("db.halves").snapshots()) == 6
    rows = pl.from_arrow(days.scan().to_arrow())
    assert isinstance(rows, pl.DataFrame)
    assert dict(rows.with_columns(pl.col("day").cast(pl.String)).iter_rows()) == {
        "2013-11-02": 24 * 3600,
        "2013-11-03": 25 * 3600,
        "2013-11-04": 24 * 3600,
    }
    ((extra,),) = airflow.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'table_days'"
        " and e.partition_key = '2013-11-03'"
    )
    counts = json.loads(extra)
    reads = counts["reads"]["table_halves"]
    assert (counts["rows"], reads["partitions"], reads["files"], reads["rows"]) == (1, 2, 2, 2)
    assert not list((root / "warehouse" / "db" / "_halves" / "staging").iterdir())
