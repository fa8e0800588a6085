"""Rows that go to the partition of a table that their own values name."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionByInterval
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import (
    ConflictError,
    ForeignRowsError,
    LayoutError,
    ResultError,
    SchemaError,
    StoredError,
    WriterError,
)
from airflow_partitions.storage import Iceberg, field, write_many
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore, store_of_table
from tests.spark_rows import spark_rows
from tests.storage.iceberg.tables import COLUMNS, FLIGHTS, SCHEMA, history, reference
from tests.storage.iceberg.test_spark import SPECS, table_with

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: 05:00 in UTC, midnight in New York.
MIDNIGHT = datetime(2013, 1, 1, 5, tzinfo=UTC)
KINDS = ["arrow", "pandas", "polars", pytest.param("spark", marks=pytest.mark.spark)]


@pytest.fixture(params=KINDS)
def frame_of(request: pytest.FixtureRequest) -> Callable[[pa.Table], Any]:
    """Makes frames of one kind."""
    if request.param == "spark":
        spark: SparkSession = request.getfixturevalue("spark")
        types = SCHEMA | {"note": "string"}

        def of_spark(rows: pa.Table) -> Any:
            columns = ", ".join(f"{name} {types[name]}" for name in rows.column_names)
            return spark_rows(spark, [tuple(row.values()) for row in rows.to_pylist()], columns)

        return of_spark
    frames: dict[str, Callable[[pa.Table], Any]] = {"arrow": lambda rows: rows, "pandas": lambda rows: rows.to_pandas()}
    return frames.get(request.param, pl.from_arrow)


def dataset(folder: Path, definition: PartitionDefinition = FLIGHTS, **more: Any) -> Iceberg:
    columns = {name: COLUMNS[name] for name in definition.dimensions}
    declared: dict[str, Any] = {"schema": SCHEMA, "create": True} | more
    properties = reference(folder).properties
    return Iceberg(
        "db.delays", catalog="lake", credentials=properties, partition=definition, partition_on=columns, **declared
    )


def rows(days: int = 2, airports: tuple[str | None, ...] = ("EWR", "JFK"), first: datetime = MIDNIGHT) -> pa.Table:
    """A row for each hour of *days* days in New York and each of *airports*, mixed."""
    hours = [(first + timedelta(hours=hour), airport) for hour in range(24 * days) for airport in airports]
    mixed = hours[::2] + hours[1::2]
    columns = {
        "ts": pa.array([at for at, _ in mixed], pa.timestamp("us", tz="UTC")),
        "airport": pa.array([airport for _, airport in mixed], pa.string()),
        "v": pa.array(range(len(mixed)), pa.int64()),
    }
    return pa.table(columns)


def counts(storage: Iceberg) -> dict[str, int | None]:
    return {str(partition.key): partition.rows for partition in storage.list()}


def history_of(storage: Iceberg) -> list[str]:
    return history(store_of_table(storage).table.load())


def test_all_keys_are_published_in_one_snapshot(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    storage = dataset(tmp_path)
    published = write_many(frame_of(rows()), storage, user={"from": "all"})
    keys = [f"2013-01-0{day}|{airport}" for day in (1, 2) for airport in ("EWR", "JFK")]
    assert counts(storage) == dict.fromkeys(keys, 24)
    assert {key: (each.rows, each.user) for key, each in published.items()} == dict.fromkeys(
        keys, (24, {"from": "all"})
    )
    assert history_of(storage) == ["append"]
    read = storage.read("2013-01-02|JFK", as_="arrow")
    assert (set(read["airport"].to_pylist()), min(read["ts"].to_pylist())) == ({"JFK"}, MIDNIGHT + timedelta(days=1))
    with pytest.raises(StoredError, match="is stored already"):
        write_many(frame_of(rows(days=1)), storage)
    write_many(frame_of(rows(days=1, airports=("EWR",))), storage, mode="append")
    write_many(frame_of(rows(days=1, airports=("JFK",))), storage, mode="overwrite")
    assert counts(storage) == dict.fromkeys(keys, 24) | {"2013-01-01|EWR": 48}
    assert len(storage.read(keys, as_="arrow")) == 5 * 24


@pytest.mark.parametrize("spec", SPECS)
def test_a_file_holds_rows_of_one_key_whatever_the_spec_of_the_table(
    frame_of: Callable[[pa.Table], Any], tmp_path: Path, spec: str
) -> None:
    table_with(tmp_path, FLIGHTS, spec)
    storage = dataset(tmp_path, create=False)
    write_many(frame_of(rows(days=3)), storage)
    write_many(frame_of(rows(days=1)), storage, mode="overwrite")
    assert list(counts(storage).values()) == [24] * 6
    table = store_of_table(storage).table.load()
    assert len(table.specs()) <= 2  # the first, and the one that it was given
    assert {task.file.spec_id for task in table.scan().plan_files()} == {table.spec().spec_id}
    noon = field("ts").between(MIDNIGHT + timedelta(hours=12), MIDNIGHT + timedelta(hours=13))
    assert len(storage.read((field("date") == "2013-01-01") & noon, as_="arrow")) == 2


@pytest.mark.parametrize(
    ("stray", "shown"),
    [
        ({"airports": ("EWR", "LAX")}, "airport LAX"),
        ({"airports": ("EWR", None)}, "nulls in airport"),
        ({"first": MIDNIGHT - timedelta(days=1)}, r"ts (from )?2012-12-31 05:00:00\+00:00"),
    ],
)
def test_rows_of_no_key_are_refused(
    frame_of: Callable[[pa.Table], Any], tmp_path: Path, stray: dict[str, Any], shown: str
) -> None:
    storage = dataset(tmp_path)
    with pytest.raises(ForeignRowsError, match=rf"some rows belong to no partition of 'db.delays': .*{shown}"):
        write_many(frame_of(rows(**stray)), storage)
    assert (counts(storage), history_of(storage)) == ({}, [])
    assert list((tmp_path / "warehouse").rglob("*.parquet")) == []


def test_no_rows_publish_nothing(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    storage = dataset(tmp_path)
    write_many(frame_of(rows()), storage)
    assert write_many(frame_of(rows().slice(0, 0)), storage, mode="overwrite") == {}
    assert list(counts(storage).values()) == [24] * 4
    assert len(history_of(storage)) == 1


def test_columns_are_those_of_the_table(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    storage = dataset(tmp_path)
    with pytest.raises(ResultError, match=r"no column 'ts'; expected those that hold the keys of"):
        write_many(frame_of(rows().drop_columns(["ts"])), storage)
    wide = rows().append_column("note", pa.array(["new"] * 96))
    with pytest.raises(SchemaError, match="note"):
        write_many(frame_of(wide), storage)
    write_many(frame_of(wide), dataset(tmp_path, schema=None, create=False), evolve=True)
    assert storage.read("2013-01-01|EWR", as_="arrow").column_names == [*SCHEMA, "note"]


def test_keys_that_no_spec_keeps_apart(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    india = PartitionByInterval("@daily", start="2013-01-01", timezone="Asia/Kolkata", name="date")
    storage, frame = dataset(tmp_path, india), frame_of(rows())
    if type(frame).__module__.startswith("pyspark"):
        with pytest.raises(LayoutError, match=r"no transform of the column 'ts' .*expected save\({key: frame}\)"):
            write_many(frame, storage)
    else:
        write_many(frame, storage)
        assert counts(storage) == {"2013-01-01": 28, "2013-01-02": 48, "2013-01-03": 20}


def test_keys_become_known_by_the_rows(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    storage = dataset(tmp_path, PartitionAtRuntime("airport"))
    long = "an airport with a long name, of which statistics keep the first letters only"
    write_many(frame_of(rows(airports=("LAX", long))), storage)
    assert counts(storage) == {"LAX": 48, long: 48}


@pytest.mark.parametrize("shape", [{"bucket_by": ["v"], "buckets": 2}, {"sort_by": ["v"]}])
def test_the_table_says_how_its_files_are_made_up(
    frame_of: Callable[[pa.Table], Any], tmp_path: Path, shape: dict[str, Any]
) -> None:
    with pytest.raises(WriterError, match=rf"{next(iter(shape))}="):
        write_many(frame_of(rows()), dataset(tmp_path), **shape)


def test_of_two_that_write_one_key_one_changes_nothing(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    storage = dataset(tmp_path)
    commit = IcebergStore.commit

    def late(*arguments: Any) -> Any:
        patch.undo()  # all is staged
        write_many(rows(days=1), storage, mode="overwrite")
        return commit(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IcebergStore, "commit", late)
        with pytest.raises(ConflictError, match="nothing was changed"):
            write_many(frame_of(rows(days=3)), storage, mode="overwrite")
    assert list(counts(storage).values()) == [24, 24]
