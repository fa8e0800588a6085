"""A table of Iceberg whose files are on S3: what is promised of it locally holds there, too."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from airflow.sdk import Asset
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import Partition
from airflow_partitions.checks import StagedPartition
from airflow_partitions.core.errors import ConflictError
from airflow_partitions.engine.runs import publication
from airflow_partitions.frames.result import Result
from airflow_partitions.frames.staged import stage
from airflow_partitions.storage import Iceberg
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.maintenance import expire_snapshots, orphans
from airflow_partitions.storage.iceberg.table.pin import pin
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.stores.open import open_staging
from airflow_partitions.storage.stores.store import Limits
from tests.conformance.conftest import BUCKET, Server
from tests.storage.iceberg.tables import DAYS, SCHEMA, Try, numbers, rows_of, save, store_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY, NEXT = "2013-01-01", "2013-01-02"


@pytest.fixture
def store(server: Server, tmp_path: Path) -> IcebergStore:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db?timeout=60",
        "warehouse": f"s3://{BUCKET}/{uuid.uuid4().hex}",
        "s3.endpoint": server.url,
        "s3.access-key-id": "test",
        "s3.secret-access-key": "test",
        "s3.region": "us-east-1",
    }
    return store_of(tmp_path, DAYS, table=TableReference("db.delays", "lake", properties))


def test_a21_it_publishes_refuses_and_is_kept_small(store: IcebergStore) -> None:
    save(store, {DAY: [1, 2], NEXT: []})
    late = Try.begin(store, "late").write(DAY, rows_of(DAYS, DAY, [3]))
    save(store, {DAY: [4]}, "again")
    with pytest.raises(ConflictError):
        late.publish()
    assert store.root.startswith(f"s3://{BUCKET}/")
    rows = {name: content.metadata and content.metadata.rows for name, content in store.snapshot().items()}
    assert (numbers(store), rows) == ([4], {f"date={DAY}": 1, f"date={NEXT}": 0})
    later = datetime.now(UTC) + timedelta(days=1)
    keys = KeyFilter.of(store.layout, store.columns, store.table.load().schema())
    assert len(expire_snapshots(store.table, keys, later)) == 1
    for path in [*orphans(store.table, later), *store.expired(Limits(later, later))]:
        remove(path)
    assert orphans(store.table, later) == store.expired(Limits(later, later)) == []
    assert {name: content.metadata and content.metadata.rows for name, content in store.snapshot().items()} == rows
    assert numbers(store) == [4]


@pytest.mark.spark
def test_a21_spark_reads_what_was_kept_and_writes_for_a_try(spark: SparkSession, store: IcebergStore) -> None:
    save(store, {DAY: [1, 2]})
    kept = f"{store.root}_kept"
    pin(store.table.load(), at(kept, store.table.credentials))
    save(store, {DAY: [3]}, "again")
    frame = spark.read.format("iceberg").load(kept)
    assert sorted(row.v for row in frame.collect()) == [1, 2]
    pinned = attrs.evolve(store, pin=kept).content(f"date={DAY}")
    assert pinned is not None
    assert pinned.metadata is not None
    assert pinned.metadata.rows == 2
    work = Try.begin(store, "by Spark")
    rows = spark.createDataFrame(rows_of(DAYS, NEXT, [5, 6]).to_pandas())
    rows.write.format("iceberg").mode("append").save(str(work.staging.data))
    shadow = Shadow.open(work.staging.data, store.table.properties)
    metadata = PartitionMetadata(NEXT, work.attempt, shadow.rows, len(shadow.names), shadow.bytes, "now")
    work.changes.append(Change(NEXT, f"date={NEXT}", "overwrite", metadata, work.staging.data, shadow.names))
    work.publish()
    assert numbers(store) == [3, 5, 6]


def test_a_task_looks_for_leftovers_of_a_table_on_s3_now_and_then(
    store: IcebergStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    properties, columns = store.table.properties, {"date": "ts"}
    storage = Iceberg(
        "db.delays", catalog="lake", credentials=properties, partition_on=columns, schema=SCHEMA, create=True
    ).of(DAYS)
    partition, cleaned = Partition(DAYS, DAY), list[str]()
    monkeypatch.setattr(publication, "clean", lambda dataset: cleaned.append(dataset.path))
    monkeypatch.setattr(publication, "CHECKPOINT_EVERY", 3)
    for number in range(1, 7):
        instance = SimpleNamespace(dag_id="delays", run_id="run", try_number=number)
        context: Any = {"ti": instance, "outlet_events": OutletEventAccessors()}
        staging = open_staging(storage, publication.attempt_of(context))
        written = stage(rows_of(DAYS, DAY, [number]), partition, storage, staging)
        result = Result(written=written, reads={}, seconds=0)
        staged = StagedPartition(partition, storage, written, staging.data)
        publication.finish(context, Asset("delays"), staged, staging, result)
    assert numbers(store) == [6]
    assert cleaned == ["db.delays"] * 2


def test_what_is_frozen_is_released_on_s3(store: IcebergStore) -> None:
    save(store, {DAY: [1]})
    whole = Iceberg("db.delays", catalog="lake", credentials=store.table.properties, partition_on={"date": "ts"})
    for storage in (whole, whole.of(DAYS)):
        frozen = storage.freeze("run", folder=f"s3://{BUCKET}/{uuid.uuid4().hex}")
        assert frozen.read(as_="arrow")["v"].to_pylist() == [1]
        assert len(store.table.load().metadata.refs) == 2
        frozen.release()
        assert len(store.table.load().metadata.refs) == 1
