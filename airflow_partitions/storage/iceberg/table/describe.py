"""What partitions say about themselves, changed without their files."""

from __future__ import annotations

from collections.abc import Mapping

from pyiceberg.table import Table

from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.contents import Contents
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.live_files import LiveFiles, manifests_of
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange, new_snapshot
from airflow_partitions.storage.iceberg.table.snapshots import Published, summary_of
from airflow_partitions.storage.iceberg.table.swap import compare_and_swap
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata


def describe(
    reference: TableReference,
    layout: Layout,
    columns: Mapping[str, str],
    directory: str,
    content: PartitionFiles,
    metadata: PartitionMetadata,
) -> bool:
    """Let the partition in *directory* say *metadata* about itself, if it still holds *content*; whether it does."""
    done = False

    def prepare(table: Table) -> TableChange | None:
        nonlocal done
        keys = KeyFilter.of(layout, columns, table.schema())
        stored = Contents(table, keys).read([directory]).get(directory)
        if stored is None or stored.sizes != content.sizes or stored.metadata not in (content.metadata, metadata):
            return None
        done = True
        if stored.metadata == metadata:
            return None
        published = Published(keys.sql(layout.key_of(directory)), metadata)
        return new_snapshot(
            table,
            LiveFiles(manifests_of(table.metadata.current_snapshot(), table.io), {}, ()),
            added=(),
            removed=(),
            properties=summary_of(metadata.attempt, {directory: published}, [metadata.key]),
        )

    compare_and_swap(reference, prepare)
    return done
