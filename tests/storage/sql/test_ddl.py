"""Statements for other engines: what these see of a dataset is what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage import Column, Commit, Csv, FilePerKey, Files, Parquet, ddl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The night in which New York's clocks are set back: one o'clock comes twice.
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-11-03", name="hour")
CITIES = [
    *("a", "007", "New York", "New%20York", "ü,+", "a/b=%2F", "int:1", "it's", 'd"q', "x*y", "q?[z]", "{k}"),
    *("back\\slash", "50%", "#&;"),
]
KEYS = PartitionByProduct([HOURS, PartitionBySequence(CITIES, name="city")])
COLUMNS = {
    "day": Column("%Y-%m-%d", "date"),
    "hour": Column("%H", "int"),
    "offset": Column("%z"),
    "city": Column("{city}"),
}
SCHEMA = {
    "n": "bigint",
    "small": "smallint",
    "yes": "boolean",
    "price": "decimal(10,2)",
    "share": "float",
    "at": "timestamp",
    "clock": "timestamp_ntz",
    "on": "date",
    "it's a `\"name": "string",
    "raw": "binary",
    "tags": "array<string>",
    "point": "struct<x:int,y:map<string,double>>",
}
ROW: Mapping[str, Any] = {
    "n": 2**40,
    "small": 7,
    "yes": True,
    "price": Decimal("12.30"),
    "share": 0.5,
    "at": datetime(2013, 7, 1, 12, 30, 0, 123456, UTC),
    "clock": datetime(2013, 7, 1, 12, 30, 0, 123456),  # noqa: DTZ001 - it has no zone
    "on": date(2013, 7, 1),
    "it's a `\"name": "text",
    "raw": b"\x00\xff",
    "tags": ["a", None],
    "point": {"x": 1, "y": [("k", 0.5)]},
}


def key(hour: int, city: str) -> str:
    """The *hour* is counted from midnight: 1 and 2 are both one o'clock."""
    return f"{list(HOURS.keys('2013-11-03', '2013-11-04'))[hour]}|{city}"


def one_row(files: Files, **values: Any) -> pa.Table:
    from airflow_partitions.storage.metadata.arrow_types import arrow_type

    schema = pa.schema([(name, arrow_type(kind)) for name, kind in files.schema or ()])
    return pa.Table.from_pylist([{**ROW, **values}], schema)


@pytest.fixture(scope="module")
def oddities(tmp_path_factory: pytest.TempPathFactory) -> Parquet:
    """Odd keys, an hour that comes twice, empty partitions, all types, files of an older schema."""
    root = tmp_path_factory.mktemp("l[a]k*e") / "odd?ities"
    files = Parquet(str(root), partition=KEYS, partition_on=COLUMNS, schema=SCHEMA)
    keys = [key(hour, city) for hour in (1, 2) for city in CITIES]
    files.save({each: one_row(files, n=number) for number, each in enumerate(keys)})
    files.save({keys[0]: one_row(files, n=1000), keys[1]: one_row(files).slice(1)}, mode="overwrite")
    files.save({keys[2]: one_row(files, **dict.fromkeys(SCHEMA))}, mode="append")
    with Commit(files) as commit:
        commit.truncate(keys[6])
        commit.drop(keys[7])
    with Commit(files) as commit:
        folder = commit.stage(keys[8])
        pq.write_table(pa.table({"n": pa.array([5], pa.int32()), "more": [1]}), folder / "part-0")
        commit.put(keys[8], mode="overwrite")
    return files


def expected(files: Files) -> list[str]:
    return told(files.read(as_="arrow", full_scan=True).to_pylist())


def told(rows: list[dict[str, Any]]) -> list[str]:
    """The *rows* in an order, whatever an engine's own names and classes for the same values are."""
    return sorted(str([(name, plain(row[name])) for name in (*SCHEMA, *COLUMNS)]) for row in rows)


