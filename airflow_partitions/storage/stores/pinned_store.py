"""Store of what a dataset held at one moment, kept for all tasks of a Dag run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.filesystem import at, read
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.stores.store import ReadOnlyStore

if TYPE_CHECKING:
    from airflow_partitions.storage.layout.layout import Layout
    from airflow_partitions.storage.stores.store import Accept, Store

#: Folder of the listings, in the bookkeeping of a dataset.
PINS = "listings"


@attrs.frozen
class PinnedStore(ReadOnlyStore):
    """The partitions of a dataset as a listing says.

    :ivar path: path of the listing.
    :ivar layout: the dataset's.
    :ivar live: the store of what it holds by now.
    """

    path: str
    layout: Layout
    live: Store
    credentials: dict[str, Any] = attrs.field(factory=dict, repr=False)

    @property
    def root(self) -> str | Path:  # type: ignore[override]
        """Where the dataset is."""
        return self.live.root

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> dict[str, PartitionFiles]:
        """As the listing says, in the places where it is now.

        :raises StorageError: if the listing was released, or is damaged; if the files of a partition are no longer what
            was listed.
        """
        data = read(at(self.path, self.credentials))
        if data is None:
            raise StorageError(f"listing {self.path!r} was released; expected freeze(…) to be called again")
        try:
            partitions = {directory: _content(form) for directory, form in json.loads(data)["partitions"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"listing {self.path!r} is damaged ({error!r}); release it to list anew") from error
        selected = partitions if directories is None else [each for each in directories if each in partitions]
        listed = {each: partitions[each] for each in selected if accept is None or self._accepts(each, accept)}
        if directories is None and not self.live.in_folders:  # to look at all of it takes time
            return listed
        kept = self.live.kept(listed)
        if gone := listed.keys() - kept.keys():
            raise StorageError(
                f"{len(gone)} partitions have changed since {self.path!r} was listed, such as {min(gone)!r}, and what"
                " they held is no longer kept; expected the Dag run to be cleared as a whole, or release()"
            )
        return kept

    def recorded_schema(self) -> Mapping[str, str]:
        return self.live.recorded_schema()

    def _accepts(self, directory: str, accept: Accept) -> bool:
        return all(accept(name, text) for name, text in self.layout.texts_of(directory).items())


def form_of(content: PartitionFiles) -> dict[str, Any]:
    """JSON form of *content* in a listing."""
    metadata = None if content.metadata is None else content.metadata.to_json()
    return {"base": content.base, "files": dict(content.files), "metadata": metadata}


def _content(form: dict[str, Any]) -> PartitionFiles:
    metadata = None if form["metadata"] is None else PartitionMetadata.from_json(form["metadata"])
    return PartitionFiles(form["base"], form["files"], metadata)
