"""Reading partitions without Spark: which, and into what frame."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions import PartitionBySequence, Selection
from airflow_partitions.core.errors import (
    FilterError,
    InvalidDefinitionError,
    InvalidKeyError,
    LayoutError,
    MissingInputError,
)
from airflow_partitions.storage import Parquet, field
from tests.storage.io.lake import AIRPORT_DAYS, DAYS, FRAMES, WEEK, add, rows


@pytest.mark.parametrize("kind", FRAMES)
def test_one_frame_of_many_partitions(delays: Parquet, kind: str) -> None:
    frame = delays.read(WEEK, kind)
    assert type(frame) is FRAMES[kind]
    assert list(frame.columns if kind != "arrow" else frame.column_names) == ["carrier", "delay", "date", "airport"]
    assert [row["delay"] for row in rows(frame) if row["carrier"] == "AA"] == [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]
    assert {row["date"] for row in rows(frame)} == {dt.date(2013, 1, day) for day in range(2, 9)}
    assert {row["airport"] for row in rows(frame)} == {"JFK"}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_may_be_asked_for_by_its_type(delays: Parquet, kind: str) -> None:
    assert type(delays.read("2013-01-02|JFK", FRAMES[kind])) is FRAMES[kind]


def test_conditions_on_rows_and_columns_go_to_the_reader(delays: Parquet) -> None:
    frame = delays.read(WEEK & (field("delay") > 10), "arrow", columns=["airport", "delay"])
    assert frame.to_pydict() == {"airport": ["JFK"] * 3, "delay": [11.0, 13.0, 15.0]}
    mixed = (field("delay") > 18) | ((field("airport") == "EWR") & (field("delay") < 0))
    assert delays.read(mixed & (field("date") >= "2013-01-10"), "arrow")["delay"].to_pylist() == [-1.0, 19.0]


def test_reading_everything_is_asked_for(delays: Parquet) -> None:
    with pytest.raises(FilterError, match=r"no part of the filter delay > 3 excludes a partition .*full_scan=True"):
        delays.read(field("delay") > 3, "arrow")
    assert delays.read(field("delay") > 17, "arrow", full_scan=True)["delay"].to_pylist() == [18.0, 19.0]
    assert len(delays.read(as_="arrow")) == 40


def test_keys_and_selections(delays: Parquet) -> None:
    one, other = AIRPORT_DAYS.parse("2013-01-02|JFK"), AIRPORT_DAYS.parse("2013-01-03|EWR")
    for where in (one, str(one), dict(one), [one], iter([one]), Selection.of(AIRPORT_DAYS, one)):
        assert delays.read(where, "arrow")["delay"].to_pylist() == [3.0, -1.0]
    assert len(delays.read([one, other], "arrow")) == 4
    assert len(delays.read(delays.get_many(WEEK), "arrow")) == 14
    with pytest.raises(MissingInputError, match=r"1 of 2 partitions are not stored .*'2013-02-01\|JFK'"):
        delays.read([one, "2013-02-01|JFK"], "arrow")
    with pytest.raises(InvalidKeyError, match="'XXX' is not one of"):
        delays.read("2013-01-02|XXX", "arrow")
    with pytest.raises(InvalidDefinitionError, match="a selection of"):
        delays.read(Selection.of(DAYS, "2013-01-02"), "arrow")


def test_c2_get_one_and_many(delays: Parquet) -> None:
    partition = delays.get("2013-01-02|JFK")
    assert partition is not None
    assert str(partition.key) == "2013-01-02|JFK"
    assert list(partition.files) == ["0.parquet"]
    assert partition.bytes == sum(partition.files.values()) > 0
    assert partition.paths == (f"{delays.path}/date=2013-01-02/airport=JFK/0.parquet",)
    assert delays.get("2013-02-01|JFK") is None
    assert delays.exists("2013-01-02|JFK")
    assert not delays.exists("2013-02-01|JFK")
    assert [str(key) for key in delays.get_many(WEEK)] == [f"2013-01-0{day}|JFK" for day in range(2, 9)]
    assert delays.get_many(["2013-01-02|JFK", "2013-02-01|JFK"]).keys() == {partition.key}
    with pytest.raises(FilterError, match="is about rows"):
        list(delays.list(WEEK & (field("delay") > 3.0)))


def test_a_folder_that_is_no_partition_is_an_error(delays: Parquet) -> None:
    stray = Path(delays.path, "date=2012-12-31", "airport=JFK")
    stray.mkdir(parents=True)
    (stray / "0.parquet").write_bytes(Path(delays.get("2013-01-02|JFK").paths[0]).read_bytes())  # type: ignore[union-attr]
    with pytest.raises(LayoutError, match="'date=2012-12-31/airport=JFK' is not the directory of a partition"):
        delays.read(as_="arrow")
    assert len(delays.read(field("date") >= "2013-01-01", "arrow")) == 40


def test_values_of_folders_come_back_as_they_are(tmp_path: Path) -> None:
    texts = ["01", "1e3", "a b+c=d/e%2F", "x'{[]}\\", "é|✓", "NA"]
    files = Parquet(str(tmp_path), partition=PartitionBySequence(texts, name="code"), schema={"n": "bigint"})
    for text in texts:
        add(files, text, {"n": [1]})
    assert sorted(files.read(as_="arrow")["code"].to_pylist()) == sorted(texts)
    assert sorted(files.load(as_="arrow")) == sorted(texts)
    assert files.read(field("code") == "a b+c=d/e%2F", "arrow")["code"].to_pylist() == ["a b+c=d/e%2F"]


def test_storage_without_partitions(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "a.parquet")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "b.parquet").write_bytes(b"half")
    assert Parquet(str(tmp_path)).read(as_="arrow").to_pydict() == {"n": [1]}
    with pytest.raises(InvalidDefinitionError, match="has no partitions"):
        list(Parquet(str(tmp_path)).list())


def test_memory_is_for_readers_in_this_process() -> None:
    import fsspec

    files = Parquet("memory://lake/delays", partition=DAYS, schema={"n": "bigint"}, ownership="read-only")
    with fsspec.open(f"{files.path_of(DAYS.parse('2013-01-01'))}/0.parquet", "wb") as file:
        pq.write_table(pa.table({"n": [1]}), file)
    assert files.read(field("date") == "2013-01-01", "pandas")["n"].to_list() == [1]
    assert {key: len(load()) for key, load in files.load(as_="polars").items()} == {"2013-01-01": 1}