def plain(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return bytes(value) if isinstance(value, bytearray | bytes) else value


def through_duckdb(files: Files) -> list[dict[str, Any]]:
    with duckdb.connect() as base:
        base.execute("SET TimeZone = 'America/New_York'")
        base.execute(ddl(files, 'main."table', "duckdb"))
        rows: list[dict[str, Any]] = base.sql('SELECT * FROM """table"').to_arrow_table().to_pylist()
        return rows


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    yield "default.oddities"
    spark.sql("DROP TABLE IF EXISTS default.oddities")


def run(spark: SparkSession, statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement:
            spark.sql(statement)


def through_spark(spark: SparkSession, table: str) -> list[dict[str, Any]]:
    return spark.table(table).toArrow().to_pylist()


def test_duckdb_sees_what_the_dataset_holds(oddities: Parquet) -> None:
    assert told(through_duckdb(oddities)) == expected(oddities)


def test_duckdb_reads_the_files_of_the_partitions_that_a_filter_names(oddities: Parquet) -> None:
    with duckdb.connect() as base:
        base.execute(ddl(oddities, "t", "duckdb"))
        query = "FROM t WHERE city = 'New%20York' AND day = DATE '2013-11-03' AND hour = 1"
        assert base.sql(f'SELECT n, "offset" {query} ORDER BY n').fetchall() == [(3, "-0400"), (18, "-0500")]
        (plan,) = base.sql(f"EXPLAIN ANALYZE SELECT n {query}").fetchall()
        assert "Total Files Read: 2" in plan[1]


def test_duckdb_follows_what_is_published(tmp_path: Path) -> None:
    letters = Parquet(
        str(tmp_path / "letters"), partition=PartitionBySequence(["a", "b"], name="letter"), schema={"n": "int"}
    )
    letters.save({"a": pa.table({"n": pa.array([1], pa.int32())})})
    with duckdb.connect() as base:
        base.execute(ddl(letters, "letters", "duckdb"))
        letters.save({letter: pa.table({"n": pa.array([2], pa.int32())}) for letter in "ab"}, mode="overwrite")
        assert base.sql("FROM letters ORDER BY letter").fetchall() == [(2, "a"), (2, "b")]


def test_duckdb_sees_one_of_several_tables(tmp_path: Path) -> None:
    days = PartitionByInterval("@daily", name="date")
    schema = {"orders": {"id": "bigint"}, "items": {"id": "bigint"}}
    shop = Parquet(str(tmp_path / "shop"), partition=days, tables=("orders", "items"), schema=schema)
    shop.save({"2013-02-08": {"orders": pa.table({"id": [1]}), "items": pa.table({"id": [2, 3]})}})
    with duckdb.connect() as base:
        base.execute(ddl(shop.table("items"), "items", "duckdb"))
        assert base.sql("FROM items ORDER BY id").fetchall() == [(2, "2013-02-08"), (3, "2013-02-08")]
    with pytest.raises(InvalidDefinitionError, match=r"expected one of them, such as .table\('orders'\)"):
        ddl(shop, "shop", "duckdb")
    with pytest.raises(InvalidDefinitionError, match=r"table 'items' lies in a folder of each partition"):
        ddl(shop.table("items"), "items")


@pytest.mark.spark
def test_spark_sees_what_the_dataset_holds(oddities: Parquet, spark: SparkSession, table: str) -> None:
    run(spark, ddl(oddities, table))
    assert told(through_spark(spark, table)) == expected(oddities)
    assert dict(spark.table(table).dtypes)["hour"] == "int"
    rows = spark.sql(f"SELECT n FROM {table} WHERE city = 'New%20York' AND day = '2013-11-03' AND hour = 1 ORDER BY n")
    assert [row.n for row in rows.collect()] == [3, 18]


@pytest.mark.spark
def test_the_statements_are_run_again_for_what_has_come_and_gone(
    tmp_path: Path, spark: SparkSession, table: str
) -> None:
    files = Parquet(str(tmp_path / "odd"), partition=KEYS, partition_on=COLUMNS, schema=SCHEMA)
    files.save({key(0, "a"): one_row(files, n=1), key(1, "it's"): one_row(files, n=2)})
    run(spark, ddl(files, table))
    with Commit(files) as commit:
        commit.drop(key(0, "a"))
    files.save({key(2, "it's"): one_row(files, n=3)})
    run(spark, ddl(files, table))
    assert told(through_spark(spark, table)) == expected(files)


@pytest.mark.spark
def test_duckdb_reads_the_times_that_spark_wrote(tmp_path: Path, spark: SparkSession) -> None:
    schema = {"at": "timestamp", "clock": "timestamp_ntz"}
    files = Parquet(str(tmp_path / "times"), partition=PartitionBySequence(["a"], name="letter"), schema=schema)
    times = (ROW["at"], ROW["clock"])
    files.save({"a": spark.createDataFrame([times], "at timestamp, clock timestamp_ntz")})
    with duckdb.connect() as base:
        base.execute("SET TimeZone = 'America/New_York'")
        base.execute(ddl(files, "times", "duckdb"))
        (row,) = base.sql("FROM times").to_arrow_table().to_pylist()
    assert (row["at"].astimezone(UTC), row["clock"]) == times


@pytest.mark.spark
def test_spark_reads_other_formats_with_their_options(tmp_path: Path, spark: SparkSession, table: str) -> None:
    letters = PartitionBySequence(["a", "it's"], name="letter")
    files = Csv(str(tmp_path / "l"), partition=letters, schema={"text": "string"}, options={"sep": "'"})
    files.save({letter: pa.table({"text": [letter, 'a "quote"', ""]}) for letter in ("a", "it's")})
    run(spark, ddl(files, table))
    rows = files.read(as_="arrow", full_scan=True).to_pylist()
    assert sorted(map(str, through_spark(spark, table))) == sorted(map(str, rows))


def test_trino_is_told_in_the_words_of_its_hive_connector(oddities: Parquet) -> None:
    files = attrs.evolve(oddities, path="s3://lake/it's", ownership="read-only")
    assert ddl(files, "hive.lake.odd", "trino") == (
        'CREATE TABLE IF NOT EXISTS "hive"."lake"."odd" (\n'
        '  "n" BIGINT,\n'
        '  "small" SMALLINT,\n'
        '  "yes" BOOLEAN,\n'
        '  "price" DECIMAL(10, 2),\n'
        '  "share" REAL,\n'
        '  "at" TIMESTAMP,\n'
        '  "clock" TIMESTAMP,\n'
        '  "on" DATE,\n'
        '  "it\'s a `""name" VARCHAR,\n'
        '  "raw" VARBINARY,\n'
        '  "tags" ARRAY(VARCHAR),\n'
        '  "point" ROW("x" INTEGER, "y" MAP(VARCHAR, DOUBLE)),\n'
        '  "day" DATE,\n'
        '  "hour" INTEGER,\n'
        '  "offset" VARCHAR,\n'
        '  "city" VARCHAR\n'
        ")\n"
        "WITH (\n"
        "  format = 'PARQUET',\n"
        "  partitioned_by = ARRAY['day', 'hour', 'offset', 'city'],\n"
        "  external_location = 's3://lake/it''s'\n"
        ");\n"
        "CALL \"hive\".system.sync_partition_metadata(schema_name => 'lake', table_name => 'odd', mode => 'FULL',"
        " case_sensitive => false);\n"
    )
    assert f"external_location = 'file://{oddities.path}'" in ddl(oddities, "hive.lake.odd", "trino")


def test_the_docs_show_the_statements_as_they_are() -> None:
    partition_on = {"date": Column("%Y-%m-%d", "date"), "airport": "{airport}"}
    airports = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
    days = PartitionByProduct([PartitionByInterval("@daily", start="2013-01-01", name="date"), airports])
    schema = {"carrier": "string", "delay": "double"}
    delays = Parquet("/lake/delays", partition=days, partition_on=partition_on, schema=schema)
    page = Path(__file__).parents[3] / "docs" / "guides" / "other-readers.md"
    assert f"```sql\n{ddl(delays, 'delays')}```" in page.read_text(encoding="utf-8")


def test_the_columns_that_commits_recorded_will_do(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "days"), partition=PartitionByInterval("@daily", name="date"))
    with pytest.raises(InvalidDefinitionError, match=r"expected schema=\{…\}"):
        ddl(files, "days")
    files.save({"2013-02-08": pa.table({"n": [1]})})
    assert "`n` bigint,\n  `date` string" in ddl(files, "days")


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("s3://lake/days", {}),
        ("/lake/days", {"ownership": "adopted"}),
        ("/lake/days", {"ownership": "add-only"}),
        ("/lake/days", {"log": "/lake/_days/log"}),
        ("/lake/days", {"log": "/lake/_days/log", "ownership": "read-only"}),
    ],
    ids=str,
)
def test_a_dataset_with_a_log_is_refused(path: str, more: dict[str, Any]) -> None:
    files = Parquet(path, partition=KEYS, partition_on=COLUMNS, schema=SCHEMA, **more)
    for engine in ("spark", "duckdb", "trino"):
        with pytest.raises(
            InvalidDefinitionError, match=r"replaced ones too; expected explore\(spark, files, 'a.b.c'\)"
        ):
            ddl(files, "a.b.c", engine)


def test_what_an_engine_cannot_read_is_refused(oddities: Parquet, tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"'presto' is not known; expected one of: spark, duckdb, trino"):
        ddl(oddities, "t", "presto")
    with pytest.raises(InvalidDefinitionError, match=r"expected catalog, schema and name, such as 'hive.lake.t'"):
        ddl(oddities, "t", "trino")
    report = Csv(str(tmp_path), partition=KEYS, partition_on=COLUMNS, schema={"n": "int"})
    with pytest.raises(InvalidDefinitionError, match=r"is csv, .*; expected Parquet, or engine='spark'"):
        ddl(report, "t", "duckdb")
    with pytest.raises(InvalidDefinitionError, match=r"expected one of parquet, orc, avro"):
        ddl(report, "hive.lake.t", "trino")
    with pytest.raises(InvalidDefinitionError, match="folders of partition columns"):
        ddl(Csv(str(tmp_path), partition_on=FilePerKey(".csv"), schema={"n": "int"}), "t")
    with pytest.raises(InvalidDefinitionError, match="is frozen for a run"):
        ddl(oddities.freeze("a run"), "t")
