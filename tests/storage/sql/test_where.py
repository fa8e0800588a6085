"""Partitions as conditions of SQL: each engine selects by them what the selection holds."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.core.errors import FilterError, InvalidDefinitionError
from airflow_partitions.storage import Column, FilePerKey, Iceberg, Parquet
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.filters.filter import NOTHING, And, Condition, Or
from airflow_partitions.storage.sql.dialect import DIALECTS, dialect_of
from airflow_partitions.storage.sql.where import sql_condition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-11-02", name="hour")
CITIES = PartitionBySequence(["it's", "back\\slash", 'd"q'], name="city")
KEYS = PartitionByProduct([HOURS, CITIES])
COLUMNS = {"day": Column("%Y-%m-%d", "date"), "hour": Column("%H%z"), "city": Column("{city}")}
START, END = datetime(2013, 11, 2, 4, tzinfo=UTC), datetime(2013, 11, 4, 5, tzinfo=UTC)


def where(storage: Any, selection: Selection, dialect: str = "duckdb") -> str:
    return sql_condition(open_backend(storage).where(selection), dialect_of(dialect))


#: Of names, a text, an instant and a time without a zone.
WRITTEN = {
    "ansi": ("\"it's\"", "'a''b\\'", "TIMESTAMP '2013-11-03 05:00:00+00:00'", "TIMESTAMP '2013-11-03 05:00:00'"),
    "spark": ("`it's`", "'a\\'b\\\\'", "TIMESTAMP '2013-11-03 05:00:00+00:00'", "TIMESTAMP_NTZ '2013-11-03 05:00:00'"),
    "duckdb": ("\"it's\"", "'a''b\\'", "TIMESTAMPTZ '2013-11-03 05:00:00+00:00'", "TIMESTAMP '2013-11-03 05:00:00'"),
    "trino": ("\"it's\"", "'a''b\\'", "TIMESTAMP '2013-11-03 05:00:00 UTC'", "TIMESTAMP '2013-11-03 05:00:00'"),
    "bigquery": ("`it's`", "'a\\'b\\\\'", "TIMESTAMP '2013-11-03 05:00:00+00:00'", "DATETIME '2013-11-03 05:00:00'"),
    "snowflake": (
        "\"it's\"", "'a\\'b\\\\'", "'2013-11-03 05:00:00 +00:00'::TIMESTAMP_TZ", "'2013-11-03 05:00:00'::TIMESTAMP_NTZ"
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_writes_names_and_values_in_its_way(dialect: str) -> None:
    name, text, instant, wall_time = WRITTEN[dialect]
    at = datetime(2013, 11, 3, 5, tzinfo=UTC)
    either = Or((Condition("it's", "==", "a'b\\"), Condition("it's", "in", (1, Decimal("2.5"), True))))
    times = And((Condition("it's", ">=", at), Condition("it's", "<", at.replace(tzinfo=None))))
    where = And((either, Condition("it's", "!=", date(2013, 1, 1)), times, Condition("it's", "==", None)))
    assert sql_condition(where, DIALECTS[dialect]) == (
        f"({name} = {text} OR {name} IN (1, 2.5, TRUE)) AND {name} <> DATE '2013-01-01'"
        f" AND {name} >= {instant} AND {name} < {wall_time} AND {name} IS NULL"
    )
    quotes = {"spark": "`day`", "bigquery": "`day`", "snowflake": "day"}
    assert (
        sql_condition(Condition("day", "==", 1), DIALECTS[dialect])
        == f"{quotes.get(dialect, chr(34) + 'day' + chr(34))} = 1"
    )


def test_a_range_of_sortable_texts_is_a_range() -> None:
    storage = Parquet("/lake/x", partition=DAYS, partition_on={"y": Column("%Y", "int"), "day": Column("%Y-%m-%d")})
    plain = Parquet("/lake/x", partition=DAYS)
    week = Selection.between(DAYS, datetime(2013, 12, 30, tzinfo=UTC), datetime(2014, 1, 6, tzinfo=UTC))
    assert where(plain, week) == "\"date\" >= '2013-12-30' AND \"date\" < '2014-01-06'"
    assert where(plain, Selection.of(DAYS, "2013-12-30"), "spark") == "`date` >= '2013-12-30' AND `date` < '2013-12-31'"
    assert where(plain, Selection(DAYS)) == "FALSE"
    assert where(plain, Selection.all(PartitionByInterval("@daily", name="date"))) == "TRUE"
    two = Selection.of(DAYS, "2013-01-01", "2013-01-03")
    assert where(plain, two) == (
        "(\"date\" >= '2013-01-01' AND \"date\" < '2013-01-02' OR \"date\" >= '2013-01-03' AND \"date\" < '2013-01-04')"
    )
    assert where(storage, week).count("IN") + where(storage, week).count("=") > 2
    assert sql_condition(NOTHING, DIALECTS["ansi"]) == "FALSE"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Parquet:
    storage = Parquet(str(tmp_path_factory.mktemp("lake") / "flights"), partition=KEYS, partition_on=COLUMNS)
    keys = list(Selection.between(KEYS, START, END))
    storage.save({key: pa.table({"key": [str(key)]}) for key in keys})
    return storage


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_duckdb_selects_the_keys_of_the_selection(lake: Parquet, data: st.DataObject) -> None:
    keys = list(Selection.between(KEYS, START, END))
    chosen = data.draw(st.lists(st.sampled_from(keys), max_size=6))
    low, high = sorted(data.draw(st.tuples(st.integers(0, 48), st.integers(0, 48))))
    hours = list(HOURS.keys(START, END))
    between = Selection.between(KEYS, hours[low].start, hours[high].start) if low < high else Selection(KEYS)
    selection = Selection.of(KEYS, *chosen) | between
    types = "{day: DATE, hour: VARCHAR, city: VARCHAR}"
    found = duckdb.execute(
        f"SELECT key FROM read_parquet('{lake.path}/*/*/*/*.parquet', hive_partitioning = true, hive_types = {types})"
        f" WHERE {where(lake, selection)}"
    ).fetchall()
    assert sorted(key for (key,) in found) == sorted(map(str, selection))


@pytest.mark.spark
def test_spark_selects_the_keys_of_the_selection(spark: SparkSession, lake: Parquet) -> None:
    selection = Selection.between(KEYS, datetime(2013, 11, 3, 5, tzinfo=UTC), datetime(2013, 11, 3, 7, tzinfo=UTC))
    selection |= Selection.of(KEYS, "2013-11-03T22:00-05:00|it's")
    frame = spark.read.schema("key string, day date, hour string, city string").parquet(lake.path)
    assert sorted(row.key for row in frame.where(where(lake, selection, "spark")).collect()) == sorted(
        map(str, selection)
    )


def test_a_table_is_told_by_its_own_columns(tmp_path: Path) -> None:
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path)}
    days = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="day")
    keys = PartitionByProduct([days, PartitionBySequence(["EWR", "JFK"], name="airport")])
    table = Iceberg(
        "db.flights", credentials=catalog, create=True, partition=keys, partition_on={"day": "at", "airport": "origin"},
        schema={"at": "timestamp", "origin": "string", "n": "int"},
    )  # fmt: skip
    rows = pa.table({"at": [datetime(2013, 11, 3, 4, tzinfo=UTC)], "origin": ["JFK"], "n": pa.array([1], pa.int32())})
    table.save({"2013-11-03|JFK": rows})
    assert where(table, Selection.of(keys, "2013-11-03|JFK"), "trino") == (
        "\"at\" >= TIMESTAMP '2013-11-03 04:00:00 UTC' AND \"at\" < TIMESTAMP '2013-11-04 05:00:00 UTC'"
        " AND \"origin\" = 'JFK'"
    )
    with pytest.raises(FilterError, match=r"'db.flights' has files with rows of several partitions, .*where\(…\)"):
        open_backend(table).paths([])


def test_what_no_column_tells_is_refused() -> None:
    names = PartitionAtRuntime(name="file")
    named = Parquet("/lake/x", partition=names, partition_on=FilePerKey(".parquet"))
    with pytest.raises(FilterError, match=r"by the names of files, and no column has them; expected paths\(…\)"):
        where(named, Selection.of(names, "a"))
    with pytest.raises(InvalidDefinitionError, match="SQL dialect 'Spark' is not known; nearest: spark; expected one"):
        dialect_of("Spark")
    endless = Parquet("/lake/x", partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
    with pytest.raises(FilterError, match="don't sort like times, so that no SQL can compare them"):
        where(endless, Selection.between(HOURS, START, datetime(2019, 1, 1, tzinfo=UTC)))
