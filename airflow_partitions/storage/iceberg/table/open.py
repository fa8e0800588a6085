"""Opening the table of a dataset."""

from __future__ import annotations

from pyiceberg.table import Table

from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.connection import connected
from airflow_partitions.storage.iceberg.table.pin import pinned


def reference_to(dataset: Iceberg) -> TableReference:
    """The table of *dataset* in its catalog.

    :raises StorageError: if its catalog is a connection that can't be looked up.
    """
    if dataset.pin is not None or dataset.credentials:  # a pinned table is in no catalog
        return TableReference(dataset.path, dataset.catalog, dict(dataset.credentials))
    return TableReference(dataset.path, dataset.catalog, connected(dataset.catalog))


def open_table(dataset: Iceberg) -> Table:
    """The table of *dataset*: as it is now, or as it was when it was pinned.

    :raises MissingInputError: if there is none.
    :raises StorageError: if it can't be reached, or is no longer kept.
    """
    reference = reference_to(dataset)
    if dataset.pin is not None:
        return pinned(at(dataset.pin, reference.credentials), reference.properties)
    return reference.load()
