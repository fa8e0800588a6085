"""Live files of a snapshot, by the manifests that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import attrs
from pyiceberg.expressions import AlwaysTrue, BooleanExpression
from pyiceberg.expressions.visitors import inclusive_projection, manifest_evaluator
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, ManifestContent, ManifestEntry, ManifestFile
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot

from airflow_partitions.storage.iceberg.table.damage import damage_told

_READERS = 4


@attrs.frozen
class LiveFiles:
    """What the manifests of a snapshot name, as far as it was looked at.

    :ivar manifests: all manifests of the snapshot.
    :ivar data: manifest to its entries, of those of data files that were looked into.
    :ivar deletes: entries of files that delete rows of others.
    """

    manifests: Sequence[ManifestFile]
    data: Mapping[ManifestFile, Sequence[ManifestEntry]]
    deletes: Sequence[ManifestEntry]

    @property
    def entries(self) -> Iterator[ManifestEntry]:
        """The entries of data files."""
        return (entry for entries in self.data.values() for entry in entries)

    def deleting(self, entry: ManifestEntry) -> int:
        """Sequence number of the newest file that may delete rows of the data file of *entry*; 0 if there is none."""
        numbers = (
            delete.sequence_number or 0
            for delete in self.deletes
            if (delete.sequence_number or 0) >= (entry.sequence_number or 0)
            and may_be_of(delete.data_file, entry.data_file)
        )
        return max(numbers, default=0)


def live_files(
    metadata: TableMetadata, io: FileIO, snapshot: Snapshot | None, where: BooleanExpression | None = None
) -> LiveFiles:
    """The live files of *snapshot*.

    :param where: leave manifests out in which no file can have such rows, as their partition values tell.
    """
    live = manifests_of(snapshot, io)
    accepts = {} if where is None or isinstance(where, AlwaysTrue) else _evaluators(metadata, where)
    relevant = [each for each in live if not accepts or accepts[each.partition_spec_id](each)]
    if len(relevant) > 1:
        with ThreadPoolExecutor(_READERS) as pool:
            read = list(pool.map(partial(entries_of, io=io), relevant))
    else:
        read = [entries_of(manifest, io) for manifest in relevant]
    entries = list(zip(relevant, read, strict=True))
    data = {manifest: entries for manifest, entries in entries if manifest.content is ManifestContent.DATA}
    deletes = [each for manifest, own in entries if manifest.content is not ManifestContent.DATA for each in own]
    return LiveFiles(live, data, deletes)


def manifests_of(snapshot: Snapshot | None, io: FileIO) -> list[ManifestFile]:
    """The manifests of *snapshot* that name files which are there."""
    manifests = all_manifests_of(snapshot, io)
    return [manifest for manifest in manifests if manifest.has_added_files() or manifest.has_existing_files()]


def all_manifests_of(snapshot: Snapshot | None, io: FileIO) -> list[ManifestFile]:
    """The manifests of *snapshot*; also those that name nothing that is there.

    :raises DamagedError: naming the list of them, if it is damaged.
    """
    if snapshot is None:
        return []
    with damage_told(snapshot.manifest_list):
        return snapshot.manifests(io)


def entries_of(manifest: ManifestFile, io: FileIO, *, discard_deleted: bool = True) -> list[ManifestEntry]:
    """The entries of *manifest*.

    :raises DamagedError: naming it, if it is damaged.
    """
    with damage_told(manifest.manifest_path):
        return manifest.fetch_manifest_entry(io, discard_deleted=discard_deleted)


def _evaluators(metadata: TableMetadata, where: BooleanExpression) -> dict[int, Callable[[ManifestFile], bool]]:
    schema, specs = metadata.schema(), metadata.specs()
    return {
        number: manifest_evaluator(spec, schema, inclusive_projection(schema, spec)(where), case_sensitive=True)
        for number, spec in specs.items()
    }


#: The column of paths in files that delete rows by their position.
_PATH = 2147483546


def may_be_of(delete: DataFile, file: DataFile) -> bool:
    """Whether *delete* may delete rows of *file*."""
    low, high = (delete.lower_bounds or {}).get(_PATH), (delete.upper_bounds or {}).get(_PATH)
    path = file.file_path.encode()
    if low is not None and high is not None and not (low <= path[: len(low)] and path[: len(high)] <= high):
        return False
    return not len(delete.partition) or (delete.spec_id, delete.partition) == (file.spec_id, file.partition)
