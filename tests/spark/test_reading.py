from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionBySequence, Selection
from airflow_partitions.core.errors import FilterError, MissingInputError, SchemaError, StorageError
from airflow_partitions.frames.input import Input
from airflow_partitions.storage import Column, Csv, FilePerKey, Files, Filter, Json, Orc, Parquet, Text, field
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filters.pruning import prune
from airflow_partitions.storage.layout.escape import escape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def day(lake: Any, text: str = "2013-01-02|EWR", **changes: Any) -> Input:
    storage = attrs.evolve(lake.flights, **changes)
    return Input.needed_by(Partition(lake.delays.partition, text), "flights", storage)


def test_exactly_the_promised_partitions(spark: SparkSession, lake: Any) -> None:
    frame = day(lake).read(spark)
    assert len(frame.inputFiles()) == 24
    assert {row.hour for row in frame.select("hour").collect()} == {f"2013-01-02T{h:02}:00-0500" for h in range(24)}


def test_declared_types(spark: SparkSession, lake: Any) -> None:
    assert day(lake).read(spark).dtypes == [("origin", "string"), ("delay", "double"), ("hour", "string")]


def test_an_added_column_is_null_in_old_files(spark: SparkSession, lake: Any) -> None:
    frame = day(lake, schema={"origin": "string", "gate": "int"}).read(spark)
    assert [row.gate for row in frame.collect()] == [None] * 48


def test_without_a_schema_it_is_that_of_the_first_file(spark: SparkSession, lake: Any) -> None:
    frame = day(lake, schema=None).read(spark)
    assert frame.dtypes == [("origin", "string"), ("delay", "double"), ("hour", "string")]
    assert frame.count() == 48


def test_a_folder_without_files_has_no_schema(spark: SparkSession, lake: Any) -> None:
    source = day(lake, schema=None)
    first = Path(next(iter(source.folders)))
    shutil.rmtree(first)
    first.mkdir()
    with pytest.raises(StorageError, match="no file in the first partition"):
        source.read(spark)


def test_no_partition_at_all(spark: SparkSession, lake: Any) -> None:
    nothing = Input("flights", lake.flights, Selection(lake.flights.partition))
    assert nothing.read(spark).collect() == []
    assert nothing.read(spark).columns == ["origin", "delay", "hour"]
    with pytest.raises(MissingInputError, match="so there is no schema"):
        Input("flights", attrs.evolve(lake.flights, schema=None), nothing.selection).read(spark)


def test_types_of_partition_columns_are_never_inferred(spark: SparkSession, tmp_path: Path) -> None:
    definition = PartitionBySequence(["01", "1e3", "2013-01-01", "a b=c/d%", "x'{[]}\\"], name="code")
    storage = Parquet(str(tmp_path), partition=definition, schema={"n": "bigint"})
    keys = tuple(definition.keys())
    for key in keys:
        spark.range(1).toDF("n").write.parquet(storage.path_of(key))
    selection = Selection(definition, tuple(box for key in keys for box in Selection.of(definition, key).boxes))
    frame = Input("codes", storage, selection).read(spark)
    assert sorted(row.code for row in frame.collect()) == sorted(map(str, keys))


def test_typed_partition_columns(spark: SparkSession, tmp_path: Path) -> None:
    definition = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-03", name="date")
    columns = {"month": Column("%m", "int"), "d": Column("%Y-%m-%d", "date")}
    storage = Parquet(str(tmp_path), partition=definition, partition_on=columns, schema={"n": "bigint"})
    keys = tuple(definition.keys())
    for key in keys:
        spark.range(1).toDF("n").write.parquet(storage.path_of(key))
    frame = Input("days", storage, Selection.between(definition, definition.start, definition.end)).read(spark)
    assert frame.dtypes == [("n", "bigint"), ("month", "int"), ("d", "date")]
    assert sorted(str(row.d) for row in frame.collect()) == ["2013-01-01", "2013-01-02"]
    assert {row.month for row in frame.collect()} == {1}


def test_storage_without_partitions_is_read_whole(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).toDF("n").write.parquet(str(tmp_path / "airports"))
    source = Input("airports", Parquet(str(tmp_path / "airports"), ownership="read-only"), None)
    assert source.read(spark).count() == 3


def test_the_session_keeps_its_settings(spark: SparkSession, lake: Any) -> None:
    name = "spark.sql.sources.parallelPartitionDiscovery.threshold"
    before = spark.conf.get(name)
    day(lake).read(spark)
    assert spark.conf.get(name) == before


