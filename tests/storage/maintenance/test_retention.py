from __future__ import annotations

import threading
import time
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, SchemaError
from airflow_partitions.storage import Csv, Parquet
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filesystem.filesystem import at, sizes
from airflow_partitions.storage.maintenance.merge_files import groups
from airflow_partitions.storage.maintenance.retention import compact, drop_older
from airflow_partitions.storage.metadata.column_index import ColumnIndex, Index
from airflow_partitions.storage.metadata.staged_files import StagedFiles

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
FEB = datetime(2013, 2, 1, tzinfo=UTC)
AT_ONCE: dict[str, Any] = {"settled": timedelta(0), "now": datetime(2100, 1, 1, tzinfo=UTC)}


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(f"{tmp_path}/lake", partition=DAYS)


def put(
    files: Parquet,
    key: str,
    *tables: pa.Table,
    write: dict[str, Any] | None = None,
    index: Index = MappingProxyType({}),
    **more: Any,
) -> None:
    with Commit(files, evolve=True) as commit:
        for number, table in enumerate(tables):
            with (commit.stage(key) / f"part-{number}.parquet").open("wb") as out:
                parquet.write_table(table, out, **(write or {}))
        commit.put_files(key, StagedFiles(sum(table.num_rows for table in tables), {}, {}, index), **more)


def rows_of(files: Parquet, key: str) -> list[dict[str, Any]]:
    partition = files.get(key)
    assert partition is not None
    rows: list[dict[str, Any]] = []
    for path in partition.paths:
        with at(path).open("rb") as data:
            rows += parquet.ParquetFile(data).read().to_pylist()
    return rows


def numbered(*numbers: int) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64())})


def test_groups_fill_up_to_the_target_in_the_order_of_the_files() -> None:
    assert groups({"a": 40, "b": 40, "c": 40, "d": 30, "e": 60, "f": 10}, 100) == [("a", "b"), ("c", "d", "f")]
    assert groups({"a": 60, "b": 10}, 100) == []
    assert groups({}, 100) == []
    assert groups({"a": 0, "b": 0}, 100) == [("a", "b")]


def test_small_files_become_one_with_the_same_rows_in_the_same_order(files: Parquet) -> None:
    put(files, "2013-01-01", *(numbered(3 * n, 3 * n + 1, 3 * n + 2) for n in range(5)), user={"note": 1})
    put(files, "2013-01-02", numbered(1))
    (compacted,) = compact(files, **AT_ONCE)
    assert (compacted.key, compacted.files, compacted.into, compacted.done) == ("2013-01-01", 5, 1, True)
    assert [row["n"] for row in rows_of(files, "2013-01-01")] == list(range(15))
    partition = files.get("2013-01-01")
    assert partition is not None
    assert (len(partition.files), partition.rows, partition.metadata["user"]) == (1, 15, {"note": 1})
    assert compact(files, **AT_ONCE) == []


def test_a_dry_run_tells_the_same_and_changes_nothing(files: Parquet) -> None:
    put(files, "2013-01-01", numbered(1), numbered(2), numbered(3))
    before = sizes(Path(files.path))
    plan = compact(files, dry_run=True, **AT_ONCE)
    assert sizes(Path(files.path)) == before
    (compacted,) = compact(files, **AT_ONCE)
    assert [(plan[0].files, plan[0].into, plan[0].bytes, plan[0].done)] == [(3, 1, compacted.bytes, False)]


def test_large_files_stay_what_they_are(files: Parquet) -> None:
    big = numbered(*range(100_000))
    put(files, "2013-01-01", numbered(-1), big, numbered(-2), write={"compression": "none"})
    before = {path.name: path.stat().st_ino for path in Path(files.path).glob("date=*/part-1.parquet")}
    compact(files, target=1_000_000, **AT_ONCE)
    assert {path.name: path.stat().st_ino for path in Path(files.path).glob("date=*/part-1.parquet")} == before
    assert len(sizes(Path(files.path_of(DAYS.parse("2013-01-01"))))) == 3  # with the metadata
    assert sorted(row["n"] for row in rows_of(files, "2013-01-01"))[:3] == [-2, -1, 0]


def test_what_was_published_just_now_is_left_alone(files: Parquet) -> None:
    put(files, "2013-01-01", numbered(1), numbered(2))
    assert compact(files) == []
    assert compact(files, now=datetime.now(UTC) + timedelta(hours=25), dry_run=True)


