"""Description of a dataset of files: where they are, and how its keys become paths."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.core.definitions.definition import check_definition
from airflow_partitions.core.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.storage.column_type import check_index
from airflow_partitions.storage.dataset import Dataset, Pairs, items, pairs_of
from airflow_partitions.storage.filesystem.paths import check_path
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.layout.file_per_key import FilePerKey, FilePerKeyLayout
from airflow_partitions.storage.layout.layout import Layout

if TYPE_CHECKING:
    from typing_extensions import Self

_Columns = tuple[tuple[str, Column], ...]

_MEMBER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
#: What a dataset says itself, so that an option that says it too is ignored.
_OURS = ("path", "filepath", "basePath")


def _partition_on(
    value: Mapping[str, str | Column] | Iterable[tuple[str, str | Column]] | FilePerKey | None,
) -> _Columns | FilePerKey | None:
    if value is None or isinstance(value, FilePerKey):
        return value
    expected = (
        "partition_on={}; expected each column with its format, such as {{'date': '%Y-%m-%d', 'airport':"
        " '{{airport}}'}}, or nothing for a column per dimension, called like it"
    )
    pairs = items(value, expected, LayoutError)
    return tuple((name, column if isinstance(column, Column) else Column(column)) for name, column in pairs)


def _partition_on_to_json(value: _Columns | FilePerKey | None) -> Any:
    if isinstance(value, FilePerKey):
        return {"suffix": value.suffix, "find": dict(value.find)}
    # Lists, because the order of columns matters and JSON objects have none.
    return None if value is None else [[name, column.format, column.type] for name, column in value]


def _partition_on_from_json(form: Any) -> _Columns | FilePerKey | None:
    if isinstance(form, Mapping):
        return FilePerKey(form["suffix"], find=form["find"])
    return None if form is None else tuple((name, Column(text, kind)) for name, text, kind in form)


def _index(columns: Mapping[str, Iterable[str]] | Iterable[str]) -> tuple[str, ...]:
    """Columns; those of a table begin with its name."""
    by_member = columns.items() if isinstance(columns, Mapping) else ()
    names = [f"{member}/{name}" for member, own in by_member for name in own] if by_member else columns
    if isinstance(names, str):
        raise InvalidDefinitionError(f"index={names!r}; expected a sequence of columns: index=({names!r},)")
    return tuple(dict.fromkeys(names))


def _options(options: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> Pairs:
    pairs = items(options or (), "options={}; expected each option with its value, such as {{'sep': ';'}}")
    if any(name == "versioned" for name, _ in pairs):
        raise InvalidDefinitionError("options={'versioned': …}: partitions have no versions of their own; leave it out")
    if ours := [name for name, _ in pairs if name in _OURS]:
        warnings.warn(
            f"option {ours[0]!r} is ignored: the paths are those of the partitions", UserWarning, stacklevel=4
        )
    return tuple(pair for pair in pairs if pair[0] not in _OURS)


def _shown(options: Pairs) -> str:
    """The *options*, without the secrets that may be among them."""
    return repr(tuple((name, "…" if name == "credentials" and value else value) for name, value in options))


@attrs.frozen
class FileDataset(Dataset):
    """What there is to say about a dataset of files. Its parameters are those of :class:`.Files`."""

    store: ClassVar[str] = "airflow_partitions.storage.stores.open:store_of_files"
    backend: ClassVar[str] = "airflow_partitions.storage.file_backend:FileBackend"

    format: str = attrs.field(default="parquet", kw_only=True)
    partition_on: _Columns | FilePerKey | None = attrs.field(default=None, converter=_partition_on, kw_only=True)
    partition: PartitionDefinition | None = attrs.field(
        kw_only=True, validator=attrs.validators.optional(lambda _, __, value: check_definition(value))
    )
    index: tuple[str, ...] = attrs.field(default=(), converter=_index, kw_only=True)
    log: str | None = attrs.field(default=None, converter=attrs.converters.optional(check_path), kw_only=True)
    options: Pairs = attrs.field(default=(), converter=_options, kw_only=True, repr=_shown)
    conn_id: str | None = attrs.field(default=None, kw_only=True)
    credentials: Pairs = attrs.field(converter=pairs_of, kw_only=True, repr=False, eq=False)
    members: tuple[str, ...] = attrs.field(default=(), converter=tuple, kw_only=True, alias="tables")
    member: str | None = attrs.field(default=None, kw_only=True, alias="table_name")

    @partition.default
    def _named(self) -> PartitionDefinition | None:
        return PartitionAtRuntime("file") if isinstance(self.partition_on, FilePerKey) else None

    @credentials.default
    def _connected(self) -> Mapping[str, Any]:
        return {} if self.conn_id is None else {"conn_id": self.conn_id}

    @property
    def connection(self) -> str | None:
        return self.conn_id

    @staticmethod
    def check_path(path: Any) -> str:
        return check_path(path)

    def __attrs_post_init__(self) -> None:
        if self.conn_id is not None and dict(self.credentials) != {"conn_id": self.conn_id}:
            raise InvalidDefinitionError(f"storage {self.path!r}: expected credentials= or conn_id=, not both")
        if self.members:
            self._check_members()
        if self.partition is not None:
            self._check_columns()
        if self.schema is not None:
            check_index(self.index, dict(self.schema), self.path)

    def _check_columns(self) -> None:
        folders = {name.lower() for name in self.layout.columns}
        if both := folders & {self._column(name).lower() for name in self.index}:
            raise InvalidDefinitionError(
                f"storage {self.path!r}: index={min(both)!r} is a partition column, whose values the folders tell;"
                " expected columns of the files"
            )
        both = folders & {self._column(name).lower() for name, _ in self.schema or ()}
        if both and self.layout.in_frames:
            raise LayoutError(
                f"storage {self.path!r}: {sorted(both)} are partition columns and columns of the files; expected one or"
                " the other: leave them out of schema= or rename them in partition_on="
            )

    def _column(self, name: str) -> str:
        """The column of a field of the schema."""
        return name.partition("/")[2] if self.members and self.member is None else name

    def _check_members(self) -> None:
        if wrong := [name for name in self.members if not _MEMBER.fullmatch(name)]:
            raise LayoutError(
                f"storage {self.path!r}: table {wrong[0]!r} can't be a folder; expected letters, digits, _ and -, a"
                " letter first"
            )
        if len(set(self.members)) < len(self.members) or isinstance(self.partition_on, FilePerKey):
            raise LayoutError(f"storage {self.path!r}: expected each table once, and no FilePerKey")
        if self.member is not None:
            return
        if wrong := [name for name in self.index if name.partition("/")[0] not in self.members]:
            raise InvalidDefinitionError(
                f"storage {self.path!r}: index={wrong[0]!r} names none of the tables {', '.join(self.members)};"
                f" expected the columns of each: {{{self.members[0]!r}: (…,)}}"
            )
        if self.schema is None:
            return
        if {name.partition("/")[0] for name, _ in self.schema} != set(self.members):
            raise InvalidDefinitionError(
                f"storage {self.path!r}: the schema {dict(self.schema)} is not that of tables"
                f" {', '.join(self.members)}; expected the columns of each: {{{self.members[0]!r}: {{…}}, …}}"
            )

    def table(self, name: str) -> Self:
        """One table of each partition, to be read.

        :raises InvalidDefinitionError: if there is no such table.
        """
        if name not in self.members or self.member is not None:
            names = "" if self.member is not None else ", ".join(self.members)
            raise InvalidDefinitionError(
                f"storage {self.path!r} has no table {name!r}; expected one of: {names or '(it has none)'}"
            )
        schema = [(self._column(field), kind) for field, kind in self.schema or () if field.startswith(f"{name}/")]
        index = [self._column(column) for column in self.index if column.startswith(f"{name}/")]
        return attrs.evolve(self, table_name=name, schema=schema or None, index=index).pinned(self.pin)

    def declaring(self, schema: Mapping[str, str] | Iterable[tuple[str, str]]) -> Self:
        columns = dict(schema)
        index = [column for column in self.index if column in columns]
        return attrs.evolve(self, schema=columns, index=index).pinned(self.pin)

    def whole(self) -> Self:
        return attrs.evolve(self, table_name=None, schema=None, index=()).pinned(self.pin)

    @cached_property
    def layout(self) -> Layout:
        """Folder names of the partitions."""
        if self.partition is None:
            raise InvalidDefinitionError(
                f"storage {self.path!r} has no partitions; expected {type(self).__name__}(…, partition=…), or"
                " .of(definition)"
            )
        if isinstance(self.partition_on, FilePerKey):
            return FilePerKeyLayout(self.partition, self.partition_on.suffix)
        return Layout(self.partition, None if self.partition_on is None else dict(self.partition_on))

    def _more_to_json(self) -> Mapping[str, Any]:
        return {
            "format": self.format if attrs.fields(type(self)).format.init else None,
            "partition_on": _partition_on_to_json(self.partition_on),
            "index": list(self.index) or None,
            "log": self.log,
            "tables": list(self.members) or None,
            "table_name": self.member,
            "conn_id": self.conn_id,
            "options": dict(pair for pair in self.options if pair[0] != "credentials") or None,
        }

    @classmethod
    def arguments_of(cls, form: Mapping[str, Any], credentials: Mapping[str, Any] | None) -> dict[str, Any]:
        more: dict[str, Any] = {"format": form["format"]} if attrs.fields(cls).format.init else {}
        more |= {"credentials": credentials} if credentials else {"conn_id": form.get("conn_id")}
        return {
            "partition_on": _partition_on_from_json(form.get("partition_on")),
            "index": form.get("index", ()),
            "log": form.get("log"),
            "tables": form.get("tables", ()),
            "table_name": form.get("table_name"),
            "options": form.get("options", {}),
            **more,
        }
