"""Kartothek: partitioned tables with a schema. Rows T1 and T3 to T8 of the list, and C6 of CDAP's, written by Spark."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as parquet
import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import ForeignRowsError, SchemaError, StoredError
from airflow_partitions.storage import Column, Files, compact, field, write_many
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filesystem.filesystem import at, sizes
from airflow_partitions.storage.scan.snapshot import inventory, snapshot
from tests.spark_rows import spark_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

EVENTS = PartitionByProduct(
    [
        PartitionByInterval("@daily", start="2013-01-01", name="date"),
        PartitionBySequence(["test", "train", "a b/c%:"], name="kind"),
    ]
)


def events(root: str, **options: Any) -> Files:
    return Files(
        root,
        partition=EVENTS,
        partition_on={"date": Column("%Y-%m-%d", "date"), "kind": "{kind}"},
        **options,
    )


def frame(spark: SparkSession, parts: int = 4, days: tuple[int, ...] = (2, 3), offset: int = 0) -> DataFrame:
    rows = [
        (date(2013, 1, day), kind, n + offset, f"payload {n}")
        for n in range(20)
        for day in days
        for kind in ("test", "train")
    ]
    return spark_rows(spark, rows, "date date, kind string, b int, c string").repartition(parts)


def ids(files: Files, where: Any = None) -> list[int]:
    return sorted(files.read(where, "arrow").column("b").to_pylist())


def files_per_key(files: Files) -> dict[str, int]:
    return {str(partition.key): len(partition.files) for partition in inventory(files)}


def test_t1_rows_go_to_the_folders_their_values_name(spark: SparkSession, root: str) -> None:
    files = events(root, index=["b"])
    rows = spark_rows(
        spark, [(date(2013, 1, 2), "a b/c%:", 1), (date(2013, 1, 3), "test", 2)], "date date, kind string, b int"
    )
    published = write_many(rows, files)
    assert list(published) == ["2013-01-02|a b/c%:", "2013-01-03|test"]
    first, second = inventory(files)
    assert first.metadata["index"] == {"b": {"kind": "int", "files": {"1": tuple(first.files)}}}
    assert first.directory == "date=2013-01-02/kind=a b%2Fc%25%3A"
    assert (first.rows, second.rows) == (1, 1)
    assert first.metadata["schema"] == {"b": "int"}
    assert files.read(as_="arrow").sort_by("b").to_pylist() == [
        {"b": 1, "date": date(2013, 1, 2), "kind": "a b/c%:"},
        {"b": 2, "date": date(2013, 1, 3), "kind": "test"},
    ]
    assert sorted(row["b"] for row in files.read(spark=spark).collect()) == [1, 2]


def test_t1_the_order_of_columns_is_that_of_the_folders(spark: SparkSession, root: str) -> None:
    files = Files(root, partition=EVENTS, partition_on={"kind": "{kind}", "date": Column("%Y-%m-%d", "date")})
    write_many(frame(spark, days=(2,)), files)
    assert [p.directory for p in inventory(files)] == ["kind=test/date=2013-01-02", "kind=train/date=2013-01-02"]


def test_t1_numbers_keep_the_digits_of_their_format(spark: SparkSession, root: str) -> None:
    days = PartitionByInterval("@daily", start="2013-01-01", name="date")
    columns = {"year": Column("%Y", "int"), "month": Column("%m", "int"), "day": Column("%d", "int")}
    files = Files(root, partition=days, partition_on=columns)
    write_many(spark_rows(spark, [(2013, 2, 8, 1)], "year int, month int, day int, b int"), files)
    (partition,) = inventory(files)
    assert partition.directory == "year=2013/month=02/day=08"
    assert files.read(as_="arrow").to_pylist() == [{"b": 1, "year": 2013, "month": 2, "day": 8}]


def test_t3_the_schema_is_checked_on_every_append(spark: SparkSession, root: str) -> None:
    files = events(root)
    write_many(frame(spark, days=(2,)), files)
    before = snapshot(files)
    with pytest.raises(SchemaError, match="'b' is string, not int; 'd' is new"):
        write_many(frame(spark).selectExpr("date", "kind", "string(b) b", "c", "1 d"), files, mode="append")
    assert {d: p.paths for d, p in snapshot(files).items()} == {d: p.paths for d, p in before.items()}
    write_many(frame(spark, days=(4,)).selectExpr("date", "kind", "bigint(b) b", "c", "1 d"), files, evolve=True)
    with pytest.raises(SchemaError, match="'d' is missing"):
        write_many(frame(spark, days=(5,)).selectExpr("date", "kind", "bigint(b) b", "c"), files)


def test_t4_without_shuffle_there_are_files_of_every_part_with_it_one(spark: SparkSession, root: str) -> None:
    files = events(root)
    write_many(frame(spark, parts=4, days=(2,)), files, shuffle=False)
    assert files_per_key(files) == {"2013-01-02|test": 4, "2013-01-02|train": 4}
    write_many(frame(spark, parts=4, days=(3,)), files)
    assert files_per_key(files)["2013-01-03|test"] == 1
    assert files_per_key(files)["2013-01-03|train"] == 1
    assert Counter(ids(files)) == dict.fromkeys(range(20), 4)


def test_t5_buckets(spark: SparkSession, root: str) -> None:
    files = events(root, index=["b"])
    write_many(frame(spark, days=(2, 3)), files, bucket_by=["b"], buckets=4, sort_by=["b"])
    assert set(files_per_key(files).values()) == {4}
    for partition in inventory(files):
        index = partition.metadata["index"]["b"]["files"]
        assert len(index) == 20
        assert all(len(names) == 1 for names in index.values())
        assert {name for names in index.values() for name in names} == set(partition.files)
    for path in next(inventory(files)).paths:
        from pyarrow import parquet

        with at(path).open("rb") as source:
            numbers = parquet.read_table(source).column("b").to_pylist()
        assert numbers == sorted(numbers)


def test_target_file_size(spark: SparkSession, root: str) -> None:
    files = events(root)
    rows = spark.range(40_000).selectExpr("date'2013-01-02' date", "'test' kind", "int(id) b", "uuid() c")
    write_many(rows, files, target_file_size=400_000)
    (partition,) = inventory(files)
    assert len(partition.files) > 2
    assert max(partition.files.values()) < 800_000
    assert partition.rows == 40_000


def test_t5_buckets_stay_when_files_are_merged(spark: SparkSession, root: str) -> None:
    files = events(root, index=["b"])
    for offset in (0, 20):
        rows = frame(spark, days=(2,), offset=offset)
        write_many(rows, files, mode="append", bucket_by=["b"], buckets=4)
    before = {key: _bucket_of(files, key) for key in files_per_key(files)}
    assert set(files_per_key(files).values()) == {8}
    compact(files, settled=timedelta(0), now=datetime(2100, 1, 1, tzinfo=UTC))
    assert set(files_per_key(files).values()) == {4}
    assert {key: _bucket_of(files, key) for key in files_per_key(files)} == before
    assert ids(files) == sorted([*range(40)] * 2)
    assert ids(files, field("b") == 33) == [33, 33]


def _bucket_of(files: Files, key: str) -> dict[int, str]:
    """The bucket of each value of b, by what the files of the bucket hold."""
    partition = files.get(key)
    assert partition is not None
    buckets = partition.metadata["index"]["bucket(4, b)"]["files"]
    bucket_of = {}
    for path in partition.paths:
        (bucket,) = (number for number, names in buckets.items() if any(path.endswith(name) for name in names))
        with at(path).open("rb") as data:
            bucket_of |= dict.fromkeys(parquet.ParquetFile(data).read()["b"].to_pylist(), bucket)
    return bucket_of


def test_t6_an_index_tells_the_files_of_a_value(spark: SparkSession, root: str) -> None:
    files = events(root, index=["b", "c"])
    write_many(frame(spark, days=(2,)), files, bucket_by=["b"], buckets=4)
    write_many(frame(spark, days=(2,), offset=100), files, mode="append", shuffle=False)
    stored = files.get("2013-01-02|test")
    assert stored is not None
    index = stored.metadata["index"]
    assert set(index["b"]["files"]) == {str(n + offset) for n in range(20) for offset in (0, 100)}
    for value, names in index["b"]["files"].items():
        for name in stored.files:
            from pyarrow import parquet

            with at(f"{stored.content.base}/{name}").open("rb") as source:
                here = int(value) in parquet.read_table(source, columns=["b"]).column("b").to_pylist()
            assert here == (name in names)


def test_t6_an_append_by_who_declares_no_index_ends_it_and_is_built_anew(spark: SparkSession, root: str) -> None:
    files = events(root, index=["b"])
    write_many(frame(spark, days=(2, 3)), files)
    write_many(frame(spark, days=(2,), offset=100), events(root), mode="append")
    assert [list(stored.metadata["index"]) for stored in inventory(files)] == [[], [], ["b"], ["b"]]
    for where, count in ((field("b") == 7, 4), (field("b") == 107, 2)):
        assert files.read(where, spark=spark).count() == files.read(where, "arrow").num_rows == count
    assert {(one.key[:10], one.columns, one.done) for one in files.build_index()} == {("2013-01-02", ("b",), True)}
    assert files.build_index() == []
    assert files.read(field("b") == 107, spark=spark).count() == 2
    assert all(list(stored.metadata["index"]) == ["b"] for stored in inventory(files))


def test_t7_a_subset_is_replaced_and_dropped(spark: SparkSession, root: str) -> None:
    files = events(root)
    write_many(frame(spark), files)
    write_many(frame(spark, days=(3,), offset=100), files, mode="overwrite")
    assert ids(files, field("date") == "2013-01-02") == sorted(list(range(20)) * 2)
    assert ids(files, field("date") == "2013-01-03") == sorted(list(range(100, 120)) * 2)
    with Commit(files) as commit:
        for partition in files.list(field("date") == "2013-01-02"):
            commit.drop(partition.key)
    assert list(files_per_key(files)) == ["2013-01-03|test", "2013-01-03|train"]


def test_c6_all_partitions_of_a_frame_are_made_or_none(spark: SparkSession, root: str) -> None:

    from pyspark.sql import functions as f

    files = events(root)
    write_many(frame(spark, days=(5,)), files)
    with pytest.raises(StoredError, match="2013-01-05"):
        write_many(frame(spark, days=tuple(range(2, 9))), files)
    assert list(files_per_key(files)) == ["2013-01-05|test", "2013-01-05|train"]
    strange = frame(spark, days=(9,)).withColumn("kind", f.lit("other"))
    with pytest.raises(ForeignRowsError, match="kind=other"):
        write_many(frame(spark, days=(9,)).union(strange), files)
    assert list(files_per_key(files)) == ["2013-01-05|test", "2013-01-05|train"]
    assert not [name for name in sizes(at(root)) if "2013-01-09" in name]
    write_many(frame(spark, days=tuple(range(2, 9))), files, mode="append")
    assert len(files_per_key(files)) == 14


def test_t8_spark_reads_partitions_of_several_commits_as_one(spark: SparkSession, root: str) -> None:
    files = events(root)
    for day in (2, 3, 4):
        write_many(frame(spark, days=(day,), offset=day * 100), files)
    write_many(frame(spark, days=(3,), offset=900), files, mode="append")
    rows = files.read(field("date").between("2013-01-03", "2013-01-05"), spark=spark)
    assert rows.count() == 120
    assert {row["b"] // 100 for row in rows.select("b").collect()} == {3, 4, 9}
    assert rows.where("date = '2013-01-04'").count() == 40


def test_t6_filters_read_only_the_files_of_the_value(spark: SparkSession, root: str) -> None:
    files = events(root, index=["b"])
    write_many(frame(spark, days=(2,)), files, bucket_by=["b"], buckets=4)
    for where, count in (
        (field("b") == 7, 1),
        (field("b").isin([7, 8]), 2),
        ((field("b") == 7) | (field("b") == 3), 2),
        ((field("b") == 7) & (field("b") == 3), 0),
    ):
        chosen = (field("date") == "2013-01-02") & where
        rows = files.read(chosen, spark=spark)
        assert rows.count() == 2 * count
        assert len(rows.inputFiles()) <= 2 * max(count, 1)
        assert files.read(chosen, "arrow").num_rows == 2 * count
    assert len(files.read((field("date") == "2013-01-02") & (field("b") == 7), spark=spark).inputFiles()) == 2
