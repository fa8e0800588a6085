"""Tables of a SQL catalog, with stores over them, and frames to fill them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
from pyiceberg.table import Table

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.keys import Interval, Key
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.stores.staging import Staging

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
NEW_YORK = PartitionByInterval("@daily", start="2013-01-01", timezone="America/New_York", name="date")
HOURS = PartitionByInterval("@hourly", start="2013-01-01", timezone="America/New_York", name="date")
MONTHS = PartitionByInterval("@monthly", start="2013-01-01", name="date")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
FLIGHTS = PartitionByProduct([NEW_YORK, AIRPORTS])
SCHEMA = {"ts": "timestamp", "airport": "string", "v": "bigint"}
COLUMNS = {"date": "ts", "airport": "airport"}


def reference(folder: Path, name: str = "db.delays") -> TableReference:
    """A table of the SQL catalog in *folder*."""
    uri, warehouse = f"sqlite:///{folder}/catalog.db?timeout=60", str(folder / "warehouse")
    return TableReference(name, "lake", {"type": "sql", "uri": uri, "warehouse": warehouse})


def store_of(folder: Path, definition: PartitionDefinition = NEW_YORK, **changes: Any) -> IcebergStore:
    """The store of a table that is made on first use."""
    columns = {name: COLUMNS[name] for name in definition.dimensions}
    store = IcebergStore(reference(folder), Layout(definition), columns, SCHEMA, create=True)
    return attrs.evolve(store, **changes)


def table_of(store: IcebergStore) -> Table:
    """Its table, as it is now."""
    return store.table.load()


def rows_of(definition: PartitionDefinition, key: Key | str, numbers: Sequence[int], **more: Any) -> pa.Table:
    """A row for each of *numbers*, spread over the interval of *key*."""
    wrapped = definition.parse(key) if isinstance(key, str) else key
    parts = definition.dimensions_of(wrapped)
    interval = next(part for part in parts.values() if isinstance(part, Interval))
    low, high = interval.time_range
    step = (high - low) // (len(numbers) or 1)
    moments = [datetime.fromtimestamp(0, UTC) + timedelta(microseconds=low + i * step) for i in range(len(numbers))]
    airport = str(parts.get("airport", "EWR"))
    columns = {
        "ts": pa.array(moments, pa.timestamp("us", tz="UTC")),
        "airport": pa.array([airport] * len(numbers), pa.string()),
        "v": pa.array(numbers, pa.int64()),
    }
    return pa.table({**columns, **more})


@attrs.define
class Try:
    """One try of a run that writes one partition, or several."""

    store: IcebergStore
    attempt: Attempt
    staging: Staging
    changes: list[Change] = attrs.field(factory=list)

    @classmethod
    def begin(cls, store: IcebergStore, run: str = "run", number: int = 1) -> Try:
        attempt = Attempt("dag", run, number)
        return cls(store, attempt, store.staging(attempt))

    def write(
        self,
        key: str,
        rows: pa.Table | None,
        mode: str = "overwrite",
        schema: Mapping[str, str] = SCHEMA,
        *,
        evolve: bool = False,
    ) -> Try:
        """Write *rows* of *key*; ``None`` drops it."""
        wrapped = self.store.layout.definition.parse(key)
        directory = self.store.layout.directory_of(wrapped)
        folder = self.staging.data / directory
        metadata, files = None, {}
        if rows is not None:
            shadow = Shadow.open(folder, self.store.table.properties)
            shadow.append(rows, evolve=evolve)
            files = dict(self.store.staged(folder))
            metadata = PartitionMetadata(
                key, self.attempt, shadow.rows, len(files), shadow.bytes, "2026-01-01T00:00:00", schema=schema
            )
        self.changes.append(Change(key, directory, mode, metadata, folder, files))
        return self

    def publish(self, rule: SchemaRule | None = None) -> list[PartitionMetadata | None]:
        published = self.store.commit(self.changes, self.attempt, self.staging.base, rule)
        self.staging.remove()
        return published


def save(store: IcebergStore, partitions: Mapping[str, Sequence[int]], run: str = "run", number: int = 1) -> None:
    """Publish a partition of so many rows for each key."""
    work = Try.begin(store, run, number)
    for key, numbers in partitions.items():
        work.write(key, rows_of(store.layout.definition, key, numbers))
    work.publish()


def numbers(store: IcebergStore, key: str | None = None) -> list[int]:
    """Column ``v`` of a partition, or of the whole table."""
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

    table = store.table.load()
    if key is None:
        return sorted(table.scan().to_arrow()["v"].to_pylist())
    keys = KeyFilter.of(store.layout, store.columns, table.schema())
    where = keys.condition(store.layout.definition.parse(key))
    return sorted(table.scan(row_filter=where).to_arrow()["v"].to_pylist())


def history(table: Table) -> list[str]:
    """Operations of all snapshots, in order."""
    return [snapshot.summary.operation.value for snapshot in table.snapshots() if snapshot.summary is not None]