def test_names_are_escaped_as_spark_does(spark: SparkSession) -> None:
    spark_escape = spark._jvm.org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.escapePathName
    text = "".join(chr(c) for c in range(1, 0x180)) + "é|ß€"
    assert escape(text) == spark_escape(text)


DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2014-01-01", name="date")


def add(files: Files, key: str, columns: dict[str, Any]) -> Path:
    folder = Path(files.path_of(DAYS.parse(key)))
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / f"{len(list(folder.iterdir()))}.parquet")
    return folder


WIDER = [
    ("bigint", pa.array([1], pa.int32()), 1),
    ("int", pa.array([1], pa.int16()), 1),
    ("double", pa.array([1.5], pa.float32()), 1.5),
    ("double", pa.array([2], pa.int32()), 2.0),
    ("decimal(10,2)", pa.array([Decimal("1.5")], pa.decimal128(4, 1)), Decimal("1.50")),
    ("timestamp_ntz", pa.array([dt.date(2013, 1, 1)]), dt.datetime(2013, 1, 1)),  # noqa: DTZ001
    ("string", pa.array(["a"], pa.large_string()), "a"),
    ("string", pa.array(["a"]).dictionary_encode(), "a"),
    ("array<int>", pa.array([[1, 2]], pa.list_(pa.int32())), [1, 2]),
]


@pytest.mark.parametrize(("kind", "column", "value"), WIDER, ids=[f"{kind} from {c.type}" for kind, c, _ in WIDER])
def test_what_is_taken_to_fit_is_read_by_spark_and_arrow(
    spark: SparkSession, tmp_path: Path, kind: str, column: Any, value: Any
) -> None:
    files = Parquet(str(tmp_path), partition=DAYS, schema={"x": kind, "new": "int"})
    add(files, "2013-01-01", {"x": column})
    add(files, "2013-01-02", {"new": pa.array([7], pa.int32())})
    expected = [(value, None, "2013-01-01"), (None, 7, "2013-01-02")]
    assert sorted(map(tuple, files.read(spark=spark).collect()), key=lambda row: row[2]) == expected
    assert sorted((tuple(row.values()) for row in files.read(as_="arrow").to_pylist()), key=lambda r: r[2]) == expected


def test_a_file_that_does_not_fit_is_named_before_a_job(spark: SparkSession, lake: Any) -> None:
    folder = Path(next(iter(day(lake).folders)))
    pq.write_table(pa.table({"origin": ["EWR"], "delay": ["late"]}), folder / "1.parquet")
    with pytest.raises(SchemaError, match="column 'delay' is string, but is declared as double") as error:
        day(lake).read(spark)
    assert str(folder / "1.parquet") in str(error.value)


def test_filters_choose_folders_and_rows(spark: SparkSession, lake: Any) -> None:
    where = field("time").between("2013-01-01T05:00-05:00", "2013-01-01T08:00-05:00") & (field("delay") > 5)
    frame = lake.flights.read(where, spark=spark, columns=["hour", "delay"])
    assert len(frame.inputFiles()) == 3
    assert frame.columns == ["hour", "delay"]
    assert sorted(row.delay for row in frame.collect()) == [6.0, 7.0]
    loaded = lake.flights.load(where, spark=spark)
    assert list(loaded) == [f"2013-01-01T0{hour}:00-05:00" for hour in (5, 6, 7)]
    assert [row.delay for row in loaded["2013-01-01T06:00-05:00"]().collect()] == [6.0]
    assert lake.flights.read(where & (field("time") < "2013-01-01"), spark=spark).collect() == []


def test_the_same_filter_as_a_column_of_spark(spark: SparkSession, lake: Any) -> None:
    schema = dict(lake.flights.schema)
    whole = spark.read.schema("origin string, delay double, hour string").parquet(lake.flights.path)
    for text in (
        "time >= '2013-01-01T20:00-05:00' and time < '2013-01-02T03:00-05:00'",
        "time == '2013-01-01T05:00-05:00' or (hour == '2013-01-01T06:00-0500' and origin in ('JFK',))",
        "not (origin == 'EWR' or delay <= 2) and hour != '2013-01-01T05:00-0500'",
        "origin in () or delay == '2.0'",
    ):
        pruned = prune(Filter.parse(text), lake.flights.layout, schema)
        rows = lake.flights.read(pruned.where, spark=spark, full_scan=True)
        assert sorted(map(tuple, rows.collect())) == sorted(map(tuple, whole.where(pruned.to_spark()).collect())), text
        table = lake.flights.read(as_="arrow").filter(pruned.to_arrow())
        assert sorted(tuple(row.values()) for row in table.to_pylist()) == sorted(map(tuple, rows.collect())), text


