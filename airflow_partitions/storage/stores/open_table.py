"""Opening the store of a table."""

from __future__ import annotations

from airflow_partitions.storage.iceberg.table.open import reference_to
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.stores.iceberg_store import IcebergStore
from airflow_partitions.storage.table_dataset import TableDataset


def store_of_table(dataset: TableDataset) -> IcebergStore:
    """The store of a *dataset* that is a table of Iceberg, as it is now or as it is pinned.

    :raises StorageError: if its catalog is a connection that can't be looked up.
    """
    return IcebergStore(
        reference_to(dataset),
        dataset.layout,
        dataset.columns,
        None if dataset.schema is None else dict(dataset.schema),
        create=dataset.create,
        pin=dataset.pin,
        read_only=dataset.ownership is Ownership.READ_ONLY,
    )
