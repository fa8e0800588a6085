"""What a dataset held at one moment, kept for all tasks of a Dag run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import StorageError
from airflow_partitions.storage.content import Content
from airflow_partitions.storage.filesystem import at, create, read, remove
from airflow_partitions.storage.marker import Marker

if TYPE_CHECKING:
    from airflow_partitions.storage.files import Files
    from airflow_partitions.storage.folders import Accept
    from airflow_partitions.storage.layout import Layout

#: Folder of the listings, below the root of a dataset.
LISTINGS = "_listings"


@attrs.frozen
class Listing:
    """The partitions of a dataset as a listing says.

    :ivar path: path of the listing.
    :ivar layout: the dataset's.
    """

    path: str
    layout: Layout
    credentials: dict[str, Any] = attrs.field(factory=dict, repr=False)

    def listed(self, accept: Accept | None = None) -> list[str]:
        """Directories of the partitions, sorted."""
        return list(self.snapshot(accept=accept))

    def content(self, directory: str) -> Content | None:
        """What is in *directory*, ``None`` if nothing is."""
        return self.snapshot([directory]).get(directory)

    def snapshot(self, directories: Sequence[str] | None = None, accept: Accept | None = None) -> dict[str, Content]:
        """What is in *directories*, or in all that *accept* wants.

        :raises StorageError: if the listing was released, or is damaged.
        """
        data = read(at(self.path, self.credentials))
        if data is None:
            raise StorageError(f"listing {self.path!r} was released; expected freeze(…) to be called again")
        try:
            partitions = {directory: _content(form) for directory, form in json.loads(data)["partitions"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"listing {self.path!r} is damaged ({error!r}); release it to list anew") from error
        wanted = partitions if directories is None else [each for each in directories if each in partitions]
        return {each: partitions[each] for each in wanted if accept is None or self._accepts(each, accept)}

    def _accepts(self, directory: str, accept: Accept) -> bool:
        return all(accept(name, text) for name, text in self.layout.texts_of(directory).items())


def freeze(files: Files, run: str, folder: str | None) -> str:
    """Path of the listing of *files* for *run*: that of the first one who asks."""
    from airflow_partitions.storage.inventory import snapshot

    credentials = dict(files.credentials)
    place = at(folder or f"{files.path}/{LISTINGS}", credentials)
    digest = hashlib.sha256(f"{files.path}\0{run}".encode()).hexdigest()
    file = place / f"{digest[:24]}.json"
    if read(file) is None:
        partitions = {each.directory: _form(each.content) for each in snapshot(files).values()}
        form = {"version": 1, "path": files.path, "run": run, "partitions": partitions}
        try:
            place.mkdir(parents=True, exist_ok=True)
            create(file, json.dumps(form, separators=(",", ":")).encode())
        except FileExistsError:
            pass  # another task of the run was first: its listing counts
        except OSError as error:
            raise StorageError(
                f"the listing of {files.path!r} can't be kept in {str(place)!r}: {error}; expected folder= with one"
                " that can be written"
            ) from error
    return str(file)


def release(files: Files) -> None:
    """Remove the listing of the frozen *files*."""
    if files.frozen is not None:
        remove(at(files.frozen, dict(files.credentials)))


def _form(content: Content) -> dict[str, Any]:
    marker = None if content.marker is None else content.marker.to_json()
    return {"base": content.base, "files": dict(content.files), "marker": marker}


def _content(form: dict[str, Any]) -> Content:
    marker = None if form["marker"] is None else Marker.from_json(form["marker"])
    return Content(form["base"], form["files"], marker)
