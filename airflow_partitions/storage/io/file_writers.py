"""Writing tables of Arrow as files of each format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, time
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow_partitions.errors import WriterError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.metadata.arrow_types import spark_type

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_partitions.storage.filesystem.filesystem import Location

_TRUE = (True, "true", "True")
#: Options of CSV files that say what is done here anyway.
_USUAL = {"quote": '"', "nullValue": "", "encoding": "utf8", "mode": "FAILFAST"}
_AVRO = {
    "tinyint": "int", "smallint": "int", "int": "int", "bigint": "long", "float": "float", "double": "double",
    "string": "string", "binary": "bytes", "boolean": "boolean", "date": ("int", "date"),
    "timestamp": ("long", "timestamp-micros"), "timestamp_ntz": ("long", "local-timestamp-micros"),
}  # fmt: skip


def write_file(table: pa.Table, folder: Location, files: Dataset) -> None:
    """Write *table* as one file in *folder*, by the format and options of *files*.

    :raises WriterError: if the format can't hold it, or an option is not known here.
    """
    import pyarrow as pa

    write = _WRITERS.get(files.format)
    options = {name: value for name, value in files.options if name != "credentials"}
    if files.format == "csv":
        write = partial(_csv, header=options.pop("header", False) in _TRUE, separator=_separator(options))
        options = {name: value for name, value in options.items() if _USUAL.get(name) != value}
    if write is None:
        raise WriterError(f"format {files.format!r} is not written here; expected one of csv, {', '.join(_WRITERS)}")
    if options:
        raise WriterError(f"option {next(iter(options))!r} of {files.format!r} is known to Spark alone")
    try:
        with (folder / f"part-0.{files.format}").open("wb") as out:
            write(table, out)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, TypeError) as error:
        shown = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise WriterError(f"{files.path!r}: {files.format} can't hold {shown}: {error}") from error


def _separator(options: dict[str, Any]) -> str:
    return str(options.pop("sep", options.pop("delimiter", ",")))


def _parquet(table: pa.Table, out: Any) -> None:
    import pyarrow.parquet as parquet

    parquet.write_table(table, out)


def _orc(table: pa.Table, out: Any) -> None:
    from pyarrow import orc

    orc.write_table(table, out)


def _csv(table: pa.Table, out: Any, *, header: bool, separator: str) -> None:
    from pyarrow import csv

    csv.write_csv(table, out, csv.WriteOptions(include_header=header, delimiter=separator))


def _json(table: pa.Table, out: Any) -> None:
    for batch in table.to_batches():
        for row in batch.to_pylist():
            out.write(json.dumps(row, default=_plain, ensure_ascii=False).encode() + b"\n")


def _text(table: pa.Table, out: Any) -> None:
    if table.column_names != ["value"]:
        raise TypeError("expected one column 'value'")
    for line in table["value"].to_pylist():
        if not isinstance(line, str) or "\n" in line or "\r" in line:
            raise TypeError(f"{line!r} is no line of text")
        out.write(line.encode() + b"\n")


def _avro(table: pa.Table, out: Any) -> None:
    try:
        from fastavro import parse_schema, writer
    except ImportError as error:
        raise WriterError(
            "Avro is written by fastavro, which is not installed; expected it (pip install 'airflow-partitions[avro]'),"
            " or Spark"
        ) from error
    fields = [{"name": field.name, "type": ["null", _avro_type(field)]} for field in table.schema]
    rows = (row for batch in table.to_batches() for row in batch.to_pylist())
    writer(out, parse_schema({"type": "record", "name": "row", "fields": fields}), rows)


def _avro_type(field: pa.Field) -> Any:
    kind = _AVRO.get(spark_type(field.type))
    if kind is None:
        raise TypeError(f"column {field.name!r} is {field.type}; expected Spark to write it")
    return kind if isinstance(kind, str) else {"type": kind[0], "logicalType": kind[1]}


def _plain(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(f"{value!r} has no form in JSON")


_WRITERS: Mapping[str, Callable[[pa.Table, Any], None]] = {
    "parquet": _parquet, "orc": _orc, "json": _json, "text": _text, "avro": _avro,
}  # fmt: skip
