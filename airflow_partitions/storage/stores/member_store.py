"""One of the tables that every partition of a dataset has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.stores.store import Accept, ReadOnlyStore, Store


@attrs.frozen
class MemberStore(ReadOnlyStore):
    """The partitions of another store, with the files of one member. It is only read: members are written together.

    :ivar store: of the dataset.
    :ivar member: its name.
    """

    store: Store
    member: str

    @property
    def root(self) -> str | Path:  # type: ignore[override]
        """Where the dataset is."""
        return self.store.root

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles]:
        contents = self.store.snapshot(directories, accept)
        return {directory: content.of_member(directory, self.member) for directory, content in contents.items()}

    def listed(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles | None]:
        listed = self.store.listed(directories, accept)
        return {
            directory: None if content is None else content.of_member(directory, self.member)
            for directory, content in listed.items()
        }

    def recorded_schema(self) -> dict[str, str]:
        prefix, fields = f"{self.member}/", self.store.recorded_schema()
        return {name.removeprefix(prefix): kind for name, kind in fields.items() if name.startswith(prefix)}

    def check_writable(self) -> NoReturn:
        raise InvalidDefinitionError(
            f"table {self.member!r} of storage {str(self.root)!r} is only read, all tables are written together;"
            " expected the dataset itself"
        )
