"""Flyte's StructuredDataset: typed frames at the borders of functions. Rows F1 to F6, with and without Spark."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import fsspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors
from pyspark.sql import DataFrame

from airflow_partitions import Partition, PartitionByInterval, StoredFrame, asset, spark_asset
from airflow_partitions.core.errors import InvalidDefinitionError, SchemaError, StorageError
from airflow_partitions.storage import (
    Csv,
    Files,
    Iceberg,
    Parquet,
    Reader,
    ReadRequest,
    StagedFiles,
    Writer,
    WriteRequest,
    register_reader,
    register_writer,
)
from tests.conformance.conftest import BUCKET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.authoring.local import Trial

pytestmark = pytest.mark.spark

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", name="hour")
DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
DAY = "2013-11-03"
SUMS = [{"origin": "EWR", "delay": 25.0}, {"origin": "JFK", "delay": 75.0}]


@attrs.frozen
class Lake:
    """A place for storage: folders, or tables of Iceberg whose files are in a folder.

    :ivar root: of folders.
    :ivar tables: whether what functions over frames make are tables.
    """

    root: str
    tables: bool

    def storage(self, name: str, origin: str | None = "string") -> Any:
        """For delays by day, and of which *origin*, if it has one."""
        if not self.tables:
            return Parquet(f"{self.root}/{name}")
        schema = {"date": "date", **({} if origin is None else {"origin": origin}), "delay": "double"}
        return Iceberg(f"flights.{name}", credentials=self._catalog, schema=schema, create=True)

    def flights(self) -> Any:
        """For flights by hour."""
        if not self.tables:
            return Parquet(f"{self.root}/flights", partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
        schema = {"at": "timestamp", "tail": "string", "origin": "string", "delay": "double"}
        on = {"hour": "at"}
        return Iceberg(
            "flights.hours", credentials=self._catalog, partition=HOURS, partition_on=on, schema=schema, create=True
        )

    @property
    def _catalog(self) -> dict[str, str]:
        return {"type": "sql", "uri": f"sqlite:///{self.root}/catalog.db", "warehouse": f"{self.root}/warehouse"}


@pytest.fixture(params=["local", "s3", "table"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    if request.param != "s3":
        return Lake(str(tmp_path), request.param == "table")
    request.getfixturevalue("server")
    return Lake(f"s3://{BUCKET}/{uuid.uuid4().hex}", tables=False)


@pytest.fixture
def root(lake: Lake) -> str:
    return lake.root


@pytest.fixture
def flights(lake: Lake) -> Any:
    """Two flights in each of the 25 hours of a day."""
    storage = lake.flights()
    rows = pa.table({"tail": ["N1", "N2"], "origin": ["EWR", "JFK"], "delay": [1.0, 3.0]})
    storage.save(dict.fromkeys(HOURS.keys(DAY, "2013-11-04"), rows))
    return storage


def declared(function: Callable[..., Any], storage: Any, **inputs: Any) -> Any:
    return asset(schedule="@daily", partition=DAYS, storage=storage, inputs=inputs)(function)


def on_spark(function: Callable[..., Any], storage: Any, **inputs: Any) -> Any:
    return spark_asset(schedule="@daily", partition=DAYS, storage=storage, inputs=inputs, strict=True)(function)


def run(made: Any, number: int = 1) -> Mapping[str, Any]:
    """What the task of an asset does; gives what it puts on the event."""
    events = OutletEventAccessors()
    context = {
        "partition": Partition(DAYS, DAY),
        "ti": SimpleNamespace(dag_id=made.name, run_id="run", try_number=number),
        "outlet_events": events,
        "dag_run": SimpleNamespace(run_after=datetime(2013, 11, 5, tzinfo=UTC)),
        "dag": SimpleNamespace(),
    }
    made.task.execute(context)
    extra: Mapping[str, Any] = events[made].extra
    return extra


def rows(storage: Any, spark: SparkSession) -> list[dict[str, Any]]:
    """The stored rows of the day, as Spark and Arrow both read them."""
    bound = storage.of(DAYS)
    by_spark = [row.asDict() for row in bound.read(DAY, spark=spark).drop("date").collect()]
    by_arrow = bound.read(DAY, "arrow").drop_columns("date").to_pylist()
    assert sorted(map(str, by_spark)) == sorted(map(str, by_arrow))
    return sorted(by_arrow, key=str)


def shown(trial: Trial) -> list[dict[str, Any]]:
    return sorted((row.asDict() for row in trial.value.drop("date").collect()), key=str)


def in_pandas(flights: pd.DataFrame) -> pd.DataFrame:
    return flights.groupby("origin", as_index=False)["delay"].sum()


def in_polars(flights: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return flights.group_by("origin").agg(pl.sum("delay"))


def lazily(flights: pl.LazyFrame) -> pl.LazyFrame:
    import polars as pl

    return flights.group_by("origin").agg(pl.sum("delay"))


def in_arrow(flights: pa.Table) -> pa.Table:
    return flights.group_by("origin").aggregate([("delay", "sum")]).rename_columns(["origin", "delay"])


def in_spark(flights: DataFrame) -> DataFrame:
    return flights.groupBy("origin").sum("delay").toDF("origin", "delay")


def test_f1_the_annotation_of_a_frame_is_enough(
    spark: SparkSession, lake: Lake, flights: Any, partition_trial: Callable[..., Trial]
) -> None:
    for number, function in enumerate((in_pandas, in_polars, lazily, in_arrow), 1):
        storage = lake.storage("delays")
        counts = run(declared(function, storage, flights=flights), number)
        assert rows(storage, spark) == SUMS
        assert (counts["rows"], counts["reads"]["flights"]["rows"]) == (2, 50)
    for function in (in_pandas, in_polars, in_arrow, in_spark):
        trial = partition_trial(on_spark(function, lake.storage("on_spark"), flights=flights), DAY, spark=spark)
        assert shown(trial) == SUMS
        assert trial.result is not None
        assert trial.result.summary()["reads"]["flights"]["partitions"] == 25


class Rows(list[Any]):
    """A frame of one's own: a list of rows."""


