"""The schema that files are read by, and whether each of them fits it. Only their footers are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import MissingInputError, SchemaError
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: Formats whose files say what types their columns have.
TYPED = ("parquet", "orc")
_THREADS = 8
_INT96 = "INT96"


def declared_schema(scan: ReadRequest) -> pa.Schema | None:
    """The dataset's declared columns, without those of its folders; ``None`` if it declares none."""
    import pyarrow as pa

    if scan.dataset.schema is None:
        return None
    return pa.schema([(name, arrow_type(kind)) for name, kind in scan.dataset.schema])


def footers(scan: ReadRequest, paths: Sequence[str], filesystem: Any) -> list[pa.Schema]:
    """Schema of each of the files.

    :raises StorageError: if one can't be read; :class:`.DamagedError` if it is none of the format.
    """
    import pyarrow as pa

    def one(path: str) -> pa.Schema:
        with translate_errors(partial(scan.named, path), f"read as {scan.dataset.format}", damaged=(pa.ArrowInvalid,)):
            if scan.dataset.format == "orc":
                from pyarrow import orc

                with filesystem.open_input_file(path) as source:
                    return orc.ORCFile(source).schema
            from pyarrow import parquet

            with parquet.ParquetFile(path, filesystem=filesystem) as file:
                return _with_instants(file.schema)

    if len(paths) < _THREADS:
        return list(map(one, paths))
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(one, paths))


def _with_instants(columns: pq.ParquetSchema) -> pa.Schema:
    """The schema of *columns* in a file of Parquet. Times of 96 bits, Spark's default, are instants: nothing in the
    file says so, and Arrow takes them for times without a zone.
    """
    import pyarrow as pa

    schema = columns.to_arrow_schema()
    types = [columns.column(number).physical_type for number in range(len(columns))]
    if _INT96 not in types:
        return schema
    leaves = iter(types)

    def instants(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_struct(kind):
            return pa.struct([field.with_type(instants(field.type)) for field in kind])
        if pa.types.is_map(kind):
            return pa.map_(instants(kind.key_type), instants(kind.item_type))
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            return pa.list_(kind.value_field.with_type(instants(kind.value_type)))
        return pa.timestamp("us", tz="UTC") if next(leaves, None) == _INT96 else kind

    return pa.schema([field.with_type(instants(field.type)) for field in schema])


def schema_of(scan: ReadRequest, paths: Sequence[str], filesystem: Any, *, exact_names: bool) -> pa.Schema:
    """The schema to read by: the declared one, else that of the first file. Partition columns are not in it.

    :param exact_names: names that differ in case are different names; Spark takes them for the same.
    :raises MissingInputError: if nothing tells the schema.
    :raises SchemaError: if a file does not fit it.
    """
    import pyarrow as pa

    target = declared_schema(scan)
    if target is None and not paths:
        raise MissingInputError(
            f"{scan.dataset.path!r}: no file was asked for, so there is no schema; expected"
            f" {type(scan.dataset).__name__}(…, schema={{…}})"
        )
    if target is None:
        hidden = {name.lower() for name in scan.partition_columns}
        first = footers(scan, paths[:1], filesystem)[0]
        target = pa.schema([field for field in first if field.name.lower() not in hidden])
    recorded = _recorded(scan) if scan.partitions is not None else {}
    covered = {path for partition in scan.partitions or () if partition.path in recorded for path in partition.paths}
    # In the order of sources(): what is told by no metadata is told by the files themselves.
    named = [path for partition in scan.partitions or () for path in partition.paths] or paths
    others = [path for path, name in zip(paths, named, strict=True) if name not in covered]
    recorded |= dict(zip(others, footers(scan, others, filesystem), strict=True))
    seen: set[Any] = set()
    for path, schema in recorded.items():
        if (names := tuple(zip(schema.names, schema.types, strict=True))) not in seen:
            seen.add(names)
            _check(schema, target, path, scan, exact_names=exact_names)
    return target


def _recorded(scan: ReadRequest) -> dict[str, pa.Schema]:
    """Schema of the partitions that were published with one: every write was checked against it."""
    import pyarrow as pa

    recorded = {}
    for partition in scan.partitions or ():
        metadata = partition.content.metadata
        if metadata is not None and metadata.schema:
            with suppress(SchemaError):  # a type that only Spark has: the files may tell
                recorded[partition.path] = pa.schema(
                    [(name, arrow_type(kind)) for name, kind in metadata.schema.items()]
                )
    return recorded


def _check(schema: pa.Schema, target: pa.Schema, path: str, scan: ReadRequest, *, exact_names: bool) -> None:
    types = {field.name.lower(): field for field in schema}
    for field in target:
        here = types.get(field.name.lower())
        if here is None:
            continue
        if here.name != field.name and exact_names:
            raise SchemaError(
                f"{path}: column {here.name!r} is written {field.name!r} in the schema of {scan.dataset.path!r};"
                " expected the same name: only Spark takes them for the same"
            )
        if not fits(here.type, field.type):
            source = "is declared as" if scan.dataset.schema is not None else "is, in the first file,"
            remedy = "write the files anew, or declare" if scan.dataset.schema is not None else "declare schema= with"
            raise SchemaError(
                f"{path}: column {here.name!r} is {here.type}, but {source} {field.type} in {scan.dataset.path!r};"
                f" expected a type that can be widened to it: {remedy} a wider type"
            )
