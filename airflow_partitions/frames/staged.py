"""The frame that a function returns, as files to publish."""

from __future__ import annotations

from typing import Any

from airflow_partitions.core.partition import Partition
from airflow_partitions.storage.io import WriteRequest
from airflow_partitions.storage.io.write_partition import write_partition
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.staging import Staging


def stage(frame: Any, partition: Partition, storage: Storage, staging: Staging) -> StagedFiles:
    """Write *frame*, or one for each table of *storage*, as the rows of *partition*, to where it is published from.

    :raises ForeignRowsError: if a row belongs to another partition.
    :raises ResultError: if it is no frame.
    :raises SchemaError: if *storage* declares other columns, or one can't be read as what is stored of it.
    :raises WriterError: if its format can't hold them.
    """
    # What its author changes is taken where no schema is declared, as of a Spark job.
    request = WriteRequest(dataset=with_schema(storage), folder=staging.data, evolve=storage.schema is None)
    return write_partition(frame, partition.wrapped, request)
