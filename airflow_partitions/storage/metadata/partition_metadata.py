"""Metadata that is published with a partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from airflow_partitions.core.versions import check_version
from airflow_partitions.storage.metadata.arrow_types import widest
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.column_index import Index, joined, renamed, to_index

_VERSION = 1


@attrs.frozen
class PartitionMetadata:
    """What a published partition says about itself.

    :ivar key: text of its key.
    :ivar attempt: who published it.
    :ivar rows: rows in its files; ``None`` if nobody counted.
    :ivar files: how many files there are.
    :ivar published: when, as ISO text in UTC.
    :ivar commit: number of the commit in its dataset; a later one is greater.
    :ivar schema: column to Spark type.
    :ivar index: which files have which values, of the indexed columns.
    :ivar user: what the writer added.
    """

    key: str
    attempt: Attempt
    rows: int | None
    files: int
    bytes: int
    published: str
    commit: int = 0
    schema: Mapping[str, str] = attrs.field(factory=dict)
    index: Index = attrs.field(factory=dict, converter=to_index)
    user: Mapping[str, Any] = attrs.field(factory=dict)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read by :meth:`from_json`."""
        return {"version": _VERSION, **attrs.asdict(self)}

    def joined(
        self, previous: PartitionMetadata | None, kept: Iterable[str], files: Mapping[str, int]
    ) -> PartitionMetadata:
        """This metadata of appended files, together with the *previous* one.

        :param kept: the files of the partition that stay.
        :param files: all files, with their sizes.
        """
        stays = set(kept)
        rows = self.rows
        if previous is not None:
            counted = rows is not None and previous.rows is not None and len(stays) == previous.files
            rows = (rows or 0) + (previous.rows or 0) if counted else None
        elif stays:
            rows = None
        index = joined({} if previous is None else previous.index, self.index, stays)
        schema = self.schema
        if stays:  # where some files say nothing of their columns, no schema is that of all
            schema = widest(previous.schema, schema) if previous is not None and previous.schema and schema else {}
        user = {**(previous.user if previous is not None else {}), **self.user}
        size = sum(files.values())
        return attrs.evolve(self, rows=rows, files=len(files), bytes=size, schema=schema, index=index, user=user)

    def renamed(self, names: Mapping[str, str]) -> PartitionMetadata:
        """This metadata where files have the new ones of *names*."""
        if not self.index:  # what most partitions have, and a log has many of them
            return self
        return attrs.evolve(self, index=renamed(self.index, names))

    def of_member(self, member: str, names: Mapping[str, str], size: int) -> PartitionMetadata:
        """What it says about one *member*; nobody counted the rows of that alone.

        :param names: of its files, and what to call them.
        :param size: of these in bytes.
        """
        prefix = f"{member}/"
        own = {column.removeprefix(prefix): one for column, one in self.index.items() if column.startswith(prefix)}
        schema = {name.removeprefix(prefix): kind for name, kind in self.schema.items() if name.startswith(prefix)}
        return attrs.evolve(self, rows=None, files=len(names), bytes=size, schema=schema, index=renamed(own, names))

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> PartitionMetadata:
        """The metadata whose :meth:`to_json` is *form*.

        :raises UnknownVersionError: if another release wrote it.
        :raises ValueError: if it is not one.
        """
        try:
            if form["version"] != _VERSION:
                check_version(form, _VERSION, "what a partition says about itself")
            values = {name: form[name] for name in _NAMES if name in form}
            values["attempt"] = Attempt(**form["attempt"])
            return cls(**values)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(repr(error)) from error


_NAMES = tuple(attrs.fields_dict(PartitionMetadata))
