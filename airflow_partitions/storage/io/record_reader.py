"""Formats that Arrow does not read, or not with all their types: lines of text, JSON, Avro."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import ReaderError, SchemaError
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.io.arrow_dataset import check_options, sources
from airflow_partitions.storage.io.avro_types import arrow_type as avro_arrow_type
from airflow_partitions.storage.io.compression import stream_of
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.schemas import declared_schema
from airflow_partitions.storage.layout.column import TYPES
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds


def read_records(scan: ReadRequest) -> ds.Dataset:
    """The rows of *scan*, in memory."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    check_options(scan)
    tables = list(_tables(scan))
    columns = [(name, arrow_type(kind)) for name, kind in scan.partition_columns.items()]
    first = next((table.schema for _, table in tables if table.num_columns), pa.schema([("value", pa.string())]))
    target = declared_schema(scan) or first
    schema = pa.schema([*target, *columns])
    whole = []
    for texts, table in tables:
        constants = {name: TYPES[kind](texts[name]) for name, kind in scan.partition_columns.items()}
        arrays = [
            pa.array([constants[field.name]] * len(table), field.type)
            if field.name in constants
            else _column(scan, table, field)
            for field in schema
        ]
        whole.append(pa.table(arrays, schema=schema))
    return ds.dataset(pa.concat_tables(whole) if whole else schema.empty_table())


def _tables(scan: ReadRequest) -> Iterator[tuple[dict[str, str], pa.Table]]:
    _, paths = sources(scan)
    texts = [dict(p.values) for p in scan.partitions or () for _ in p.paths] or [{} for _ in paths]
    readers: dict[str, Callable[[Any], pa.Table]] = {
        "text": _lines,
        "json": partial(_json, schema=declared_schema(scan)),
        "avro": _avro,
    }
    read = readers[scan.dataset.format]
    root = scan.root
    for path, values in zip(paths, texts, strict=True):
        damaged = translate_errors(
            partial(scan.named, path), f"read as {scan.dataset.format}", damaged=(ValueError, EOFError)
        )
        with damaged, Path(path).open("rb") if isinstance(root, Path) else root.fs.open(path, "rb") as source:
            table = read(_plain(source, path))
        yield values, table


def _plain(source: Any, path: str) -> Any:
    """*source* as it was before it was compressed, which the ending of its name tells."""
    import pyarrow as pa

    stream = stream_of(path)
    return source if stream is None else pa.CompressedInputStream(source, stream)


def _lines(source: Any) -> pa.Table:
    import pyarrow as pa

    text = source.read().decode()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []
    return pa.table({"value": pa.array(lines, pa.string())})


def _json(source: Any, schema: pa.Schema | None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import json

    content = source.read()
    if not content.strip():
        return pa.table({})
    if schema is None:
        return json.read_json(pa.BufferReader(content))
    # Arrow takes dates for numbers, and knows no text of times.
    texts = pa.schema([pa.field(f.name, pa.string() if pa.types.is_temporal(f.type) else f.type) for f in schema])
    options = json.ParseOptions(explicit_schema=texts, unexpected_field_behavior="ignore")
    table = json.read_json(pa.BufferReader(content), parse_options=options)
    return table.cast(pa.schema([schema.field(name) for name in table.column_names]))


def _avro(source: Any) -> pa.Table:
    import pyarrow as pa

    try:
        from fastavro import reader
    except ImportError as error:
        raise ReaderError(
            "Avro is read by fastavro, which is not installed; expected it (pip install 'airflow-partitions[avro]'), or"
            " as_='spark'"
        ) from error
    try:
        records: Any = reader(source)
        fields = records.writer_schema["fields"]
        rows = list(records)
    except ValueError as error:
        if "you need to install" in str(error):
            raise ReaderError(f"Avro is read by fastavro: {error}; expected that, or as_='spark'") from error
        raise
    return pa.table({f["name"]: pa.array([row[f["name"]] for row in rows], avro_arrow_type(f)) for f in fields})


def _column(scan: ReadRequest, table: pa.Table, field: pa.Field) -> Any:
    """The column *field* of *table*, widened; null where there is none."""
    import pyarrow as pa

    if field.name not in table.column_names:
        return pa.nulls(len(table), field.type)
    column = table[field.name]
    if not fits(column.type, field.type) and not pa.types.is_null(column.type):
        raise SchemaError(
            f"column {field.name!r} is {column.type} in a file, but {field.type} in the schema of {scan.dataset.path!r}"
        )
    return column.cast(field.type)
