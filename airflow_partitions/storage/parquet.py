"""Partitions stored as folders of Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.definitions import PartitionDefinition, from_json
from airflow_partitions.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.keys import Key
from airflow_partitions.storage.layout import Column, Layout
from airflow_partitions.storage.place import check_path, local

_Columns = tuple[tuple[str, Column], ...]
_Fields = tuple[tuple[str, str], ...]


def _columns(given: Mapping[str, str | Column] | Iterable[tuple[str, str | Column]] | None) -> _Columns | None:
    if given is None:
        return None
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple((name, column if isinstance(column, Column) else Column(column)) for name, column in pairs)


def _fields(given: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> _Fields | None:
    if given is None:
        return None
    return tuple((given.items()) if isinstance(given, Mapping) else given)


@attrs.frozen
class Parquet:
    """A folder of Hive-style partition folders, each with Parquet files.

    .. code-block:: python

        days = PartitionByInterval("@daily", name="date")
        storage = Parquet("/lake/delays", partition=days, partition_on={"date": Column("%Y-%m-%d", "date")})
        storage.path_of(days.parse("2013-02-08"))  # "/lake/delays/date=2013-02-08"

    :param path: absolute path of the folder.
    :param partition: definition of the stored partitions. An asset's own storage gets it from its decorator; an input
        without one is read as a whole.
    :param partition_on: partition column to format (text, or :class:`Column` for another type than string), in the
        order of the folders. A format with ``%`` is a strftime format of the time dimension's start in its zone,
        ``"{dimension}"`` is that dimension's text. Default: one text column per dimension, named like it.
    :param schema: column to Spark type of the columns inside the files (``{"origin": "string"}``). Without it the
        schema is that of the first file read.
    :param external: the files belong to someone else: they are read, never written.
    :raises LayoutError: if two keys would share one folder.
    """

    path: str = attrs.field(converter=check_path)
    partition: PartitionDefinition | None = attrs.field(default=None, kw_only=True)
    partition_on: _Columns | None = attrs.field(default=None, converter=_columns, kw_only=True)
    schema: _Fields | None = attrs.field(default=None, converter=_fields, kw_only=True)
    external: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.partition is None:
            return
        both = {name.lower() for name, _ in self.schema or ()} & {name.lower() for name in self.layout.columns}
        if both:
            raise LayoutError(
                f"storage {self.path!r}: {sorted(both)} are partition columns and columns of the files; expected one or"
                " the other: leave them out of schema= or rename them in partition_on="
            )

    @cached_property
    def layout(self) -> Layout:
        """Folder names of the partitions."""
        if self.partition is None:
            raise InvalidDefinitionError(
                f"storage {self.path!r} has no partitions; expected Parquet(…, partition=…), or .of(definition)"
            )
        return Layout(self.partition, None if self.partition_on is None else dict(self.partition_on))

    def of(self, definition: PartitionDefinition) -> Parquet:
        """This storage, bound to the *definition* of what it holds.

        :raises InvalidDefinitionError: if it is bound to another one.
        """
        if self.partition is not None and self.partition != definition:
            raise InvalidDefinitionError(
                f"storage {self.path!r} holds partitions of {self.partition!r}; it can't be that of {definition!r}"
            )
        return attrs.evolve(self, partition=definition)

    def path_of(self, key: Key) -> str:
        """Path of the folder of *key*."""
        return f"{self.path}/{self.layout.directory_of(key)}"

    def exists(self, key: Key) -> bool:
        """Whether there is a partition *key*, be it empty.

        :raises StorageError: if the storage is not local.
        """
        return local(self.path_of(key)).is_dir()

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        form = {
            "kind": "parquet",
            "path": self.path,
            "partition": None if self.partition is None else self.partition.to_json(),
            # Lists, because the order of columns matters and JSON objects have none.
            "partition_on": None
            if self.partition_on is None
            else [[n, c.format, c.type] for n, c in self.partition_on],
            "schema": None if self.schema is None else [list(field) for field in self.schema],
            "external": self.external or None,
        }
        return {name: value for name, value in form.items() if value is not None}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Parquet:
        """The storage whose :meth:`to_json` is *form*."""
        if form.get("kind") != "parquet":
            raise InvalidDefinitionError(f"storage of kind {form.get('kind')!r} is not known; expected 'parquet'")
        partition, columns, fields = (form.get(name) for name in ("partition", "partition_on", "schema"))
        return cls(
            form["path"],
            partition=None if partition is None else from_json(partition),
            partition_on=None if columns is None else [(name, Column(fmt, kind)) for name, fmt, kind in columns],
            schema=None if fields is None else [(name, kind) for name, kind in fields],
            external=form.get("external", False),
        )