class RowsReader(Reader):
    frame = Rows

    def read(self, scan: ReadRequest) -> Rows:
        files = [fsspec.open(path, "rb") for partition in scan.partitions or () for path in partition.paths]
        listed = Rows()
        for file in files:
            with file as source:
                listed += parquet.read_table(source).to_pylist()
        return listed


class CsvRowsReader(RowsReader):
    formats = ("csv",)

    def read(self, scan: ReadRequest) -> Rows:
        return Rows(
            [{"line": fsspec.open(path, "rt").open().read()} for p in scan.partitions or () for path in p.paths]
        )


class S3RowsReader(RowsReader):
    protocols = ("s3",)

    def read(self, scan: ReadRequest) -> Rows:
        return Rows([*super().read(scan), {"by": "s3"}])


class RowsWriter(Writer):
    frame = Rows

    def write(self, frame: Rows, key: Any, request: WriteRequest) -> StagedFiles:
        table = pa.Table.from_pylist(frame)
        with (request.folder / "0.parquet").open("wb") as file:
            parquet.write_table(table, file)
            size = file.tell()
        return StagedFiles(len(frame), {"0.parquet": size}, {"n": "bigint", "by": "string"})


def own_rows(flights: Rows) -> Rows:
    return Rows([{"n": len(flights), "by": flights[-1].get("by", "any")}])


def test_f2_frames_of_ones_own_by_type_protocol_and_format(
    spark: SparkSession, root: str, flights: Any, own_frames: None
) -> None:
    storage = Parquet(f"{root}/own", schema={"n": "bigint", "by": "string"})
    run(declared(own_rows, storage, flights=flights))
    is_s3 = root.startswith("s3")
    assert rows(storage, spark) == [{"n": 51, "by": "s3"} if is_s3 else {"n": 50, "by": "any"}]
    texts = Csv(f"{root}/texts", partition=DAYS, schema={"n": "bigint"})
    texts.save({DAY: pl.DataFrame({"n": [7]})})
    assert texts.read(DAY, Rows) == [{"line": "7\n"}]
    with pytest.raises(InvalidDefinitionError, match="input 'flights' is a Rows, which Spark can't give"):
        on_spark(own_rows, storage, flights=flights)


@pytest.fixture
def own_frames() -> None:
    for reader in (RowsReader(), CsvRowsReader(), S3RowsReader()):
        register_reader(reader, override=True)
    register_writer(RowsWriter(), override=True)


def typed(flights: pl.DataFrame) -> Annotated[pl.DataFrame, {"origin": str, "delay": float}]:
    import polars as pl

    return flights.group_by("origin").agg(pl.sum("delay").cast(pl.Float32))


def mistyped(flights: pl.DataFrame) -> Annotated[pl.DataFrame, {"origin": str, "delays": float}]:
    import polars as pl

    return flights.group_by("origin").agg(pl.sum("delay"))


def in_csv(flights: pl.DataFrame) -> Annotated[pl.DataFrame, ["delay"], "csv"]:
    return flights


def test_f3_columns_and_format_are_annotated(
    spark: SparkSession, lake: Lake, flights: Any, partition_trial: Callable[..., Trial]
) -> None:
    for declare in (declared, on_spark):
        made = declare(typed, lake.storage("typed"), flights=flights)
        assert {**dict(made.storage.schema), "date": "date"} == {"origin": "string", "delay": "double", "date": "date"}
        with pytest.raises(
            InvalidDefinitionError, match=r"format is 'csv', and that of .*typed' is '(parquet|iceberg)'"
        ):
            declare(in_csv, lake.storage("typed"), flights=flights)
    run(declared(typed, lake.storage("typed"), flights=flights))
    assert rows(lake.storage("typed"), spark) == SUMS  # 32 bits are widened to what is annotated
    assert shown(partition_trial(on_spark(typed, lake.storage("t"), flights=flights), DAY, spark=spark)) == SUMS
    with pytest.raises(InvalidDefinitionError if lake.tables else SchemaError, match="'delay'"):
        run(declared(mistyped, lake.storage("typed"), flights=flights), 2)
    assert rows(lake.storage("typed"), spark) == SUMS


