"""Programs of Spark that know nothing of partitions: what they stage is published as that of any job."""

from __future__ import annotations

import secrets
import subprocess
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.core.errors import ForeignRowsError, ResultError
from airflow_partitions.storage import Iceberg, Parquet
from tests.authoring.tasks.open_run import DAY, DAYS, NEW_YORK, OpenRun
from tests.storage.iceberg.rest_server import rest_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HOURS = PartitionByInterval("@hourly", **NEW_YORK, name="hour")
PROGRAM = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
staging, condition, *paths = sys.argv[1:]
flights = spark.read.schema("n int, hour string").option("basePath", paths[0].split("/hour=")[0]).parquet(*paths)
days = flights.where(condition).groupBy().sum("n").selectExpr("'2013-11-03' AS day", "`sum(n)` AS n")
days.write.mode("append").parquet(staging)
"""


def test_a_program_of_ones_own_by_spark_submit(tmp_path: Path, spark: SparkSession) -> None:
    flights = Parquet(str(tmp_path / "flights"), partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
    day = Partition(DAYS, DAY)
    flights.save({hour: pa.table({"n": pa.array([1], pa.int32())}) for hour in HOURS.keys(day.start, day.end)})
    storage = Parquet(str(tmp_path / "days"), partition_on={"day": "%Y-%m-%d"})
    run = OpenRun(storage, inputs={"flights": flights})
    partition = run.make()
    (tmp_path / "days.py").write_text(textwrap.dedent(PROGRAM))
    submit = ["spark-submit", "--master", "local[1]", "--conf", "spark.ui.enabled=false", str(tmp_path / "days.py")]
    subprocess.run(
        [*submit, partition.staging, partition.where("flights", "spark"), *partition.paths("flights")],
        check=True,
        capture_output=True,
        timeout=120,
    )
    event = run.published()
    assert (event["rows"], event["unseen"]) == (1, ["what was read of flights: 25 partitions promised"])
    assert [row.asDict() for row in storage.of(DAYS).read(DAY, spark=spark).collect()] == [{"n": 25, "day": DAY}]
    assert storage.of(DAYS).read(DAY, as_="pandas").to_dict("records") == [{"n": 25, "day": DAY}]


@pytest.fixture
def table(tmp_path: Path) -> Iceberg:
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "warehouse")}
    return Iceberg(
        "db.days", credentials=catalog, create=True, partition_on={"day": "at"}, schema={"at": "timestamp", "n": "int"}
    )


def append(spark: SparkSession, folder: str, *rows: tuple[datetime, int]) -> None:
    spark.createDataFrame(list(rows), "at timestamp, n int").write.format("iceberg").mode("append").save(folder)


def test_a_table_is_staged_in_a_table_of_the_try(spark: SparkSession, table: Iceberg) -> None:
    def read() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = table.of(DAYS).read(DAY, as_="arrow").select(["n"]).to_pylist()
        return rows

    inside, outside = datetime(2013, 11, 3, 4, tzinfo=UTC), datetime(2013, 11, 4, 5, tzinfo=UTC)
    run = OpenRun(table)
    with pytest.raises(ResultError, match="nothing was appended to the table in"):
        _ = run.make().staging, run.published()
    folder = run.make(2).staging
    append(spark, folder, (inside, 1))
    append(spark, folder, (inside, 2))
    assert run.published()["rows"] == 2
    assert sorted(row["n"] for row in read()) == [1, 2]
    stray = OpenRun(table, run_id="stray")
    append(spark, stray.make().staging, (inside, 3), (outside, 4))
    with pytest.raises(ForeignRowsError):
        stray.published()
    assert sorted(row["n"] for row in read()) == [1, 2]


def test_a_statement_inserts_by_a_name_in_the_catalog(tmp_path: Path, spark: SparkSession) -> None:
    with rest_server(tmp_path) as server:
        name, days = f"lake_{secrets.token_hex(4)}", {"at": "timestamp", "n": "int"}
        catalog = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": server.properties["uri"]}
        for option, value in {**catalog, ".cache-enabled": "false"}.items():
            spark.conf.set(f"spark.sql.catalog.{name}{option}", value)
        table = Iceberg("db.days", credentials=server.properties, create=True, partition_on={"day": "at"}, schema=days)
        run = OpenRun(table)
        staging = f"{name}.{run.make().staging_table}"
        for number in (1, 2):
            spark.sql(f"INSERT INTO {staging} VALUES (timestamp'2013-11-03 04:00:00Z', {number})")
        assert [row["n"] for row in spark.sql(f"SELECT n FROM {staging} ORDER BY n").collect()] == [1, 2]
        assert not spark.sql(f"SELECT * FROM {name}.db.days").collect()
        assert run.published()["rows"] == 2
        assert sorted(row["n"] for row in spark.sql(f"SELECT n FROM {name}.db.days").collect()) == [1, 2]
        assert [row["tableName"] for row in spark.sql(f"SHOW TABLES IN {name}.db").collect()] == ["days"]
