"""CDAP's PartitionedFileSet, row C10: the dataset as a table for SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from airflow_partitions import PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, StorageError
from airflow_partitions.spark.catalog import explore
from airflow_partitions.storage import Column, Commit, FilePerKey, Files, compact, ddl
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.io.spark_reader import spark_path
from tests.spark_rows import spark_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RESULTS = PartitionByProduct(
    [PartitionBySequence(["nfl", "nba's"], name="league"), PartitionBySequence([1980, 1981, 1990], name="season")]
)
COLUMNS = {"league": "{league}", "season": Column("{season}", "int")}
SCHEMA = {"winner": "string", "points": "int"}


def results(root: str, kind: str, **more: Any) -> Files:
    return Files(root, format=kind, partition=RESULTS, partition_on=COLUMNS, **{"schema": SCHEMA, **more})


def put(spark: SparkSession, files: Files, points: Mapping[str, int]) -> None:
    """Let Spark write partitions, each with the points of the Bears."""
    rows = [
        row
        for key, number in points.items()
        for league, season in [key.split("|")]
        for row in (("Bears", number, league, int(season)), ("Jets", 3, league, int(season)))
    ]
    frame = spark_rows(spark, rows, "winner string, points int, league string, season int").coalesce(1)
    writer = frame.write.format(files.format).options(**dict(files.options)).partitionBy("league", "season")
    writer.save(spark_path(files.path), mode="append")
    assert all(files.exists(key) for key in points)


@pytest.fixture
def table(spark: SparkSession) -> Any:
    yield "results"
    spark.sql("DROP TABLE IF EXISTS results")


@pytest.mark.parametrize(
    ("kind", "options"), [("parquet", {}), ("csv", {"sep": ":"}), ("json", {}), ("orc", {}), ("avro", {})], ids=str
)
def test_c10_a_table_with_partitions(spark: SparkSession, root: str, table: str, kind: str, options: Any) -> None:
    files = results(root, kind, options=options, ownership="read-only")
    put(spark, files, {str(key): number for number, key in enumerate(RESULTS.keys())})
    explore(spark, files, table)
    frame = spark.sql(
        "SELECT season, sum(points) AS n FROM results WHERE league = 'nba''s' AND season < 1990 GROUP BY 1"
    )
    assert sorted((row.season, row.n) for row in frame.collect()) == [(1980, 6), (1981, 7)]
    assert spark.sql("SHOW PARTITIONS results").count() == 6
    assert spark.table("results").dtypes == [
        ("winner", "string"),
        ("points", "int"),
        ("league", "string"),
        ("season", "int"),
    ]


def test_c10_the_statements_alone_make_the_table_too(spark: SparkSession, root: str, table: str) -> None:
    files = results(root, "parquet", ownership="read-only")
    put(spark, files, {str(key): number for number, key in enumerate(RESULTS.keys())})
    for statement in ddl(files, table).split(";\n")[:-1]:
        spark.sql(statement)
    frame = spark.sql("SELECT season, sum(points) AS n FROM results WHERE league = 'nba''s' GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in frame.collect()] == [(1980, 6), (1981, 7), (1990, 8)]


def test_c10_text_is_explored_too(spark: SparkSession, root: str, table: str) -> None:
    files = results(root, "text", schema={"value": "string"}, ownership="read-only")
    folder = at(files.path_of(RESULTS.parse("nfl|1980")))
    folder.mkdir(parents=True)
    (folder / "part").write_text("Bears,3\nJets,7\n")
    explore(spark, files, table)
    assert [tuple(row) for row in spark.sql("SELECT * FROM results").collect()] == [
        ("Bears,3", "nfl", 1980),
        ("Jets,7", "nfl", 1980),
    ]


def test_c10_the_table_follows_and_dropping_it_leaves_the_files(spark: SparkSession, root: str, table: str) -> None:
    files = results(root, "parquet", ownership="read-only")
    put(spark, files, {"nfl|1980": 1, "nfl|1981": 2})
    explore(spark, files, table)
    put(spark, files, {"nfl|1990": 3})
    remove(at(files.path_of(RESULTS.parse("nfl|1980"))))
    explore(spark, files, table)
    frame = spark.sql("SELECT season FROM results WHERE points < 3 OR winner = 'Bears'")
    assert sorted(row.season for row in frame.collect()) == [1981, 1990]
    spark.sql("DROP TABLE results")
    assert files.exists("nfl|1981")


def test_c10_partitions_that_we_publish(spark: SparkSession, root: str, table: str) -> None:
    files = results(root, "parquet")
    frame = pa.table({"winner": ["Bears"], "points": pa.array([1], pa.int32())})
    files.save({"nfl|1980": frame, "nfl|1981": frame})
    explore(spark, files, table)
    files.save({"nfl|1981": pa.concat_tables([frame, frame]), "nba's|1981": frame}, mode="overwrite")
    with Commit(files) as commit:
        commit.drop("nfl|1980")
    explore(spark, files, table)
    rows = spark.sql("SELECT league, season, count(*) AS n FROM results GROUP BY 1, 2 ORDER BY 1")
    assert [tuple(row) for row in rows.collect()] == [("nba's", 1981, 1), ("nfl", 1981, 2)]
    files.save({"nfl|1981": frame}, mode="append")
    if root.startswith("s3"):  # a table names one folder, and what is appended there lies in another
        with pytest.raises(InvalidDefinitionError, match=r"lies in 2 folders, .*; expected it to be compacted first"):
            explore(spark, files, table)
        compact(files, settled=timedelta(0), now=datetime(2100, 1, 1, tzinfo=UTC))
    explore(spark, files, table)
    assert spark.sql("SELECT * FROM results WHERE league = 'nfl'").count() == 3


def test_c10_bad_tables(spark: SparkSession, tmp_path: Path, table: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"expected schema=\{…\}"):
        explore(spark, results(str(tmp_path), "parquet", schema=None), table)
    with pytest.raises(InvalidDefinitionError, match="folders of partition columns"):
        explore(spark, Files(str(tmp_path), partition_on=FilePerKey(".csv"), schema=SCHEMA), table)
    spark.sql("CREATE TABLE results (n int) USING parquet")
    with pytest.raises(StorageError, match="table 'results' is there already"):
        explore(spark, results(str(tmp_path), "parquet"), table)
