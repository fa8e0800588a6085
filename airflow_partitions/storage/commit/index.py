"""The index that a dataset declares, for what is about to be published."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import SchemaError
from airflow_partitions.storage.column_type import check_index
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.value_index import index_of
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.store import Store

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

_log = logging.getLogger(__name__)


def indexed(dataset: Dataset, store: Store, directory: str, folder: Location, staged: StagedFiles) -> StagedFiles:
    """What was *staged* in *folder* for the partition in *directory*, with the index that *dataset* declares.

    Columns that the writer has looked at are not read again. Where nobody says what types columns have there is none,
    nor where the files don't fit the schema.

    :raises InvalidDefinitionError: if an indexed column is neither in the files nor in the schema of the dataset, or of
        a type that can't be compared.
    :raises StorageError: if the files can't be read.
    """
    missing = [column for column in dataset.index if column not in staged.index]
    if not missing or not staged.files:
        return staged
    columns = store.recorded_schema() if dataset.schema is None else dict(dataset.schema)
    schema = {**columns, **staged.schema}
    if not schema:
        return staged
    check_index(missing, schema, dataset.path)
    content = PartitionFiles(str(folder), staged.files)
    partition = StoredPartition(directory, dataset.path, dataset.layout, store, content)
    try:
        index = index_of(dataset, partition, missing, schema)
    except SchemaError as error:  # it is not read either, until the schema says what there is
        _log.warning("no index of %s: %s", directory, error)
        return staged
    return attrs.evolve(staged, index={**staged.index, **index})