def test_f4_a_wrapper_chooses_place_and_format_of_a_value(spark: SparkSession, lake: Lake, flights: Any) -> None:
    exports = Csv(f"{lake.root}/exports", options={"sep": ";"}, schema={"origin": "string", "delay": "double"})
    values: list[Any] = [pl.DataFrame(SUMS), StoredFrame(pl.DataFrame(SUMS), exports)]

    def delays() -> Any:
        return values.pop(0)

    delays.__qualname__ = delays.__name__
    storage = lake.storage("delays")
    made = declared(delays, storage)
    assert "elsewhere" not in run(made)
    assert not exports.of(DAYS).exists(DAY)
    (elsewhere,) = run(made, 2)["elsewhere"]
    assert (elsewhere["path"], elsewhere["format"], elsewhere["rows"]) == (exports.path, "csv", 2)
    assert rows(storage, spark) == rows(exports, spark) == SUMS


@pytest.mark.parametrize(
    ("made", "form", "taken", "message"),
    [
        ({"a": int, "b": float}, "parquet", Annotated[pl.DataFrame, ["b"]], ""),
        ({"a": int, "b": float}, "parquet", Annotated[pl.DataFrame, {"a": int, "date": str}, "parquet"], ""),
        ({}, "parquet", Annotated[pl.DataFrame, ["c"]], ""),
        ({"a": int}, "csv", pl.DataFrame, ""),
        ({"a": int, "b": float}, "parquet", Annotated[pl.DataFrame, ["a", "c"]], "there is no column 'c'"),
        ({"a": int, "b": float}, "parquet", Annotated[pl.DataFrame, {"b": str}], "column 'b' is double"),
        ({"a": int}, "csv", Annotated[pl.DataFrame, "parquet"], "its format is 'parquet', and that of"),
    ],
)
@pytest.mark.parametrize("declare", [declared, on_spark])
def test_f5_producer_and_consumer_are_compared_when_a_dag_is_parsed(
    made: Any, form: str, taken: Any, message: str, declare: Any
) -> None:
    def producer() -> Any: ...

    def consumer(values: Any) -> Any:
        return values

    producer.__annotations__["return"] = Annotated[pl.DataFrame, made] if made else pl.DataFrame
    consumer.__annotations__["values"] = taken
    for function in (producer, consumer):
        function.__qualname__ = function.__name__
    values = declared(producer, Files("/lake/values", format=form))
    if not message:
        declare(consumer, Parquet("/lake/out"), values=values)
        return
    with pytest.raises(InvalidDefinitionError, match=f"consumer: values: {message}"):
        declare(consumer, Parquet("/lake/out"), values=values)


def narrow(flights: Annotated[pl.DataFrame, ["delay"]]) -> pl.DataFrame:
    return flights.sum()


def lazily_narrow(flights: Annotated[pl.LazyFrame, ["delay"]]) -> pl.LazyFrame:
    return flights.sum()


def on_spark_narrow(flights: Annotated[DataFrame, ["delay"]]) -> DataFrame:
    return flights.groupBy().sum("delay").toDF("delay")


def test_f6_the_columns_of_the_consumer_are_all_that_is_read(
    spark: SparkSession, lake: Lake, flights: Any, partition_trial: Callable[..., Trial]
) -> None:
    _spoil(flights, lake, "tail")  # whoever reads it fails
    with pytest.raises((StorageError, OSError)):
        flights.read(as_="arrow")
    for number, function in enumerate((narrow, lazily_narrow), 1):
        storage = lake.storage("narrow", origin=None)
        run(declared(function, storage, flights=flights), number)
        assert rows(storage, spark) == [{"delay": 100.0}]
    for function in (narrow, on_spark_narrow):
        made = on_spark(function, lake.storage("n", origin=None), flights=flights)
        trial = partition_trial(made, DAY, spark=spark, explain=True)
        assert shown(trial) == [{"delay": 100.0}]
        reads = trial.result.summary()["reads"]["flights"]  # type: ignore[union-attr]
        assert (reads["partitions"], reads["files"], reads["rows"]) == (25, 25, 50)
        if function is on_spark_narrow:
            assert trial.plan is not None
            assert "delay#" in trial.plan
            assert "origin#" not in trial.plan


def _spoil(flights: Any, lake: Lake, name: str) -> None:
    """Overwrite the bytes of a column in all files."""
    paths: list[Any] = [path for partition in flights.list() for path in partition.paths]
    if lake.tables:
        paths = list(Path(lake.root, "warehouse", "flights", "hours").rglob("*.parquet"))
    assert len(paths) == 25
    for path in map(str, paths):
        with fsspec.open(path, "rb") as file:
            content = bytearray(file.read())
        group = parquet.read_metadata(pa.BufferReader(bytes(content))).row_group(0)
        (column,) = [group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema == name]
        start = column.dictionary_page_offset or column.data_page_offset
        content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
        with fsspec.open(path, "wb") as file:
            file.write(content)
