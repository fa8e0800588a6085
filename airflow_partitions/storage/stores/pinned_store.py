"""What a dataset held at one moment, kept for all tasks of a Dag run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import StorageError
from airflow_partitions.storage.filesystem.filesystem import ages, at, read
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.log_store import LogStore

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.layout.layout import Layout
    from airflow_partitions.storage.stores.file_store import FileStore
    from airflow_partitions.storage.stores.listed_store import ListedStore
    from airflow_partitions.storage.stores.store import Accept

#: Folder of the listings, below the root of a dataset.
PINS = "_listings"


@attrs.frozen
class PinnedStore:
    """The partitions of a dataset as a listing says.

    :ivar path: path of the listing.
    :ivar layout: the dataset's.
    :ivar live: who knows what it holds by now.
    """

    path: str
    layout: Layout
    live: DirectoryStore | LogStore | ListedStore | FileStore
    credentials: dict[str, Any] = attrs.field(factory=dict, repr=False)

    def listed(self, accept: Accept | None = None) -> list[str]:
        """Directories of the partitions, sorted."""
        return list(self.snapshot(accept=accept))

    def content(self, directory: str) -> PartitionFiles | None:
        """What is in *directory*, ``None`` if nothing is."""
        return self.snapshot([directory]).get(directory)

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> dict[str, PartitionFiles]:
        """What is in *directories*, or in all that *accept* wants.

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
        wanted = partitions if directories is None else [each for each in directories if each in partitions]
        listed = {each: partitions[each] for each in wanted if accept is None or self._accepts(each, accept)}
        if directories is None and not isinstance(self.live, DirectoryStore):  # to look at all of it takes time
            return listed
        there = self._there(listed)
        if gone := listed.keys() - there.keys():
            raise StorageError(
                f"{len(gone)} partitions have changed since {self.path!r} was listed, such as {min(gone)!r}, and what"
                " they held is no longer kept; expected the Dag run to be cleared as a whole, or release()"
            )
        return there

    def _there(self, listed: Mapping[str, PartitionFiles]) -> dict[str, PartitionFiles]:
        """What was *listed*, with the places where it is now, as far as it is still kept."""
        if isinstance(self.live, LogStore):  # its files stay where they are until they are cleaned up
            return dict(listed)
        now = self.live.snapshot(list(listed))
        found: dict[str, PartitionFiles] = {}
        for directory, content in listed.items():
            places = [now[directory]] if directory in now else []
            if isinstance(self.live, DirectoryStore) and not any(map(content.is_in, places)):
                places = self.live.replaced(directory)
            if (place := next(filter(content.is_in, places), None)) is not None:
                found[directory] = attrs.evolve(content, base=place.base)
        return found

    def _accepts(self, directory: str, accept: Accept) -> bool:
        return all(accept(name, text) for name, text in self.layout.texts_of(directory).items())


def expired(folder: Location, limit: datetime) -> list[Location]:
    """The listings in *folder* that are older than *limit*."""
    return [folder / name for name, made in ages(folder).items() if made < limit]


def form_of(content: PartitionFiles) -> dict[str, Any]:
    """JSON form of *content* in a listing."""
    marker = None if content.marker is None else content.marker.to_json()
    return {"base": content.base, "files": dict(content.files), "marker": marker}


def _content(form: dict[str, Any]) -> PartitionFiles:
    marker = None if form["marker"] is None else PartitionMetadata.from_json(form["marker"])
    return PartitionFiles(form["base"], form["files"], marker)
