"""Files as a dataset of Arrow: by the schema of ours, with the columns of the folders."""

from __future__ import annotations

from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import MissingInputError, ReaderError
from airflow_partitions.storage.filesystem.filesystem import at, sizes
from airflow_partitions.storage.io import compression
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.schemas import TYPED, declared_schema, schema_of
from airflow_partitions.storage.layout.column import TYPES
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from airflow_partitions.storage.scan.stored_partition import StoredPartition

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

_TRUE = (True, "true", "True")
#: No compressed file without a line has more bytes.
_EMPTY_STREAM = 64
_TOLD_BY_FILES = ("compression",)


def dataset(scan: ReadRequest) -> ds.Dataset:
    """The files of *scan*; nothing of them is read but what tells their schema."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if scan.dataset.format == "csv" and scan.partitions is not None:  # a file without a line is an error to Arrow
        scan = attrs.evolve(scan, partitions=tuple(_with_lines(scan, partition) for partition in scan.partitions))
    filesystem, paths = sources(scan)
    columns = pa.schema([(name, arrow_type(kind)) for name, kind in scan.partition_columns.items()])
    form = _format(scan)
    if scan.dataset.format in TYPED:
        schema = schema_of(scan, paths, filesystem, exact_names=True)
    elif (declared := declared_schema(scan)) is not None:
        schema = declared
    elif paths:
        schema = form.inspect(paths[0], filesystem=filesystem)
    else:
        raise MissingInputError(f"{scan.dataset.path!r}: no file was asked for; expected schema={{…}} to be declared")
    kept = [field for field in schema if field.name not in columns.names]
    return ds.FileSystemDataset.from_paths(
        paths,
        schema=pa.schema([*kept, *columns]),
        format=form,
        filesystem=filesystem,
        partitions=_constants(scan, columns) if len(columns) else None,
    )


def _with_lines(scan: ReadRequest, partition: StoredPartition) -> StoredPartition:
    """*partition* without its empty files."""
    import pyarrow as pa

    def is_empty(name: str, path: str) -> bool:
        if partition.files[name] > _EMPTY_STREAM:
            return False
        stream = compression.stream_of(name)
        if stream is None or not partition.files[name]:
            return not partition.files[name]
        with at(path, scan.credentials).open("rb") as source:
            return not pa.CompressedInputStream(source, stream).read(1)

    names = [name for name, path in zip(partition.files, partition.paths, strict=True) if not is_empty(name, path)]
    return partition if len(names) == len(partition.files) else partition.only(names)


def _constants(scan: ReadRequest, columns: pa.Schema) -> list[ds.Expression]:
    """What the partition columns of each file are: said by us, not read from paths."""
    import pyarrow as pa
    import pyarrow.compute as pc

    guarantees = []
    for partition in scan.partitions or ():
        values = {name: TYPES[kind](partition.values[name]) for name, kind in scan.partition_columns.items()}
        fields = (pc.field(each.name) == pa.scalar(values[each.name], each.type) for each in columns)
        guarantees += [reduce(and_, fields)] * len(partition.paths)
    return guarantees


def sources(scan: ReadRequest) -> tuple[Any, list[str]]:
    """The file system of Arrow that the dataset is on, and the files to read."""
    from fsspec.core import strip_protocol
    from pyarrow.fs import FSSpecHandler, LocalFileSystem, PyFileSystem

    root = scan.root
    if isinstance(root, Path):
        base, filesystem = str(root), LocalFileSystem()
    else:
        base, filesystem = root.path.rstrip("/"), PyFileSystem(FSSpecHandler(root.fs))
    if scan.partitions is not None:
        return filesystem, [strip_protocol(path) for partition in scan.partitions for path in partition.paths]
    names = [name for name in sizes(root) if not any(level[0] in "_." for level in name.split("/"))]
    return filesystem, [f"{base}/{name}" for name in names]


def _format(scan: ReadRequest) -> ds.FileFormat:
    import pyarrow.dataset as ds

    if scan.dataset.format == "csv":
        return _csv(scan)
    check_options(scan)
    if scan.dataset.format == "orc":
        return ds.OrcFileFormat()
    return ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")  # Arrow's nanoseconds end in the year 2262


def check_options(scan: ReadRequest) -> None:
    """Refuse options of a format other than those that files tell themselves.

    :raises ReaderError: if there is one.
    """
    if options := [name for name in scan.options if name not in _TOLD_BY_FILES]:
        raise ReaderError(f"option {options[0]!r} of {scan.dataset.format!r} is known to Spark alone")


def _csv(scan: ReadRequest) -> ds.CsvFileFormat:
    """The format of CSV files, by the names that Spark has for their options."""
    import pyarrow.dataset as ds
    from pyarrow import csv

    options = {name: value for name, value in scan.options.items() if name not in _TOLD_BY_FILES}
    header = options.pop("header", False) in _TRUE
    schema = declared_schema(scan)
    names = None if header or schema is None else schema.names
    form = ds.CsvFileFormat(
        parse_options=csv.ParseOptions(
            delimiter=options.pop("sep", options.pop("delimiter", ",")),
            quote_char=options.pop("quote", '"') or False,
            escape_char=_escape(options.pop("escape", '"')),
            newlines_in_values=options.pop("multiLine", False) in _TRUE,
        ),
        read_options=csv.ReadOptions(
            column_names=names,
            autogenerate_column_names=not header and names is None,
            encoding=options.pop("encoding", "utf8"),
        ),
        convert_options=csv.ConvertOptions(
            column_types=schema,
            null_values=sorted({options.pop("nullValue", ""), ""}),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    if options.get("mode") == "FAILFAST":  # what is done here anyway
        del options["mode"]
    if options:
        raise ReaderError(f"option {next(iter(options))!r} of 'csv' is known to Spark alone; expected sep, header, …")
    return form


def _escape(character: str) -> str | bool:
    """What Arrow is told: it reads doubled quotes anyway."""
    return False if character == '"' else character