def test_the_index_names_the_new_files(files: Parquet) -> None:
    files = attrs.evolve(files, schema={"n": "bigint"}, index=["n"])
    put(files, "2013-01-01", numbered(1, 2), numbered(2))
    compact(files, **AT_ONCE)
    partition = files.get("2013-01-01")
    assert partition is not None
    (name,) = partition.files
    assert partition.metadata["index"]["n"]["files"] == {"1": (name,), "2": (name,)}


def test_files_of_different_buckets_are_not_merged(files: Parquet) -> None:
    buckets = {"0": ("part-0.parquet", "part-2.parquet"), "1": ("part-1.parquet", "part-3.parquet")}
    put(files, "2013-01-01", *map(numbered, range(4)), index={"bucket(2, n)": ColumnIndex("int", buckets)})
    (compacted,) = compact(files, **AT_ONCE)
    assert (compacted.files, compacted.into) == (4, 2)
    partition = files.get("2013-01-01")
    assert partition is not None
    names = partition.metadata["index"]["bucket(2, n)"]["files"]
    numbers = {
        number: parquet.read_table(f"{partition.path}/{name}", partitioning=None)["n"].to_pylist()
        for number, (name,) in names.items()
    }
    assert numbers == {"0": [0, 2], "1": [1, 3]}
    with Commit(files) as commit:  # others know nothing of buckets
        parquet.write_table(numbered(4), str(commit.stage("2013-01-01") / "0.parquet"))
        commit.put("2013-01-01", mode="append")
    (compacted,) = compact(files, **AT_ONCE)
    assert (compacted.files, compacted.into) == (3, 1)


def test_schemas_are_joined_and_what_fits_nowhere_is_refused(files: Parquet) -> None:
    put(
        files,
        "2013-01-01",
        pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}),
        pa.table({"a": pa.array([2**40], pa.int64()), "c": [1.5]}),
    )
    compact(files, **AT_ONCE)
    assert rows_of(files, "2013-01-01") == [{"a": 1, "b": "x", "c": None}, {"a": 2**40, "b": None, "c": 1.5}]
    put(files, "2013-01-02", pa.table({"a": [1]}), pa.table({"a": ["x"]}))
    before = sizes(Path(files.path) / "date=2013-01-02")
    with pytest.raises(SchemaError, match="no schema in common"):
        compact(files, "2013-01-02", **AT_ONCE)
    assert sizes(Path(files.path) / "date=2013-01-02") == before


def test_types_codec_and_what_all_files_say_are_kept(files: Parquet) -> None:
    def table(day: int, note: str) -> pa.Table:
        rows = pa.table(
            {
                "d": [date(2013, 1, day)],
                "t": pa.array([datetime(2013, 1, day, tzinfo=UTC)], pa.timestamp("us", "UTC")),
                "s": [{"x": [1, None]}],
                "e": pa.array([None], pa.decimal128(10, 2)),
            }
        )
        return rows.replace_schema_metadata({"same": "yes", "other": note})

    put(files, "2013-01-01", table(1, "a"), table(2, "b"), write={"compression": "zstd"})
    before = rows_of(files, "2013-01-01")
    compact(files, **AT_ONCE)
    assert rows_of(files, "2013-01-01") == before
    (path,) = Path(files.path).glob("date=*/*.parquet")
    with path.open("rb") as data:
        file = parquet.ParquetFile(data)
        assert file.schema_arrow.remove_metadata() == table(1, "").schema.remove_metadata()
        assert file.schema_arrow.metadata == {b"same": b"yes"}
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"
        assert file.num_row_groups == 1


def test_timestamps_of_96_bits_stay_so(files: Parquet) -> None:
    days = [date(2013, 1, 1), date(2013, 1, 2)]
    tables = [pa.table({"t": pa.array([day], pa.date32()).cast(pa.timestamp("us"))}) for day in days]
    put(files, "2013-01-01", *tables, write={"use_deprecated_int96_timestamps": True})
    compact(files, **AT_ONCE)
    (path,) = Path(files.path).glob("date=*/*.parquet")
    with path.open("rb") as data:
        assert parquet.ParquetFile(data).schema.column(0).physical_type == "INT96"
    assert [row["t"].date() for row in rows_of(files, "2013-01-01")] == days


def test_empty_files_keep_the_schema(files: Parquet) -> None:
    put(files, "2013-01-01", numbered(), numbered())
    compact(files, **AT_ONCE)
    (path,) = Path(files.path).glob("date=*/*.parquet")
    with path.open("rb") as data:
        assert parquet.ParquetFile(data).schema_arrow.names == ["n"]
    assert rows_of(files, "2013-01-01") == []