@pytest.mark.parametrize("kind", [Parquet, Orc, Json, Csv])
def test_other_formats(spark: SparkSession, tmp_path: Path, kind: Any) -> None:
    options = {"header": "true", "sep": ";"} if kind is Csv else {}
    files = kind(str(tmp_path), partition=DAYS, schema={"carrier": "string", "n": "bigint"}, options=options)
    frame = spark.createDataFrame([("AA", 1), (None, None)], "carrier string, n bigint").coalesce(1)
    frame.write.format(files.format).options(**options).save(files.path_of(DAYS.parse("2013-01-05")))
    expected = {("AA", 1, "2013-01-05"), (None, None, "2013-01-05")}
    assert set(map(tuple, files.read("2013-01-05", spark=spark).collect())) == expected
    assert {tuple(row.values()) for row in files.read("2013-01-05", "arrow").to_pylist()} == expected


def test_lines_of_text(spark: SparkSession, tmp_path: Path) -> None:
    files = Text(str(tmp_path), partition=DAYS, schema={"value": "string"})
    (tmp_path / "date=2013-01-05").mkdir()
    (tmp_path / "date=2013-01-05" / "a.txt").write_text("AA 1\nUA é\n")
    rows = files.read(field("date") >= "2013-01-02", spark=spark)
    assert sorted(map(tuple, rows.collect())) == [("AA 1", "2013-01-05"), ("UA é", "2013-01-05")]


def test_a_frozen_dataset_reads_the_files_of_its_listing(spark: SparkSession, tmp_path: Path) -> None:
    files = Parquet(str(tmp_path), partition=DAYS, schema={"n": "bigint"})
    folder = add(files, "2013-01-01", {"n": [1]})
    frozen = files.freeze("run")
    add(files, "2013-01-01", {"n": [2]})
    add(files, "2013-01-02", {"n": [3]})
    assert [row.n for row in frozen.read(spark=spark).collect()] == [1]
    assert frozen.read(as_="arrow")["n"].to_pylist() == [1]
    assert files.read(spark=spark).count() == 3
    (folder / "0.parquet").unlink()
    for kind in ("spark", "arrow"):
        with pytest.raises(StorageError, match="have changed since"):
            frozen.read(as_=kind, spark=spark)


def test_files_that_lie_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "old.parquet")
    files = Parquet(str(tmp_path / "own"), partition=DAYS, schema={"n": "bigint"}, log=str(tmp_path / "log"))
    with Commit(files) as commit:
        pq.write_table(pa.table({"n": [2]}), commit.stage("2013-01-02") / "0.parquet")
        commit.put("2013-01-02")
        commit.add("2013-01-01", str(tmp_path))
    expected = [(1, "2013-01-01"), (2, "2013-01-02")]
    assert sorted(map(tuple, files.read(spark=spark).collect())) == expected
    assert sorted(tuple(row.values()) for row in files.read(as_="arrow").to_pylist()) == expected
    assert files.read(columns=["date", "n"], spark=spark).columns == ["date", "n"]


def test_what_spark_cannot_do_is_said(spark: SparkSession, lake: Any) -> None:
    with pytest.raises(StorageError, match="in the memory of this process"):
        Parquet("memory://x", partition=DAYS, schema={"n": "int"}, ownership="read-only").read(spark=spark)
    with pytest.raises(FilterError, match="there is no column 'gate'"):
        lake.flights.read("2013-01-01T05:00-05:00", spark=spark, columns=["gate"])


def test_names_that_look_like_patterns_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    for number, name in enumerate(["a[1].csv", "a1.csv"]):
        (tmp_path / name).write_text(f"{number}\n")
    files = Csv(str(tmp_path), partition_on=FilePerKey(".csv"), schema={"n": "bigint"})
    assert [row.n for row in files.load(spark=spark)["a1"]().collect()] == [1]
    with pytest.raises(StorageError, match=r"a\[1\]\.csv' is a pattern to Spark"):
        files.read(spark=spark)
    assert sorted(files.read(as_="arrow")["n"].to_pylist()) == [0, 1]
