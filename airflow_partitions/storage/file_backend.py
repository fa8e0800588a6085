"""Datasets of files: how they are kept for a run, tried, compacted, and told to SQL engines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import FilterError, InvalidDefinitionError, MissingInputError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.backend import Backend, Compacted
from airflow_partitions.storage.file_dataset import FileDataset
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, create, read, remove
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.filters.pruning import prune
from airflow_partitions.storage.io.foreign_files import check_flat, foreign_files
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.scan.scan_plan import Where, list_
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.sql.where import filter_of
from airflow_partitions.storage.stores.leftovers import old_files
from airflow_partitions.storage.stores.open import open_staging, open_store
from airflow_partitions.storage.stores.pinned_store import PINS, form_of
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: Nobody releases the listing of a run that never comes to its end.
_KEPT = timedelta(days=7)


@attrs.frozen
class FileBackend(Backend[FileDataset]):
    """What is done with files. A dataset is pinned to a listing of them."""

    @property
    def is_freezable(self) -> bool:
        """Whether it has partitions: nothing lists the files of one without."""
        return self.dataset.partition is not None

    def freeze(self, run: str, folder: str | None) -> str:
        dataset = self.dataset
        path = folder or str(bookkeeping(self._at(dataset.path)) / PINS)
        with translate_errors(f"the listing of {dataset.path!r}", f"kept in {path!r}"):
            place = self._at(path)
            file = place / f"{self._digest(run)}.json"
            if read(file) is None:
                partitions = {each.directory: form_of(each.content) for each in snapshot(dataset.whole()).values()}
                form = {"version": 1, "path": dataset.path, "run": run, "partitions": partitions}
                place.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):  # another task of the run was first: its listing counts
                    create(file, json.dumps(form, separators=(",", ":")).encode())
                for old in old_files(place, datetime.now(UTC) - _KEPT):
                    remove(old)
        return str(file)

    def release(self) -> None:
        if self.dataset.pin is not None:
            with translate_errors(f"the listing of {self.dataset.path!r}", "released"):
                remove(self._at(self.dataset.pin))

    def check_there(self) -> None:
        if not self._at(self.dataset.path).exists():
            raise MissingInputError(f"there is no {self.dataset.path!r}; expected it to be made first")

    def scratch(self, folder: Path, attempt: Attempt, directory: str) -> tuple[FileDataset, Staging]:
        return self.dataset, open_staging(str(folder), attempt)

    def left_in(self, folder: Location, key: Key) -> StagedFiles:
        dataset = with_schema(self.dataset)
        check_flat(folder, dataset.members, f"partition {str(key)!r}")
        files = open_store(self.dataset).staged(folder, dataset.members or ("",))
        request = WriteRequest(dataset=dataset, folder=folder, evolve=self.dataset.schema is None)
        if not dataset.members:
            return foreign_files(request, key, files)
        if missing := [member for member in dataset.members if not any(n.startswith(f"{member}/") for n in files)]:
            raise ResultError(
                f"{request.name_of(key)}: there is no file of table {missing[0]!r} in {folder}; expected one of each of"
                f" {', '.join(dataset.members)}, be it without rows"
            )
        staged = {}
        for member in dataset.members:
            own = {n.removeprefix(f"{member}/"): size for n, size in files.items() if n.startswith(f"{member}/")}
            table = attrs.evolve(request, dataset=dataset.table(member), folder=folder / member)
            staged[member] = foreign_files(table, key, own)
        return StagedFiles.of_members(staged)

    def where(self, selection: Selection) -> Filter:
        layout = self.dataset.layout
        if not layout.in_frames:
            raise FilterError(
                f"storage {self.dataset.path!r} tells its partitions by the names of files, and no column has them;"
                " expected paths(…) in place of where(…)"
            )
        return prune(filter_of(selection), layout).typed

    def start_over(self, folder: Location) -> None:
        remove(folder)

    def compactable(self, where: Where) -> Iterable[StoredPartition]:
        if self.dataset.format != "parquet":
            raise InvalidDefinitionError(
                f"storage {self.dataset.path!r} holds {self.dataset.format}; expected Parquet files to compact"
            )
        return list_(self.dataset, where)

    def merge(self, partition: StoredPartition, target: int, *, dry_run: bool) -> Compacted | None:
        from airflow_partitions.storage.maintenance.small_files import merge_small_files

        return merge_small_files(self.dataset, partition, target, dry_run=dry_run)

    def statements(self, table: str, engine: str) -> Iterator[str]:
        from airflow_partitions.storage.sql.ddl import file_statements

        return file_statements(self.dataset, table, engine)

    def _at(self, path: str) -> Location:
        """The place *path*, reached as the files are."""
        return at(path, dict(self.dataset.credentials))
