"""Frames without Spark whose rows go to the partitions that their own values name."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import ForeignRowsError, ResultError, SchemaError, StoredError, WriterError
from airflow_partitions.storage import Column, Parquet, write_many
from airflow_partitions.storage.filesystem.filesystem import sizes

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")
ROWS = pa.table(
    {"delay": [1.0, 2.0, 3.0, 4.0], "date": ["2013-01-02", "2013-01-01"] * 2, "airport": ["EWR", "EWR", "EWR", "JFK"]}
)


@pytest.fixture(params=["arrow", "pandas", "polars"])
def frame_of(request: pytest.FixtureRequest) -> Callable[[pa.Table], Any]:
    """Makes frames of one kind."""
    frames: dict[str, Callable[[pa.Table], Any]] = {
        "arrow": lambda rows: rows,
        "pandas": lambda rows: rows.to_pandas(),
        "polars": lambda rows: pl.from_arrow(rows).lazy(),  # type: ignore[union-attr]
    }
    return frames[request.param]


@pytest.fixture(params=["folders", "log"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Parquet:
    log = None if request.param == "folders" else str(tmp_path / "log")
    return Parquet(str(tmp_path / "delays"), partition=PartitionByProduct([DAYS, AIRPORTS]), log=log)


def delays(files: Parquet) -> dict[str, list[float]]:
    return {str(each.key): files.read(each.key, as_="arrow")["delay"].to_pylist() for each in files.list()}


def test_rows_go_to_the_partition_that_they_name(frame_of: Callable[[pa.Table], Any], files: Parquet) -> None:
    published = write_many(frame_of(ROWS), files, user={"from": "all"})
    assert {key: (each.rows, each.files, each.user["from"]) for key, each in published.items()} == {
        "2013-01-01|EWR": (1, 1, "all"), "2013-01-01|JFK": (1, 1, "all"), "2013-01-02|EWR": (2, 1, "all")
    }  # fmt: skip
    assert delays(files) == {"2013-01-01|EWR": [2.0], "2013-01-01|JFK": [4.0], "2013-01-02|EWR": [1.0, 3.0]}
    with pytest.raises(StoredError):
        write_many(frame_of(ROWS), files)
    write_many(frame_of(ROWS.slice(0, 1)), files, mode="overwrite")
    write_many(frame_of(ROWS.slice(3)), files, mode="append")
    assert delays(files) == {"2013-01-01|EWR": [2.0], "2013-01-01|JFK": [4.0, 4.0], "2013-01-02|EWR": [1.0]}
    assert write_many(frame_of(ROWS.slice(4)), files) == {}


@pytest.mark.parametrize("airport", ["LGA", None, ""])
def test_rows_of_no_partition(frame_of: Callable[[pa.Table], Any], files: Parquet, airport: str | None) -> None:
    stray = ROWS.set_column(2, "airport", pa.array(["EWR", "EWR", airport, "JFK"]))
    with pytest.raises(ForeignRowsError, match=r"some rows belong to 'date=.*/airport=.*expected rows of its part"):
        write_many(frame_of(stray), files)
    assert delays(files) == {}
    assert not [name for name in sizes(Path(files.path).parent) if name.endswith(".parquet")]


def test_values_of_columns_with_types(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    columns = {"year": Column("%Y", "int"), "month": Column("%m", "int"), "day": Column("%d", "string")}
    files = Parquet(str(tmp_path / "days"), partition=DAYS, partition_on=columns)
    rows = pa.table({"n": [1, 2], "year": [2013, 2013], "month": [2, 3], "day": ["08", "01"]})
    assert list(write_many(frame_of(rows), files)) == ["2013-02-08", "2013-03-01"]
    assert sorted(path.name for path in (tmp_path / "days" / "year=2013").iterdir()) == ["month=02", "month=03"]
    dates = Parquet(str(tmp_path / "dates"), partition=DAYS, partition_on={"date": Column("%Y-%m-%d", "date")})
    assert list(write_many(frame_of(pa.table({"n": [1], "date": [date(2013, 2, 8)]})), dates)) == ["2013-02-08"]
    with pytest.raises(SchemaError, match="partition columns can't be read"):
        write_many(frame_of(pa.table({"n": [1], "year": ["x"], "month": [2], "day": ["08"]})), files)


def test_what_is_refused(frame_of: Callable[[pa.Table], Any], files: Parquet) -> None:
    with pytest.raises(ResultError, match=r"the frame has no column 'airport'; expected the partition columns"):
        write_many(frame_of(ROWS.drop_columns(["airport"])), files)
    with pytest.raises(WriterError, match="sort_by= and target_file_size= are for DataFrames of Spark"):
        write_many(frame_of(ROWS), files, sort_by=["delay"])
    with pytest.raises(ResultError, match="got dict; expected a frame of pandas, polars, Arrow or Spark"):
        write_many({"2013-01-01|EWR": frame_of(ROWS)}, files)
    assert delays(files) == {}


def test_keys_become_known_by_the_rows(frame_of: Callable[[pa.Table], Any], tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "delays"), partition=PartitionAtRuntime("airport"))
    write_many(frame_of(ROWS.drop_columns(["date"])), files)
    assert [str(partition.key) for partition in files.list()] == ["EWR", "JFK"]
