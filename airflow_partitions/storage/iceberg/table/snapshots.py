"""Snapshots of a table: what the summaries of ours say of partitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs
from pyiceberg.io import FileIO
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation, Snapshot

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.iceberg.table.records import read_records
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

#: What a snapshot says of the partition in a directory; the directory follows.
_PARTITION = "airflow.partition."
#: What a table says of a partition without rows, which no file tells of; the directory follows.
EMPTY = "airflow.empty."
_ATTEMPT = ("airflow.dag-id", "airflow.run-id", "airflow.try-number", "airflow.try-nonce")
_KEYS = "airflow.partition-keys"


@attrs.frozen
class Published:
    """What was published as a partition.

    :ivar sql: the rows that its key meant, so that a snapshot of another definition is told from one of ours.
    :ivar metadata: what it says about itself; ``None`` if it was dropped.
    """

    sql: str
    metadata: PartitionMetadata | None

    @property
    def text(self) -> str:
        """As it is kept in properties."""
        metadata = None if self.metadata is None else self.metadata.to_json()
        return json.dumps({"where": self.sql, "metadata": metadata}, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> Published:
        """The inverse of :attr:`text`.

        :raises StorageError: if it is damaged.
        """
        try:
            form = json.loads(text)
            metadata = form["metadata"]
            return cls(form["where"], None if metadata is None else PartitionMetadata.from_json(metadata))
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{text[:200]!r} is not what a partition of a table says about itself ({error!r})"
            ) from error


def summary_of(attempt: Attempt, partitions: Mapping[str, Published], keys: Iterable[str]) -> dict[str, str]:
    """What the snapshot of *attempt* will say.

    :param partitions: by directory.
    :param keys: texts of their keys.
    """
    values = (attempt.dag_id, attempt.run_id, str(attempt.number), attempt.nonce)
    return {
        **dict(zip(_ATTEMPT, values, strict=True)),
        _KEYS: json.dumps(list(keys), ensure_ascii=False),
        **{f"{_PARTITION}{directory}": published.text for directory, published in partitions.items()},
    }


@attrs.frozen
class Snapshots:
    """The snapshots on the main branch of a table.

    :ivar metadata: of the table.
    :ivar io: reaches its files.
    """

    metadata: TableMetadata
    io: FileIO

    @cached_property
    def _by_id(self) -> dict[int, Snapshot]:
        return {snapshot.snapshot_id: snapshot for snapshot in self.metadata.snapshots}

    @property
    def head(self) -> Snapshot | None:
        """The newest."""
        number = self.metadata.current_snapshot_id
        return None if number is None else self._by_id.get(number)

    def __iter__(self) -> Iterator[Snapshot]:
        """From the newest one to the oldest that is kept."""
        snapshot = self.head
        while snapshot is not None:
            yield snapshot
            parent = snapshot.parent_snapshot_id
            snapshot = None if parent is None else self._by_id.get(parent)

    def get(self, number: int | None) -> Snapshot | None:
        """The snapshot of this number, if it is kept."""
        return None if number is None else self._by_id.get(number)

    def since(self, base: int) -> list[Snapshot] | None:
        """Those after the one with the sequence number *base*, the newest first.

        :return: ``None`` if that can't be said: some have expired.
        """
        since: list[Snapshot] = []
        for snapshot in self:
            if (snapshot.sequence_number or 0) <= base:
                return since
            since.append(snapshot)
        # Expiry may leave no trace of what was before the last one.
        return since if not since or since[-1].sequence_number == base + 1 else None

    def published(self, directories: Iterable[str] | None = None) -> dict[str, Published]:
        """What was published last in each of *directories*, or in all, as far as snapshots or the table tell."""
        texts: dict[str, str] = {}
        names = None if directories is None else {f"{_PARTITION}{directory}" for directory in directories}
        for snapshot in self:
            properties = properties_of(snapshot)
            for name in properties.keys() & names if names is not None else properties:
                if name.startswith(_PARTITION):
                    texts.setdefault(name.removeprefix(_PARTITION), properties[name])
            if names is not None and len(texts) == len(names):
                break
        for name, text in self.metadata.properties.items():
            if name.startswith(EMPTY) and (names is None or f"{_PARTITION}{name.removeprefix(EMPTY)}" in names):
                texts.setdefault(name.removeprefix(EMPTY), text)
        if names is None or len(texts) < len(names):
            for directory, text in read_records(self.metadata, self.io).items():
                if names is None or f"{_PARTITION}{directory}" in names:
                    texts.setdefault(directory, text)
        return {directory: Published.read(text) for directory, text in texts.items()}

    def empty(self) -> dict[str, Published]:
        """The partitions that were published without rows, by directory."""
        properties = self.metadata.properties
        return {
            name.removeprefix(EMPTY): Published.read(text)
            for name, text in properties.items()
            if name.startswith(EMPTY)
        }


def properties_of(snapshot: Snapshot) -> Mapping[str, Any]:
    """What the summary of *snapshot* says."""
    return {} if snapshot.summary is None else snapshot.summary.additional_properties


def partitions_of(snapshot: Snapshot) -> dict[str, Published]:
    """What *snapshot* published, by directory; nothing, if it is none of ours."""
    return {
        name.removeprefix(_PARTITION): Published.read(text)
        for name, text in properties_of(snapshot).items()
        if name.startswith(_PARTITION)
    }


def is_of(snapshot: Snapshot, attempt: Attempt) -> bool:
    """Whether *attempt* made *snapshot*."""
    properties = properties_of(snapshot)
    values = [properties.get(name) for name in _ATTEMPT]
    return values == [attempt.dag_id, attempt.run_id, str(attempt.number), attempt.nonce]


def keeps_rows(snapshot: Snapshot) -> bool:
    """Whether *snapshot* holds the same rows as the one before it: compaction."""
    return snapshot.summary is not None and snapshot.summary.operation is Operation.REPLACE


def last_number(metadata: TableMetadata) -> int:
    """Sequence number of the last snapshot of a table; those of the first version of the format have none."""
    return 0 if metadata.format_version == 1 else metadata.last_sequence_number
