"""Making few large Parquet files of many small ones."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import SchemaError
from airflow_partitions.storage.filesystem.filesystem import at

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    from airflow_partitions.storage.filesystem.filesystem import Location

#: Rows are gathered up to this size in memory before they are written as one group.
ROW_GROUP = 128 * 2**20


def groups(files: Mapping[str, int], target: int) -> list[tuple[str, ...]]:
    """Files, by name to size, that together make one of at most *target* bytes; each group has at least two."""
    merged: list[list[str]] = [[]]
    room = target
    for name, size in files.items():
        if size > target // 2:  # large enough; the order of the others stays
            continue
        if size > room:
            merged.append([])
            room = target
        merged[-1].append(name)
        room -= size
    return [tuple(group) for group in merged if len(group) > 1]


@attrs.frozen
class Merge:
    """The small files of one partition, to be written as fewer.

    :ivar base: path of the folder that names start from.
    :ivar groups: names of files that become one each.
    :ivar kept: names of the files that stay as they are.
    :ivar credentials: what the file system is made with.
    """

    base: str
    groups: Sequence[tuple[str, ...]]
    kept: Sequence[str]
    credentials: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    def write(self, folder: Location) -> dict[str, str]:
        """Write the files to *folder*; old name to new name.

        :raises SchemaError: if files differ in a way that one file can't hold.
        """
        token = secrets.token_hex(4)
        names: dict[str, str] = {}
        for name in self.kept:
            short = name.rpartition("/")[2]
            names[name] = f"{len(names)}-{short}" if short in names.values() else short
            _keep(self._place(name), folder / names[name])
        for number, group in enumerate(self.groups):
            new = f"compacted-{token}-{number:05}.parquet"
            _merge([self._place(name) for name in group], folder / new)
            names |= dict.fromkeys(group, new)
        return names

    def _place(self, name: str) -> Location:
        return at(f"{self.base}/{name}", self.credentials)


def _keep(source: Location, target: Location) -> None:
    """Have a file in another folder too, without its data going through this process."""
    if isinstance(source, Path) and isinstance(target, Path):
        os.link(source, target)
    else:
        source.fs.cp_file(source.path, target.path)  # type: ignore[union-attr]


def _merge(sources: Sequence[Location], target: Location) -> None:
    import pyarrow.parquet as parquet

    schema, timestamps = _joined(sources)
    with target.open("wb") as out:
        codec = _codec(sources[0])
        with parquet.ParquetWriter(out, schema, compression=codec, use_deprecated_int96_timestamps=timestamps) as to:
            for table in _row_groups(sources, schema):
                to.write_table(table, row_group_size=max(table.num_rows, 1))


def _joined(sources: Sequence[Location]) -> tuple[pa.Schema, bool]:
    """The schema of all *sources*, and whether their timestamps are Spark's of 96 bits."""
    import pyarrow as pa

    schemas, old, naive = [], False, False
    for source in sources:
        with _opened(source) as file:
            columns = [file.schema.column(number) for number in range(len(file.schema))]
            schemas.append(file.schema_arrow)
            old |= any(column.physical_type == "INT96" for column in columns)
            naive |= any(
                column.physical_type == "INT64" and '"isAdjustedToUTC": false' in column.logical_type.to_json()
                for column in columns
            )
    if old and naive:
        raise SchemaError("timestamps of 96 bits and timestamps without zone can't be written to one file")
    try:
        joined = pa.unify_schemas([schema.remove_metadata() for schema in schemas], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(f"the files have no schema in common: {error}") from error
    first, *others = [schema.metadata or {} for schema in schemas]
    common = {name: text for name, text in first.items() if all(other.get(name) == text for other in others)}
    return joined.with_metadata(common), old


def _row_groups(sources: Sequence[Location], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of all *sources* in order, in tables of a good size for a row group."""
    import pyarrow as pa

    gathered: list[pa.Table] = []
    for source in sources:
        with _opened(source) as file:
            for number in range(file.num_row_groups):
                gathered.append(_cast(file.read_row_group(number), schema))
                if sum(table.nbytes for table in gathered) >= ROW_GROUP:
                    yield pa.concat_tables(gathered)
                    gathered = []
    if gathered:
        yield pa.concat_tables(gathered)


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    columns = [
        table[field.name].cast(field.type) if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def _opened(source: Location) -> Iterator[ParquetFile]:
    import pyarrow.parquet as parquet

    with source.open("rb") as data:
        yield parquet.ParquetFile(data, coerce_int96_timestamp_unit="us")


def _codec(source: Location) -> str:
    """How a file is compressed."""
    with _opened(source) as file:
        footer = file.metadata
        if not footer.num_row_groups or not footer.num_columns:
            return "snappy"
        codec = str(footer.row_group(0).column(0).compression)
        return "none" if codec == "UNCOMPRESSED" else codec