def test_a_writer_that_was_quicker_wins(files: Parquet, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.storage.maintenance.merge_files import Merge

    put(files, "2013-01-01", numbered(1), numbered(2))
    merge = Merge.write

    def slow(self: Merge, folder: Any) -> dict[str, str]:
        names = merge(self, folder)
        put(files, "2013-01-01", numbered(7), mode="overwrite")
        return names

    monkeypatch.setattr(Merge, "write", slow)
    (compacted,) = compact(files, **AT_ONCE)
    assert not compacted.done
    assert rows_of(files, "2013-01-01") == [{"n": 7}]


def test_readers_never_see_a_mix(files: Parquet) -> None:
    expected = list(range(40))
    put(files, "2013-01-01", *(numbered(n) for n in expected))
    seen: list[list[int]] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            # Files that were replaced between listing and opening fail the read as a whole: it is made again.
            with suppress(OSError):
                seen.append(sorted(files.read("2013-01-01", as_="arrow")["n"].to_pylist()))

    reader = threading.Thread(target=read)
    reader.start()
    for target in (2000, 4000, 10**4, 10**5, 10**7):
        compact(files, target=target, **AT_ONCE)
    enough = len(seen) + 3
    while reader.is_alive() and len(seen) < enough:
        time.sleep(0.01)
    over.set()
    reader.join()
    assert len(seen) >= enough
    assert all(found == expected for found in seen)
    assert len(list(Path(files.path).glob("date=*/*.parquet"))) == 1


class TestDropOlder:
    def test_by_the_end_of_the_interval(self, files: Parquet) -> None:
        for day in range(1, 11):
            put(files, f"2013-01-{day:02}", numbered(day))
        limit = {"than": timedelta(days=25), "now": FEB}  # 2013-01-07
        before = sizes(Path(files.path))
        old = [f"2013-01-{day:02}" for day in range(1, 7)]
        assert drop_older(files, dry_run=True, **limit) == old
        assert sizes(Path(files.path)) == before
        assert drop_older(files, **limit) == old
        assert [str(partition.key) for partition in files.list()] == [f"2013-01-{day:02}" for day in range(7, 11)]
        assert drop_older(files, **limit) == []

    def test_the_newest_stay_however_old_they_are(self, files: Parquet) -> None:
        for day in (1, 2, 3):
            put(files, f"2013-01-{day:02}", numbered(day))
        century = {"than": timedelta(days=1), "now": datetime(2113, 1, 1, tzinfo=UTC)}
        assert drop_older(files, keep=2, **century) == ["2013-01-01"]
        assert drop_older(files, **century) == ["2013-01-02"]
        assert drop_older(files, keep=0, **century) == ["2013-01-03"]

    def test_all_segments_of_an_interval_together(self, tmp_path: Path) -> None:
        product = PartitionByProduct([PartitionBySequence(["A", "B"], name="x"), DAYS])
        files = Parquet(f"{tmp_path}/lake", partition=product)
        for key in ("A|2013-01-01", "B|2013-01-01", "B|2013-01-02"):
            put(files, key, numbered(1))
        assert drop_older(files, timedelta(days=1), now=FEB) == ["A|2013-01-01", "B|2013-01-01"]

    def test_it_needs_time(self, tmp_path: Path) -> None:
        files = Parquet(f"{tmp_path}/lake", partition=PartitionBySequence(["A"], name="x"))
        with pytest.raises(InvalidDefinitionError, match="has no time dimension"):
            drop_older(files, timedelta(days=1))
        with pytest.raises(InvalidDefinitionError, match="expected nothing below zero"):
            drop_older(Parquet(f"{tmp_path}/lake", partition=DAYS), timedelta(days=1), keep=-1)


@pytest.mark.parametrize("ownership", ["read-only", "add-only"])
def test_data_of_others_is_never_touched(files: Parquet, ownership: str) -> None:
    put(files, "2013-01-01", numbered(1), numbered(2))
    before = sizes(Path(files.path))
    theirs = Parquet(files.path, partition=DAYS, ownership=ownership)
    for maintain in (compact, lambda f, **more: drop_older(f, timedelta(days=1), **more)):
        for dry_run in (True, False):
            with pytest.raises(InvalidDefinitionError, match="belongs to someone else"):
                maintain(theirs, dry_run=dry_run)
    assert sizes(Path(files.path)) == before


def test_other_formats_are_not_compacted(tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitionError, match="holds csv; expected Parquet"):
        compact(Csv(f"{tmp_path}/lake", partition=DAYS))
