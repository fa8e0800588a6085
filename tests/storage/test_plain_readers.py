"""What readers that know nothing of us see below a dataset: its rows, each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pytest

from airflow_partitions import PartitionByProduct, PartitionBySequence
from airflow_partitions.storage import Commit, Consumer, Parquet, clean
from airflow_partitions.storage.stores.open import open_staging

AWKWARD = PartitionBySequence(["a", "New York", "ü,+", "a/b=%2F", "int:1"], name="city")
CITIES = PartitionByProduct([PartitionBySequence(["x", "y"], name="kind"), AWKWARD])
KEYS = [f"{kind}|{city}" for kind in "xy" for city in ("a", "New York", "ü,+", "a/b=%2F", "int:1")]

READERS: Mapping[str, Callable[[str], int]] = {
    "duckdb **": lambda path: _duckdb(f"{path}/**/*.parquet"),
    "duckdb */*": lambda path: _duckdb(f"{path}/*/*/*.parquet"),
    "polars folder": lambda path: pl.scan_parquet(path, hive_partitioning=True).collect().height,
    "polars **": lambda path: pl.read_parquet(f"{path}/**/*.parquet", hive_partitioning=True).height,
    "pandas": lambda path: len(pd.read_parquet(path)),
    "arrow": lambda path: int(ds.dataset(path, partitioning="hive").count_rows()),
}


def _duckdb(glob: str) -> int:
    row = duckdb.execute("SELECT count(*) FROM read_parquet(?, hive_partitioning=true)", [glob]).fetchone()
    assert row is not None
    return int(row[0])


def frame(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"n": range(rows)})


@pytest.fixture(scope="module")
def cities(tmp_path_factory: pytest.TempPathFactory) -> Parquet:
    """A dataset that was written in all ways, and is being written."""
    files = Parquet(str(tmp_path_factory.mktemp("lake") / "cities"), partition=CITIES)
    files.save({key: frame(7) for key in KEYS})
    files.save({key: frame(1) for key in KEYS[:4]}, mode="overwrite")
    files.save({KEYS[5]: frame(2)}, mode="append")
    with Commit(files) as commit:
        commit.drop(KEYS[6])
        commit.truncate(KEYS[7])
    files.freeze("a run")
    Consumer(files).take(limit=1).confirm()
    staging = open_staging(files, Commit.anyone(), files.layout.directory_of(files.layout.key(KEYS[8])))
    staging.data.mkdir(parents=True)
    frame(100).to_parquet(str(staging.data / "part-0.parquet"))
    return files


@pytest.mark.parametrize("reader", READERS)
def test_eu2_each_row_is_read_once(cities: Parquet, reader: str) -> None:
    rows = 4 * 1 + 9 + 3 * 7
    assert len(cities.read(as_="arrow")) == rows
    assert READERS[reader](cities.path) == rows


def test_eu2_nothing_but_data_lies_below_a_dataset(cities: Parquet) -> None:
    files = [path for path in Path(cities.path).rglob("*") if path.is_file() and path.stat().st_size]
    assert {path.suffix for path in files} == {".parquet"}
    assert {path.name for path in Path(cities.path).parent.iterdir()} == {"cities", "_cities"}


def test_partitions_say_what_they_are_wherever_their_folders_are_moved(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    files = Parquet(str(tmp_path / "lake" / "cities"), partition=CITIES)
    files.save({KEYS[0]: frame(3)})
    (tmp_path / "lake").rename(tmp_path / "pond")
    (partition,) = Parquet(str(tmp_path / "pond" / "cities"), partition=CITIES).list()
    assert partition.rows == 3


def test_records_of_what_is_no_more_are_cleaned_up(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "cities"), partition=CITIES)
    for rows in (1, 2, 3):
        files.save(dict.fromkeys(KEYS[:2], frame(rows)), mode="overwrite")
    records = tmp_path / "_cities" / "partitions"
    assert len([*records.rglob("*.json")]) == 6
    clean(files, now=datetime.now(UTC) + timedelta(hours=12))
    assert len([*records.rglob("*.json")]) == 6
    clean(files, now=datetime.now(UTC) + timedelta(hours=25))
    assert len([*records.rglob("*.json")]) == 2
    assert [partition.rows for partition in files.list()] == [3, 3]


@pytest.mark.parametrize("reader", ["duckdb **", "polars **"])
def test_eu2_where_a_log_names_the_files_no_others_are_read(tmp_path: Path, reader: str) -> None:
    foreign_folder = tmp_path / "cities" / "kind=x" / "city=a"
    foreign_folder.mkdir(parents=True)
    frame(3).to_parquet(foreign_folder / "their own.parquet")
    files = Parquet(str(tmp_path / "cities"), partition=CITIES, ownership="add-only")
    files.save({KEYS[1]: frame(5)})
    files.save({KEYS[0]: frame(2)}, mode="append")
    assert len(files.read(as_="arrow")) == 10
    assert READERS[reader](files.path) == 3
    paths = [path for partition in files.list() for path in partition.paths]
    assert pl.read_parquet(paths, hive_partitioning=True).height == 10


def test_bookkeeping_of_a_folder_with_two_names_is_the_same(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "big" / "cities"), partition=CITIES)
    (tmp_path / "big").mkdir()
    files.save({KEYS[0]: frame(3)})
    (tmp_path / "link").symlink_to(tmp_path / "big" / "cities")
    other = Parquet(str(tmp_path / "link"), partition=CITIES)
    other.save({KEYS[0]: frame(4)}, mode="overwrite")
    assert [partition.rows for partition in files.list()] == [partition.rows for partition in other.list()] == [4]
    assert {path.name for path in tmp_path.iterdir()} == {"big", "link"}
