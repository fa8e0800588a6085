"""Every format, written in every way, is read back in every way as the same rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import Partition, PartitionBySequence
from airflow_partitions.core.errors import ResultError, WriterError
from airflow_partitions.spark import job
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.storage import (
    Attempt,
    Avro,
    Csv,
    Files,
    Json,
    Orc,
    Parquet,
    Shape,
    StagedFiles,
    Text,
    Writer,
    WriteRequest,
    field,
    register_writer,
    write_many,
)
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.io import registry, writer_for
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits
from airflow_partitions.storage.metadata.staged_files import readable_files
from airflow_partitions.storage.stores.open import open_staging
from tests.spark_rows import spark_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Rows = list[tuple[Any, ...]]

LETTERS = PartitionBySequence(["a", "b"], name="letter")
SCHEMA = {
    "carrier": "string",
    "gate": "int",
    "distance": "bigint",
    "delay": "double",
    "late": "boolean",
    "day": "date",
    "at": "timestamp",
    "fare": "decimal(10,2)",
}
AT = dt.datetime(2013, 2, 8, 9, 30, 1, 123456, dt.UTC)
ROWS: Rows = [
    ("AA", 1, 2**40, 1.5, True, dt.date(2013, 2, 8), AT, Decimal("99.50")),
    (' "é", ;\\\' x\\', -1, 0, -0.25, False, dt.date(1969, 12, 31), AT.replace(microsecond=0), Decimal("-0.01")),
    ("", None, None, None, None, None, None, None),
    (None,) * 8,
]
LINES: Rows = [("AA,1",), ("",), (' "é" \\ ',)]
#: Format and options to the columns and the rows.
FORMATS: Mapping[str, tuple[type[Files], Mapping[str, Any]]] = {
    "parquet": (Parquet, {}),
    "parquet zstd": (Parquet, {"compression": "zstd"}),
    "csv": (Csv, {}),
    "csv options": (Csv, {"sep": ";", "header": True, "compression": "gzip"}),
    "json": (Json, {}),
    "json bzip2": (Json, {"compression": "bzip2"}),
    "orc": (Orc, {}),
    "orc zlib": (Orc, {"compression": "zlib"}),
    "avro": (Avro, {}),
    "avro deflate": (Avro, {"compression": "deflate"}),
    "text": (Text, {}),
    "text gzip": (Text, {"compression": "gzip"}),
}


def dataset(name: str, folder: Path) -> tuple[Files, Rows]:
    kind, options = FORMATS[name]
    schema, rows = ({"value": "string"}, LINES) if kind is Text else (SCHEMA, ROWS)
    if kind is Orc:  # Spark can't read times that Arrow writes there
        number = list(SCHEMA).index("at")
        schema = {name: type_ for name, type_ in SCHEMA.items() if name != "at"}
        rows = [row[:number] + row[number + 1 :] for row in ROWS]
    return kind(str(folder / "lake"), partition=LETTERS, schema=schema, options=options), rows


def spark_frame(spark: SparkSession, files: Files, rows: Rows) -> DataFrame:
    columns = ", ".join(f"{name} {kind}" for name, kind in files.schema or ())
    return spark_rows(spark, rows, columns).coalesce(1)


def arrow_table(files: Files, rows: Rows) -> pa.Table:
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in files.schema or ()])
    return pa.table([pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)], schema=schema)


def by_asset(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
    """What the task, spark-submit and the driver do."""
    attempt, wrapped = Attempt("dag", f"run {key}", 1), LETTERS.parse(key)
    staging = open_staging(files, attempt, files.layout.directory_of(wrapped))
    handover = Handover(
        asset="x", attempt=attempt, partition=Partition(LETTERS, key), inputs={}, output=files, staging=staging
    )
    with job(Handover.from_text(handover.to_text()), spark) as current:
        current.write(spark_frame(spark, files, rows))
    publish(files, wrapped, attempt, staging, JobResult.load(staging, attempt.name).written)
    staging.remove()


def by_saving(make: Callable[[Files, Rows], Any]) -> Callable[[SparkSession, Files, Rows, str], None]:
    def save(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
        files.save({key: make(files, rows)})

    return save


def by_saving_spark(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
    files.save({key: spark_frame(spark, files, rows)})


def by_write_many(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
    from pyspark.sql import functions as f

    write_many(spark_frame(spark, files, rows).withColumn("letter", f.lit(key)), files)


WAYS: Mapping[str, Callable[[SparkSession, Files, Rows, str], None]] = {
    "asset": by_asset,
    "spark": by_saving_spark,
    "pandas": by_saving(lambda files, rows: arrow_table(files, rows).to_pandas()),
    "polars": by_saving(lambda files, rows: pl.from_arrow(arrow_table(files, rows))),
    "arrow": by_saving(arrow_table),
    "write_many": by_write_many,
}


def read(spark: SparkSession, files: Files, key: str, as_: str) -> Rows:
    """The rows as tuples; their types have to be those declared."""
    frame = files.read(key, as_, spark=spark, columns=[name for name, _ in files.schema or ()])
    if as_ == "pandas":
        return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]
    if as_ == "spark":
        assert frame.dtypes == list(files.schema or ())
    table = frame if as_ == "arrow" else frame.toArrow() if as_ == "spark" else frame.to_arrow()
    for name, kind in files.schema or ():
        assert fits(table.schema.field(name).type, arrow_type(kind)), (name, table.schema.field(name).type)
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_read(spark: SparkSession, tmp_path: Path, name: str, way: str) -> None:
    files, rows = dataset(name, tmp_path)
    WAYS[way](spark, files, rows, "a")
    if way != "write_many":  # of no rows it makes no partition
        WAYS[way](spark, files, [], "b")
    counts = {str(partition.key): partition.rows for partition in files.list()}
    assert counts == {"a": len(rows), "b": 0} if way != "write_many" else {"a": len(rows)}
    for partition in files.list():
        assert partition.metadata["schema"] == dict(files.schema or ())
        assert partition.files
    for as_ in ("spark", "arrow", "pandas", "polars"):
        assert sorted(read(spark, files, "a", as_), key=repr) == sorted(rows, key=repr), as_
        if "b" in counts:
            assert read(spark, files, "b", as_) == [], as_


def test_csv_columns_are_written_in_the_declared_order(spark: SparkSession, tmp_path: Path) -> None:
    files = Csv(str(tmp_path / "lake"), partition=LETTERS, schema={"one": "int", "other": "int"})
    frame = spark_rows(spark, [(2, 1, "a"), (2, None, "b")], "other int, one int, letter string")
    write_many(frame, files)
    files.save({"b": frame.where("letter = 'b'")}, mode="overwrite")
    for as_ in ("spark", "arrow"):
        assert read(spark, files, "a", as_) == [(1, 2)]
        assert read(spark, files, "b", as_) == [(None, 2)]
    with pytest.raises(
        WriterError, match=r"csv files are read by the order of columns, and \['new'\] are not declared"
    ):
        files.save({"a": frame.where("letter = 'a'").selectExpr("*", "1 new")}, mode="overwrite", evolve=True)


@pytest.mark.parametrize("way", ["asset", "spark", "polars", "write_many"])
@pytest.mark.parametrize(
    ("name", "schema", "row", "words"),
    [
        ("text", {"value": "string"}, ("one\nline",), "text can't hold "),
        ("text", {"value": "string"}, (None,), "text can't hold "),
        ("csv", {"n": "int", "s": "string"}, (1, "one\rline"), "csv can't hold "),
        ("csv", {"n": "int"}, (None,), "csv can't hold "),
    ],
)
def test_rows_that_a_format_can_not_hold_are_not_published(
    spark: SparkSession, tmp_path: Path, name: str, schema: dict[str, str], row: tuple[Any, ...], words: str, way: str
) -> None:
    files = FORMATS[name][0](str(tmp_path / "lake"), partition=LETTERS, schema=schema)
    with pytest.raises(WriterError, match=words):
        WAYS[way](spark, files, [row], "a")
    assert list(files.list()) == []


@pytest.mark.parametrize("way", WAYS)
def test_columns_that_a_format_can_not_hold(spark: SparkSession, tmp_path: Path, way: str) -> None:
    for number, (kind, schema, row) in enumerate(
        [
            (Text, {"value": "string", "more": "int"}, ("x", 1)),
            (Text, {"line": "string"}, ("x",)),
            (Csv, {"n": "int", "list": "array<int>"}, (1, [1])),
        ]
    ):
        files = kind(str(tmp_path / str(number)), partition=LETTERS, schema=schema)
        with pytest.raises(WriterError, match="can't hold"):
            WAYS[way](spark, files, [row], "a")
        assert list(files.list()) == []


def test_line_breaks_in_csv_files(spark: SparkSession, tmp_path: Path) -> None:
    options = {"multiLine": True}
    files = Csv(str(tmp_path / "lake"), partition=LETTERS, schema={"s": "string", "n": "int"}, options=options)
    for way in ("asset", "arrow"):
        key = "a" if way == "asset" else "b"
        WAYS[way](spark, files, [("one\nother", 1), ("x", 2)], key)
        for as_ in ("spark", "arrow"):
            assert sorted(read(spark, files, key, as_)) == [("one\nother", 1), ("x", 2)]


@pytest.mark.parametrize("kind", [Csv, Json, Orc])
def test_what_write_many_can_do_is_done_in_every_format(spark: SparkSession, tmp_path: Path, kind: type[Files]) -> None:
    files = kind(str(tmp_path / "lake"), partition=LETTERS, schema={"n": "int", "s": "string"}, index=["n"])
    frame = spark.range(2000).selectExpr("int(id % 20) n", "repeat(string(id), 50) s", "'a' letter")
    write_many(frame, files, bucket_by=["n"], buckets=4, sort_by=["s"])
    (stored,) = files.list()
    assert stored.rows == 2000
    assert set(stored.metadata["index"]["n"]["files"]) == {str(n) for n in range(20)}
    assert len(files.read((field("letter") == "a") & (field("n") == 3), spark=spark).inputFiles()) == 1
    write_many(frame, files, mode="overwrite", target_file_size=stored.bytes // 4)
    (stored,) = files.list()
    assert (stored.rows, len(stored.files) > 1) == (2000, True)


def test_arrow_leaves_times_in_orc_files_to_spark(tmp_path: Path) -> None:
    files = Orc(str(tmp_path / "lake"), partition=LETTERS, schema={"at": "timestamp"})
    with pytest.raises(WriterError, match="Spark can't read column 'at' as Arrow writes it"):
        files.save({"a": pa.table({"at": pa.array([AT], pa.timestamp("us", "UTC"))})})


@pytest.mark.parametrize("times", [pa.array([AT.replace(tzinfo=None)]), pa.array([[AT.replace(tzinfo=None)]])])
def test_ho1_arrow_leaves_times_without_a_zone_in_orc_files_to_spark(tmp_path: Path, times: pa.Array) -> None:
    files = Orc(str(tmp_path / "lake"), partition=LETTERS)
    with pytest.raises(WriterError, match="Spark can't read column 'wall' as Arrow writes it"):
        files.save({"a": pa.table({"wall": times})})


EARLY, GREGORIAN = dt.date(1582, 10, 4), dt.date(1582, 10, 15)
DAYS = pa.array([GREGORIAN, EARLY, None])


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"day": DAYS}),
        pa.table({"day": pa.array([None, [EARLY]])}),
        pa.table({"day": pa.array([{"of": [EARLY]}, None])}),
        pa.table({"day": pa.array([[("x", EARLY)], None], pa.map_(pa.string(), pa.date32()))}),
        pa.table({"day": DAYS}).to_pandas(),
        pl.from_arrow(pa.table({"day": DAYS})),
    ],
)
def test_ho1_days_of_two_calendars_are_not_written_to_orc_files(tmp_path: Path, frame: Any) -> None:
    files = Orc(str(tmp_path / "lake"), partition=LETTERS)
    with pytest.raises(WriterError, match=r"column 'day' has the date 1582-10-04, .* 1582-10-15 .* such as Parquet"):
        files.save({"a": frame})
    assert not list(files.list())


@pytest.mark.spark
def test_ho1_spark_reads_the_first_gregorian_day_of_an_orc_file(spark: SparkSession, tmp_path: Path) -> None:
    files = Orc(str(tmp_path / "lake"), partition=LETTERS)
    files.save({"a": pa.table({"day": pa.array([GREGORIAN])})})
    assert [row["day"] for row in files.read(spark=spark).collect()] == [GREGORIAN]


class ListWriter(Writer):
    """Lines of a list."""

    frame = list
    formats = ("lines",)

    def write(self, frame: list[str], key: Any, request: WriteRequest) -> StagedFiles:
        (request.folder / "0.txt").write_text("".join(f"{line}\n" for line in frame))
        return StagedFiles(len(frame), readable_files(request.folder), {})


def test_f2_writers_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever runs after it knows no writer of lists.
    monkeypatch.setattr(registry._writers, "_entries", dict(registry._writers._entries))
    files = Files(str(tmp_path / "lake"), format="lines", partition=LETTERS)
    with pytest.raises(ResultError, match="got list; expected a frame of pandas"):
        files.save({"a": ["x"]})
    register_writer(ListWriter())
    files.save({"a": ["x", "y"]})
    (stored,) = files.list()
    assert (stored.rows, Path(stored.paths[0]).read_text()) == (2, "x\ny\n")
    with pytest.raises(WriterError, match=r"ListWriter writes lines on any file system as .*list.* already"):
        register_writer(ListWriter())
    register_writer(ListWriter(), override=True)
    with pytest.raises(WriterError, match=r"nothing writes format 'csv' .*one of the formats lines; .*register_writer"):
        Csv(str(tmp_path / "csv"), partition=LETTERS).save({"a": ["x"]})
    with pytest.raises(WriterError, match="ListWriter writes one partition at a time"):
        writer_for(list, files).write_many([], WriteRequest(dataset=files, folder=tmp_path), Shape())
