"""Compacting, dropping and cleaning, on a local disk and on S3."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Parquet, compact, drop_older
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, sizes
from airflow_partitions.storage.maintenance.cleanup import clean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
FAR = datetime(2100, 1, 1, tzinfo=UTC)
AT_ONCE: dict[str, Any] = {"settled": timedelta(0), "now": FAR}


def put(files: Parquet, key: str, *groups: range, mode: str = "create", **more: Any) -> None:
    with Commit(files) as commit:
        for number, group in enumerate(groups):
            with (commit.stage(key) / f"part-{number}.parquet").open("wb") as out:
                parquet.write_table(pa.table({"n": pa.array(group, pa.int64())}), out, compression="none")
        commit.put(key, mode=mode, rows=sum(map(len, groups)), **more)


def rows(files: Parquet, key: str) -> list[int]:
    partition = files.get(key)
    assert partition is not None
    numbers: list[int] = []
    for path in partition.paths:
        with at(path).open("rb") as data:
            numbers += parquet.ParquetFile(data).read()["n"].to_pylist()
    return numbers


def test_small_files_are_merged_and_large_ones_stay(root: str) -> None:
    files = Parquet(root, partition=DAYS, schema={"n": "bigint"}, index=["n"])
    put(files, "2013-01-01", range(2), range(10, 100_000), range(2, 4), user={"note": "kept"})
    before = sizes(at(root))
    (plan,) = compact(files, target=1_000_000, dry_run=True, **AT_ONCE)
    assert sizes(at(root)) == before
    (compaction,) = compact(files, target=1_000_000, **AT_ONCE)
    assert (plan.files, plan.into, plan.done) == (3, 2, False)
    assert (compaction.files, compaction.into, compaction.done) == (3, 2, True)
    assert sorted(rows(files, "2013-01-01")) == [0, 1, 2, 3, *range(10, 100_000)]
    partition = files.get("2013-01-01")
    assert partition is not None
    assert (partition.rows, partition.metadata["user"]) == (99_994, {"note": "kept"})
    index = partition.metadata["index"]["n"]["files"]
    merged, kept = (index[value] for value in ("0", "10"))
    assert index["2"] == merged != kept
    assert {*merged, *kept} == set(partition.files)
    assert compact(files, target=1_000_000, **AT_ONCE) == []


def test_what_is_appended_meanwhile_is_not_lost(root: str) -> None:
    files = Parquet(root, partition=DAYS)
    put(files, "2013-01-01", range(1))

    def append() -> None:
        for number in range(1, 15):
            put(files, "2013-01-01", range(number, number + 1), mode="append")

    writer = threading.Thread(target=append)
    writer.start()
    while writer.is_alive():
        compact(files, **AT_ONCE)
    writer.join()
    assert sorted(rows(files, "2013-01-01")) == list(range(15))
    compact(files, **AT_ONCE)
    partition = files.get("2013-01-01")
    assert partition is not None
    assert (len(partition.files), partition.rows) == (1, 15)


def test_old_partitions_are_dropped_and_their_files_removed_later(root: str) -> None:
    files = Parquet(root, partition=DAYS)
    for day in range(1, 6):
        put(files, f"2013-01-0{day}", range(day))
    limit: dict[str, Any] = {"than": timedelta(days=28), "now": datetime(2013, 2, 1, tzinfo=UTC)}
    old = ["2013-01-01", "2013-01-02", "2013-01-03"]
    assert drop_older(files, dry_run=True, **limit) == old
    assert drop_older(files, **limit) == old
    assert [str(partition.key) for partition in files.list()] == ["2013-01-04", "2013-01-05"]
    assert clean(files) == []
    plan = clean(files, now=FAR, dry_run=True)
    assert plan
    assert clean(files, now=FAR) == plan
    names = [*sizes(at(root)), *sizes(bookkeeping(at(root)))]
    assert sum(name.endswith(".parquet") for name in names) == 2
    assert rows(files, "2013-01-05") == [0, 1, 2, 3, 4]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS"])
def test_spark_reads_the_same_from_files_of_spark_before_and_after(
    tmp_path: Path, spark: SparkSession, kind: str
) -> None:
    files = Parquet(f"{tmp_path}/lake", partition=DAYS)
    spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
    frame = spark.sql(
        "select id, cast(id as decimal(12, 3)) as d, timestamp_seconds(id * 1000000) as t, named_struct('a', id) as s,"
        " array(id, null) as l, map('k', id) as m, cast(id as string) as x, date_add(date'1400-01-01', int(id)) as old,"
        " cast(null as double) as n from range(0, 100, 1, 7)"
    )
    with Commit(files) as commit:
        stage = str(commit.stage("2013-01-01"))
        frame.write.mode("append").parquet(stage)
        for hidden in [*Path(stage).glob("_*"), *Path(stage).glob(".*")]:
            hidden.unlink()
        commit.put("2013-01-01", rows=100)

    def read() -> Any:
        partition = files.get("2013-01-01")
        assert partition is not None
        return spark.read.parquet(*partition.paths)

    before, schema = sorted(read().collect()), read().schema
    (compaction,) = compact(files, **AT_ONCE)
    assert (compaction.files, compaction.into, compaction.done) == (7, 1, True)
    assert read().schema == schema
    assert sorted(read().collect()) == before == sorted(frame.collect())
