"""Tags: names that keep a snapshot from expiring."""

from __future__ import annotations

from pyiceberg.table import Table
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.update import (
    AssertRefSnapshotId,
    AssertTableUUID,
    RemoveSnapshotRefUpdate,
    SetSnapshotRefUpdate,
)

from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange
from airflow_partitions.storage.iceberg.table.swap import compare_and_swap


def tag(reference: TableReference, name: str, number: int | None = None) -> int | None:
    """Keep the newest snapshot of the table, or the one that has the tag *name* already.

    :param number: keep this snapshot, not the newest.
    :return: number of the snapshot; ``None`` if the table has none yet.
    """
    kept: int | None = None

    def prepare(table: Table) -> TableChange | None:
        nonlocal kept
        refs = table.metadata.refs
        kept = refs[name].snapshot_id if name in refs else number or table.metadata.current_snapshot_id
        if kept is None or name in refs:
            return None
        return _change(
            table,
            name,
            SetSnapshotRefUpdate(
                ref_name=name,
                type=SnapshotRefType.TAG,
                snapshot_id=kept,
                max_ref_age_ms=None,
                max_snapshot_age_ms=None,
                min_snapshots_to_keep=None,
            ),
        )

    compare_and_swap(reference, prepare)
    return kept


def untag(reference: TableReference, name: str) -> None:
    """Let the snapshot with the tag *name* expire, if there is one."""

    def prepare(table: Table) -> TableChange | None:
        return None if name not in table.metadata.refs else _change(table, name, RemoveSnapshotRefUpdate(ref_name=name))

    compare_and_swap(reference, prepare)


def _change(table: Table, name: str, update: SetSnapshotRefUpdate | RemoveSnapshotRefUpdate) -> TableChange:
    ref = table.metadata.refs.get(name)
    number = None if ref is None else ref.snapshot_id
    requirements = (
        AssertTableUUID(uuid=table.metadata.table_uuid),
        AssertRefSnapshotId(ref=name, snapshot_id=number),
    )
    return TableChange(table, (update,), requirements, ())
