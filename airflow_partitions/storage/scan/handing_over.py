"""Handing a dataset over to a process that reaches no catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from airflow_partitions.core.errors import MissingInputError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.table_dataset import TableDataset

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

_Dataset = TypeVar("_Dataset", bound=Dataset)


def handed_over(dataset: _Dataset, folder: Location) -> _Dataset:
    """*dataset* as it can be read without a catalog: a table as it is now, whose metadata is kept in *folder*.

    :raises MissingInputError: if there is no such table.
    :raises StorageError: if it can't be reached or kept.
    """
    if not isinstance(dataset, TableDataset) or dataset.pin is not None:
        return dataset
    from airflow_partitions.storage.iceberg.table.open import open_table
    from airflow_partitions.storage.iceberg.table.pin import pin

    pin(open_table(dataset), folder)
    return dataset.pinned(str(folder))


def check_there(dataset: Dataset) -> None:
    """Make sure that there is a *dataset* without partitions, which is read as a whole.

    :raises MissingInputError: if there is not.
    """
    if isinstance(dataset, TableDataset):
        from airflow_partitions.storage.iceberg.table.open import open_table

        open_table(dataset)
    elif not at(dataset.path, dict(dataset.credentials)).exists():
        raise MissingInputError(f"there is no {dataset.path!r}; expected it to be made first")
