"""What a job may read: storage, and the partitions chosen from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.dependencies import Dependency, Overlap, Rule, Selection
from airflow_partitions.errors import MissingInputError
from airflow_partitions.keys import Key
from airflow_partitions.partition import Partition
from airflow_partitions.storage.parquet import Parquet
from airflow_partitions.storage.place import local


@attrs.frozen
class Input:
    """One input of a job.

    :ivar name: its name, also the function's parameter.
    :ivar storage: where it lies.
    :ivar selection: the partitions the job may read; ``None`` for storage without partitions, read as a whole.
    """

    name: str
    storage: Parquet
    selection: Selection | None

    @classmethod
    def needed_by(cls, partition: Partition, name: str, storage: Parquet, rule: Rule | None = None) -> Input:
        """The partitions of *storage* that *partition* depends on; *rule* replaces overlap."""
        if storage.partition is None:
            return cls(name, storage, None)
        dependency = Dependency(partition.definition, storage.partition, rule or Overlap())
        return cls(name, storage, dependency.upstream(partition.text))

    @cached_property
    def folders(self) -> Mapping[str, Key | None]:
        """The promised folders, each with the key it holds."""
        if self.selection is None:
            return {self.storage.path: None}
        return {self.storage.path_of(key): key for key in self.selection}

    def identities(self) -> dict[str, int]:
        """What tells a replaced folder from the one that was there before.

        :raises MissingInputError: if a folder is not there.
        """
        found, missing = {}, []
        for path, key in self.folders.items():
            try:
                found[path] = local(path).stat().st_ino
            except (FileNotFoundError, NotADirectoryError):
                missing.append(path if key is None else str(key))
        if missing:
            shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
            raise MissingInputError(
                f"input {self.name!r}: {len(missing)} of {len(self.folders)} partitions are not stored in"
                f" {self.storage.path!r}: {shown}; expected them to be made first"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """JSON form; the selection without the definition that the storage holds already."""
        selection = None if self.selection is None else self.selection.to_json()
        if selection is not None:
            del selection["definition"]
        return {"storage": self.storage.to_json(), "selection": selection}

    @classmethod
    def from_json(cls, name: str, form: Mapping[str, Any]) -> Input:
        """The inverse of :meth:`to_json`."""
        storage, selection = Parquet.from_json(form["storage"]), form["selection"]
        if selection is not None and storage.partition is not None:
            selection = {**selection, "definition": storage.partition.to_json()}
        return cls(name, storage, None if selection is None else Selection.from_json(selection))
