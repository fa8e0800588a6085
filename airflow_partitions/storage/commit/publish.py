"""Putting a partition's new files in the place of its old ones."""

from __future__ import annotations

from datetime import datetime

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.commit.index import indexed
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.stores.staging import Staging


def publish(storage: Dataset, key: Key, attempt: Attempt, staging: Staging, written: StagedFiles) -> PartitionMetadata:
    """Make the staged files the content of the partition *key*.

    Readers see the old files or the new ones, never none and never a mix (see :func:`.exchange.replace` for file
    systems that can't exchange). The replaced files stay for a while: see :func:`.cleanup.clean`. On a local disk, a
    query that has listed a partition's files but not yet opened them fails when they are replaced, it never mixes; our
    driver then reads again.

    :raises ResultError: if the staged files are not those that were *written*.
    :raises InvalidDefinitionError: if *storage* declares an index of a column that isn't there.
    :raises SchemaError: if they can't be read together with the dataset's other partitions.
    :raises ConflictError: if a newer try of the same run has published, or another run since this try began; nothing
        was changed.
    """
    store, directory = open_writable(storage), storage.layout.directory_of(key)
    written.check(store.staged(staging.data, storage.members or ("",)), staging.data)
    written = indexed(storage, store, directory, staging.data, written)
    metadata = metadata_of(str(key), attempt, written)
    change = Change(str(key), directory, "overwrite", metadata, staging.data, written.files)
    # What its author changes is taken, as far as all partitions can be read together.
    rule = SchemaRule(None if storage.schema is None else dict(storage.schema), evolve=True)
    (published,) = store.commit([change], attempt, staging.base, rule)
    assert published is not None  # noqa: S101 - nothing is dropped
    return published


def metadata_of(key: str, attempt: Attempt, written: StagedFiles) -> PartitionMetadata:
    """What a partition of these files will say about itself, but for the number of the commit."""
    return PartitionMetadata(
        key,
        attempt,
        written.rows,
        len(written.files),
        written.bytes,
        datetime.now(UTC).isoformat(timespec="seconds"),
        schema=written.schema,
        index=written.index,
    )
