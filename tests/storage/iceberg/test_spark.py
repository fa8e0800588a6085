"""Spark writes into the table of a try, reads what was kept, and does what others do to a table."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pytest
from pyiceberg.table.update.spec import UpdateSpec
from pyiceberg.transforms import BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform

from airflow_partitions import PartitionAtRuntime
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import ConflictError, ForeignRowsError, LayoutError
from airflow_partitions.storage import Iceberg
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.pin import pin
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.iceberg.table.static_metadata import version_of
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from tests.spark_rows import spark_rows
from tests.storage.iceberg.tables import (
    DAYS,
    FLIGHTS,
    HOURS,
    MONTHS,
    NEW_YORK,
    SCHEMA,
    Try,
    numbers,
    rows_of,
    save,
    store_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

DAY, NEXT = "2013-01-01", "2013-01-02"
SPECS: dict[str, Callable[[UpdateSpec], Any]] = {
    "days": lambda spec: spec.add_field("ts", DayTransform()),
    "hours": lambda spec: spec.add_field("ts", HourTransform()),
    "months": lambda spec: spec.add_field("ts", MonthTransform()),
    "bucket": lambda spec: spec.add_field("v", BucketTransform(4)).add_field("ts", DayTransform()),
    "identity": lambda spec: spec.add_field("airport", IdentityTransform()),
    "none": lambda spec: None,
}


def table_with(folder: Path, definition: PartitionDefinition, spec: str) -> IcebergStore:
    """A store over a table that is partitioned by *spec*."""
    store = store_of(folder, definition, create=False)
    catalog = store.table.open()
    catalog.create_namespace("db")
    table = catalog.create_table(
        "db.delays",
        pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("airport", pa.string()), ("v", pa.int64())]),
        properties={"write.delete.mode": "merge-on-read"},
    )
    with table.update_spec() as update:
        SPECS[spec](update)
    return store


def write(frame: DataFrame, folder: object, **options: str) -> None:
    """What a driver does: it needs no catalog."""
    frame.write.format("iceberg").mode("append").options(**options).save(str(folder))


def publish(spark: SparkSession, store: IcebergStore, partitions: dict[str, Sequence[int]], run: str = "run") -> None:
    """Publish a partition for each key, as the job and the task do it together."""
    work = Try.begin(store, run)
    for key, own in partitions.items():
        directory = store.layout.directory_of(store.layout.definition.parse(key))
        folder = work.staging.data / directory
        shadow = Shadow.open(folder)
        write(spark.createDataFrame(rows_of(store.layout.definition, key, own)), folder)
        files = dict(store.staged(folder))
        metadata = PartitionMetadata(key, work.attempt, shadow.rows, len(files), shadow.bytes, "now", schema=SCHEMA)
        work.changes.append(Change(key, directory, "overwrite", metadata, folder, files))
    work.publish()


class Lake:
    """A copy of a table in a folder, which Spark changes without a catalog of ours, and which then takes its place."""

    def __init__(self, spark: SparkSession, store: IcebergStore, warehouse: Path) -> None:
        self.spark, self.store, self.folder = spark, store, warehouse / "db/copy"
        pin(store.table.load(), self.folder)
        catalog = f"copies_{secrets.token_hex(4)}"
        self.name = f"{catalog}.db.copy"
        spark.conf.set(f"spark.sql.catalog.{catalog}", "org.apache.iceberg.spark.SparkCatalog")
        spark.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
        spark.conf.set(f"spark.sql.catalog.{catalog}.warehouse", str(warehouse))

    def compact(self) -> None:
        jvm: Any = self.spark.sparkContext._jvm
        tables = jvm.org.apache.iceberg.hadoop.HadoopTables(self.spark.sparkContext._jsc.hadoopConfiguration())
        actions = jvm.org.apache.iceberg.spark.actions.SparkActions.get()
        actions.rewriteDataFiles(tables.load(str(self.folder))).option("rewrite-all", "true").execute()

    def take_over(self) -> None:
        """Make the copy the table."""
        catalog = self.store.table.open()
        catalog.drop_table("db.delays")
        metadata = self.folder / f"metadata/v{version_of(self.folder)}.metadata.json"
        catalog.register_table("db.delays", str(metadata))


def files_of(frame: DataFrame) -> list[str]:
    """The data files that a query is going to read."""
    plan: Any = frame._jdf.queryExecution().sparkPlan()
    parts = plan.collectLeaves().head().inputPartitions()
    tasks = (parts.apply(i).taskGroup().tasks() for i in range(parts.size()))
    return [str(task.file().location()) for own in tasks for task in own.toArray()]


def read(spark: SparkSession, folder: Path) -> list[int]:
    return sorted(row.v for row in spark.read.format("iceberg").load(str(folder)).collect())


@pytest.mark.parametrize(
    ("spec", "definition"), [("days", NEW_YORK), *((spec, FLIGHTS) for spec in SPECS if spec != "days")]
)
def test_what_spark_wrote_is_published_whatever_the_spec(
    spark: SparkSession, tmp_path: Path, spec: str, definition: PartitionDefinition
) -> None:
    store = table_with(tmp_path, definition, spec)
    suffix = "|EWR" if definition is FLIGHTS else ""
    publish(spark, store, {f"{DAY}{suffix}": range(24), f"{NEXT}{suffix}": range(100, 124)})
    publish(spark, store, {f"{DAY}{suffix}": [7, 8]}, "again")
    assert numbers(store, f"{DAY}{suffix}") == [7, 8]
    assert numbers(store, f"{NEXT}{suffix}") == [*range(100, 124)]
    publish(spark, store, {f"{NEXT}{suffix}": []}, "empty")
    assert numbers(store) == [7, 8]
    rows = [content.metadata and content.metadata.rows for content in store.snapshot().values()]
    assert rows == [2, 0]
    pin(store.table.load(), tmp_path / "pin")
    assert read(spark, tmp_path / "pin") == [7, 8]


@pytest.mark.parametrize(("definition", "key"), [(HOURS, "2013-11-03T01:00-05:00"), (MONTHS, "2013-02-01")])
def test_keys_of_other_lengths_are_published(
    spark: SparkSession, tmp_path: Path, definition: PartitionDefinition, key: str
) -> None:
    store = store_of(tmp_path, definition)
    publish(spark, store, {key: [1, 2, 3]})
    publish(spark, store, {key: [4, 5]}, "again")
    assert numbers(store, key) == numbers(store) == [4, 5]


def test_stray_rows_of_spark_are_refused_from_statistics(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, NEW_YORK, "days")
    work = Try.begin(store)
    write(spark.createDataFrame(rows_of(DAYS, DAY, range(24))), work.staging.data)  # the day of UTC
    shadow = Shadow.open(work.staging.data)
    metadata = PartitionMetadata(DAY, work.attempt, shadow.rows, 1, shadow.bytes, "now")
    work.changes.append(Change(DAY, f"date={DAY}", "overwrite", metadata, work.staging.data, shadow.names))
    with pytest.raises(ForeignRowsError, match=r"ts from 2013-01-01 00:00:00\+00:00 to 2013-01-01 23:00:00\+00:00"):
        work.publish()


def test_long_segments_are_whole_in_what_spark_says_of_its_files(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, PartitionAtRuntime("airport"), "none")
    work = Try.begin(store)
    name = "an airport with a long name, of which statistics keep the first letters only"
    frame = spark_rows(spark, [(name, 1), (name, 2)], "airport string, v bigint")
    write(frame, work.staging.data)
    shadow = Shadow.open(work.staging.data)
    key = store.layout.definition.parse(name)
    directory = store.layout.directory_of(key)
    metadata = PartitionMetadata(name, work.attempt, 2, len(shadow.names), shadow.bytes, "now")
    work.changes.append(Change(name, directory, "overwrite", metadata, work.staging.data, shadow.names))
    work.publish()
    assert list(store.snapshot()) == [directory]
    assert store.table.load().scan().to_arrow()["ts"].null_count == 2  # a column that is missing is null


def test_columns_that_spark_adds_come_with_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, NEW_YORK, "days")
    publish(spark, store, {DAY: [1]})
    work = Try.begin(store, "wide")
    frame = spark.createDataFrame(rows_of(NEW_YORK, NEXT, [2])).selectExpr("*", "'new' AS note", "1.5D AS weight")
    write(frame, work.staging.data, mergeSchema="true")
    shadow = Shadow.open(work.staging.data)
    schema = {**SCHEMA, "note": "string", "weight": "double"}
    metadata = PartitionMetadata(NEXT, work.attempt, 1, 1, shadow.bytes, "now", schema=schema)
    work.changes.append(Change(NEXT, f"date={NEXT}", "overwrite", metadata, work.staging.data, shadow.names))
    work.publish(SchemaRule(evolve=True))
    assert store.recorded_schema() == schema
    assert store.table.load().scan().to_arrow().sort_by("v")["weight"].to_pylist() == [None, 1.5]


def test_what_was_kept_is_read_by_its_path_and_pruned(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, NEW_YORK, "days")
    days = [str(key) for key in NEW_YORK.keys("2013-01-01", "2013-01-09")]
    save(store, {key: [number] for number, key in enumerate(days)})
    pin(store.table.load(), tmp_path / "pin")
    save(store, {days[3]: [100]}, "later")
    keys = KeyFilter.of(store.layout, store.columns, store.table.load().schema())
    frame = spark.read.format("iceberg").load(str(tmp_path / "pin")).where(keys.sql(NEW_YORK.parse(days[3])))
    assert [row.v for row in frame.collect()] == [3]
    files = files_of(frame)
    pinned = attrs.evolve(store, pin=str(tmp_path / "pin"))
    content = pinned.content(f"date={days[3]}")
    assert content is not None
    assert [path.removeprefix("file:") for path in files] == list(content.sizes)


def test_rows_that_others_deleted_are_gone_with_their_file(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, NEW_YORK, "days")
    publish(spark, store, {DAY: range(10), NEXT: range(10, 20)})
    lake = Lake(spark, store, tmp_path / "copy")
    work = Try.begin(store, "meanwhile").write(DAY, rows_of(NEW_YORK, DAY, [100]))
    spark.sql(f"DELETE FROM {lake.name} WHERE v IN (3, 13)")
    lake.take_over()
    said = {name: content.metadata for name, content in store.snapshot().items()}
    assert said == {f"date={DAY}": None, f"date={NEXT}": None}
    with pytest.raises(ConflictError, match="by others"):
        work.publish()
    publish(spark, store, {DAY: [100]}, "again")
    assert numbers(store) == [*range(10, 13), *range(14, 20), 100]
    pin(store.table.load(), tmp_path / "pin")
    assert read(spark, tmp_path / "pin") == numbers(store)


def test_rows_that_others_deleted_by_their_position_are_read_by_nobody(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, NEW_YORK, "days")
    publish(spark, store, {DAY: range(10), NEXT: range(10, 20)})
    lake = Lake(spark, store, tmp_path / "copy")
    spark.sql(f"DELETE FROM {lake.name} WHERE v IN (3, 13)")
    lake.take_over()
    properties = store.table.properties
    delays = Iceberg(
        "db.delays", catalog="lake", credentials=properties, partition=NEW_YORK, partition_on={"date": "ts"}
    )
    for where in (DAY, [DAY, NEXT]):
        rows = [row.v for row in delays.read(where, spark=spark).collect()]
        assert sorted(rows) == delays.read(where, as_="polars")["v"].sort().to_list()
        assert 3 not in rows
        assert len(rows) == (9 if where == DAY else 18)


def test_compaction_is_no_conflict_and_no_change(spark: SparkSession, tmp_path: Path) -> None:
    store = table_with(tmp_path, DAYS, "days")
    publish(spark, store, {DAY: range(10), NEXT: range(10, 20)})
    Try.begin(store, "more").write(DAY, rows_of(DAYS, DAY, [20]), "append").publish()
    work = Try.begin(store, "meanwhile").write(NEXT, rows_of(DAYS, NEXT, [100]))
    lake = Lake(spark, store, tmp_path / "copy")
    lake.compact()
    lake.take_over()
    content = store.content(f"date={DAY}")
    assert content is not None
    assert content.metadata is not None
    assert (len(content.files), content.metadata.files, content.metadata.rows) == (1, 1, 11)
    work.publish()
    assert numbers(store) == [*range(10), 20, 100]
    publish(spark, store, {DAY: [0]}, "after")
    assert numbers(store) == [0, 100]


def test_files_that_compaction_merged_from_two_keys_are_refused_until_they_are_rewritten(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = table_with(tmp_path, NEW_YORK, "days")
    publish(spark, store, {DAY: range(24), NEXT: range(24, 48)})
    lake = Lake(spark, store, tmp_path / "copy")
    lake.compact()
    lake.take_over()
    work = Try.begin(store, "late").write(DAY, rows_of(NEW_YORK, DAY, [100]))
    with pytest.raises(LayoutError, match="DELETE FROM") as refused:
        work.publish()
    assert numbers(store) == [*range(48)]
    _, alter, _, delete, _ = str(refused.value).split("`")
    lake = Lake(spark, store, tmp_path / "another")
    for sql in (alter, delete):
        spark.sql(sql.replace("db.delays", lake.name))
    lake.take_over()
    save(store, {DAY: [100]}, "again")
    assert numbers(store) == [*range(24, 48), 100]
