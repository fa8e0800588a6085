"""Records of the partitions in folders: what each says about itself."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path

import attrs

from airflow_partitions.core.errors import StorageError, UnknownVersionError
from airflow_partitions.storage.filesystem.filesystem import ages, names, read, write
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

#: Folder of the records, in the bookkeeping of a dataset.
RECORDS = "partitions"
#: The name of an empty file in the folder of a partition: it tells which record is that of the folder, wherever it is
#: moved. Readers skip empty files, polars too.
_POINTER = re.compile(r"_record-([0-9a-f]{16})")


@attrs.frozen
class PartitionRecords:
    """The metadata of partitions, in a file for each folder.

    :ivar folder: where the files are.
    """

    folder: Path

    def read(self, directory: str, files: Iterable[str]) -> PartitionMetadata | None:
        """What a folder of the partition in *directory* says about itself; ``None`` if it was not published by us.

        :param files: names of those in the folder.
        :raises StorageError: if what it says makes no sense.
        """
        if (record := record_of(files)) is None:
            return None
        file = self._file(directory, record)
        try:
            data = read(file)
            return None if data is None else PartitionMetadata.from_json(json.loads(data))
        except UnknownVersionError as error:
            raise StorageError(f"{file}: {error}") from error
        except ValueError as error:
            raise StorageError(f"{file} is not a partition's metadata ({error}); remove it to publish anew") from error

    def last_commit(self) -> int:
        """The greatest number of a commit that a record tells; 0 if none does. One that is damaged tells none."""
        commits = [0]
        for name in ages(self.folder):
            with suppress(ValueError, TypeError, KeyError):
                commits.append(int(json.loads(read(self.folder / name) or b"")["commit"]))
        return max(commits)

    def write(self, directory: str, folder: Path, metadata: PartitionMetadata) -> None:
        """Record what *folder* says about itself, while or once it is that of the partition in *directory*.

        A reader finds all of it, or what was recorded before.
        """
        record = record_of(names(folder)) or secrets.token_hex(8)
        file = self._file(directory, record)
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, json.dumps(metadata.to_json(), separators=(",", ":")).encode())
        (folder / f"_record-{record}").touch()

    def unused(self, root: Path, replaced: Iterable[str], before: datetime) -> Iterator[Path]:
        """The files written *before* that are the record of no folder.

        :param root: folder of the dataset.
        :param replaced: paths of files in replaced folders: the directory of their partition, then their name.
        """
        kept: dict[str, list[str | None]] = {}
        for directory, _, name in (path.rpartition("/") for path in replaced):
            kept.setdefault(directory, []).append(record_of([name]))
        old = [name for name, changed in ages(self.folder).items() if changed < before]
        for directory, files in groupby(old, lambda name: name.rpartition("/")[0]):
            records = [record_of(names(root / directory)), *kept.get(directory, ())]
            used = {f"{directory}/{record}.json" for record in records}
            yield from (self.folder / name for name in files if name not in used)

    def _file(self, directory: str, record: str) -> Path:
        return self.folder / directory / f"{record}.json"


def record_of(files: Iterable[str]) -> str | None:
    """The record of a folder that holds these *files*; ``None`` if it was not published by us."""
    return next((match[1] for name in files if (match := _POINTER.fullmatch(name))), None)
