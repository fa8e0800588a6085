"""The place where a trial writes, so that nothing of the real storage is touched."""

from __future__ import annotations

from pathlib import Path

import attrs

from airflow_partitions.core.partition import Partition
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.open import open_staging
from airflow_partitions.storage.stores.staging import Staging
from airflow_partitions.storage.table import Iceberg


def scratch_of(storage: Storage, partition: Partition, folder: Path, attempt: Attempt) -> tuple[Storage, Staging]:
    """*storage* as a trial writes *partition* of it, and where: below *folder*.

    A table is one of the same columns, in a catalog of its own.

    :raises InvalidDefinitionError: if there is neither such a table nor a schema to make it with.
    """
    if not isinstance(storage, Iceberg):
        return storage, open_staging(str(folder), attempt)
    catalog = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": str(folder / "warehouse")}
    table = attrs.evolve(with_schema(storage), credentials=catalog, create=True)
    staging = open_staging(table, attempt, table.layout.directory_of(partition.wrapped))
    # What may be written is said by the real one: without a schema columns may come and go.
    return attrs.evolve(table, schema=storage.schema, create=False), staging
