"""One schema for all files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions.core.errors import MissingInputError, SchemaError
from airflow_partitions.storage import Parquet, field
from airflow_partitions.storage.commit.commit import Commit
from tests.storage.io.lake import DAYS, add


def test_widening_and_missing_columns(tmp_path: Path) -> None:
    wide = {"n": "bigint", "x": "double", "at": "timestamp_ntz", "d": "decimal(10,2)", "new": "array<string>"}
    files = Parquet(str(tmp_path), partition=DAYS, schema=wide)
    add(files, "2013-01-01", {"n": pa.array([1], pa.int32()), "x": pa.array([1.5], pa.float32()), "old": [1]})
    add(files, "2013-01-02", {"at": pa.array([dt.date(2013, 1, 2)]), "x": pa.array([2], pa.int16())})
    add(files, "2013-01-03", {"n": [3], "d": pa.array([1], pa.decimal128(4, 1)), "new": [["a"]]})
    frame = files.read(as_="arrow")
    assert frame.column_names == ["n", "x", "at", "d", "new", "date"]
    assert frame.drop(["date"]).to_pydict() == {
        "n": [1, None, 3],
        "x": [1.5, 2.0, None],
        "at": [None, dt.datetime(2013, 1, 2), None],  # noqa: DTZ001
        "d": [None, None, 1],
        "new": [None, None, ["a"]],
    }


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"n": ["1"]}, "column 'n' is string, but is declared as int32"),
        ({"n": pa.array([1], pa.int64())}, "column 'n' is int64"),
        ({"n": [1.0]}, "column 'n' is double"),
        ({"N": pa.array([1], pa.int32())}, "column 'N' is written 'n'"),
    ],
)
def test_a_file_that_does_not_fit_is_named_before_anything_is_read(tmp_path: Path, column: Any, words: str) -> None:
    files = Parquet(str(tmp_path), partition=DAYS, schema={"n": "int"})
    add(files, "2013-01-01", {"n": pa.array([1], pa.int32())})
    path = add(files, "2013-01-02", column)
    with pytest.raises(SchemaError, match=words) as error:
        files.read(as_="arrow")
    assert str(path) in str(error.value)


def test_without_a_schema_it_is_that_of_the_first_file(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path), partition=DAYS)
    add(files, "2013-01-01", {"n": [1], "date": ["in the file too"]})
    add(files, "2013-01-02", {"n": pa.array([2], pa.int32()), "m": [1]})
    assert files.read(as_="arrow").to_pylist() == [{"n": 1, "date": "2013-01-01"}, {"n": 2, "date": "2013-01-02"}]
    add(files, "2013-01-03", {"n": ["x"]})
    with pytest.raises(SchemaError, match="in the first file, int64"):
        files.read(as_="arrow")
    with pytest.raises(MissingInputError, match="so there is no schema"):
        files.read([], "arrow")
    assert attrs.evolve(files, schema={"n": "bigint"}).read([], "arrow").to_pydict() == {"n": [], "date": []}


def test_what_was_published_here_tells_its_schema(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "lake"), partition=DAYS, schema={"n": "bigint"})
    with Commit(files) as commit:
        pq.write_table(pa.table({"n": [1]}), commit.stage("2013-01-01") / "0.parquet")
        commit.put("2013-01-01", schema={"n": "bigint"})
    add(files, "2013-01-02", {"n": pa.array([2], pa.int32())})
    assert sorted(files.read(as_="arrow")["n"].to_pylist()) == [1, 2]
    narrow = attrs.evolve(files, schema={"n": "int"})
    assert narrow.read("2013-01-02", "arrow")["n"].to_pylist() == [2]
    with pytest.raises(SchemaError, match="date=2013-01-01: column 'n' is int64, but is declared as int32"):
        narrow.read(as_="arrow")


NOON, FAR = dt.datetime(2013, 2, 8, 12, tzinfo=dt.UTC), dt.datetime(9999, 1, 1, tzinfo=dt.UTC)
INSTANT = pa.timestamp("us", "UTC")
#: Instants on their own and in all that is nested, behind columns that have several in the file.
INSTANTS = pa.table(
    {
        "s": pa.array([{"a": 1, "t": NOON}, None], pa.struct([("a", pa.int64()), ("t", INSTANT)])),
        "l": pa.array([[NOON, FAR], []], pa.list_(INSTANT)),
        "m": pa.array([[("x", FAR)], None], pa.map_(pa.string(), INSTANT)),
        "t": pa.array([NOON, FAR], INSTANT),
        "n": [1, 2],
    }
)


@pytest.mark.parametrize("store_schema", [False, True], ids=["as Spark", "as Arrow"])
@pytest.mark.parametrize("declared", [False, True])
def test_et2_times_of_96_bits_are_instants_to_every_reader(tmp_path: Path, store_schema: bool, declared: bool) -> None:
    schema = {"s": "struct<a:bigint,t:timestamp>", "l": "array<timestamp>", "m": "map<string,timestamp>"}
    schema |= {"t": "timestamp", "n": "bigint"}
    files = Parquet(str(tmp_path), partition=DAYS, schema=schema if declared else None, ownership="read-only")
    place = tmp_path / "date=2013-01-01"
    place.mkdir()
    options: Any = {"use_deprecated_int96_timestamps": True, "store_schema": store_schema}
    pq.write_table(INSTANTS, place / "0.parquet", **options)
    frame = files.read("2013-01-01", "arrow").drop_columns(["date"])
    assert (frame.schema.types, frame.to_pylist()) == (INSTANTS.schema.types, INSTANTS.to_pylist())
    assert files.read("2013-01-01", "polars")["t"].to_list() == [NOON, FAR]
    assert files.read("2013-01-01", "polars.LazyFrame").collect()["t"].to_list() == [NOON, FAR]
    assert [at.to_pydatetime() for at in files.read("2013-01-01", "pandas")["t"]] == [NOON, FAR]
    later = (field("date") == "2013-01-01") & (field("t") > NOON.isoformat())
    assert files.read(later, "arrow")["n"].to_pylist() == [2]
