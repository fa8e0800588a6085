"""Files of each format, written from tables of Arrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import WriterError
from airflow_partitions.storage.io import compression
from airflow_partitions.storage.io.avro_types import avro_type
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.arrow_types import spark_type

if TYPE_CHECKING:
    import pyarrow as pa

#: The first day of the Gregorian calendar: of days before, readers of ORC have two calendars.
_GREGORIAN = date(1582, 10, 15)
_TRUE = (True, "true", "True")
#: Options that say what is done here anyway.
_USUAL = {
    "csv": [("quote", '"'), ("escape", '"'), ("nullValue", ""), ("encoding", "utf8"), ("mode", "FAILFAST")],
    "json": [("mode", "FAILFAST")],
}


def write_file(table: pa.Table, request: WriteRequest) -> None:
    """Write *table* as one file in the folder of *request*, by the format and options of its dataset.

    :raises WriterError: if the format can't hold it, or an option is not known here.
    """
    import pyarrow as pa

    format_ = request.dataset.format
    arguments, stream, ending = _arguments(request)
    try:
        with (request.folder / f"part-0.{format_}{ending}").open("wb") as file:
            if stream is None:
                _WRITERS[format_](table, file, **arguments)
            else:
                with pa.CompressedOutputStream(file, stream) as out:
                    _WRITERS[format_](table, out, **arguments)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, TypeError) as error:
        shown = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise WriterError(f"{request.dataset.path!r}: {format_} can't hold {shown}: {error}") from error


def _arguments(request: WriteRequest) -> tuple[dict[str, Any], str | None, str]:
    """What the options of the dataset mean here: arguments, compression of the file as a whole, ending of its name."""
    format_ = request.dataset.format
    options = {
        option: value for option, value in request.options.items() if (option, value) not in _USUAL.get(format_, ())
    }
    arguments: dict[str, Any] = {}
    name = str(options.pop("compression", "")).lower()
    if format_ == "csv":
        arguments["separator"] = str(options.pop("sep", options.pop("delimiter", ",")))
        arguments["header"] = options.pop("header", False) in _TRUE
        arguments["multi_line"] = options.pop("multiLine", False) in _TRUE
    if options:
        raise WriterError(f"option {next(iter(options))!r} of {format_!r} is known to Spark alone")
    if format_ not in compression.FORMATS:
        return {"codec": name}, None, ""
    if name in ("", *compression.UNCOMPRESSED):
        return arguments, None, ""
    if name not in compression.STREAMS:
        raise WriterError(
            f"compression {name!r} of {format_!r} is known to Spark alone; expected one of none,"
            f" {', '.join(compression.STREAMS)}"
        )
    return arguments, *compression.STREAMS[name]


def _parquet(table: pa.Table, out: Any, *, codec: str) -> None:
    import pyarrow.parquet as parquet

    names = {"": "snappy", "uncompressed": "none", "lz4_raw": "lz4"}
    parquet.write_table(table, out, compression=names.get(codec, codec))


def _orc(table: pa.Table, out: Any, *, codec: str) -> None:
    from pyarrow import orc

    for name, column in zip(table.column_names, table.columns, strict=True):
        for values in column.chunks:
            _check_orc(name, values)
    orc.write_table(table, out, compression={"": "uncompressed", "none": "uncompressed"}.get(codec, codec))


def _check_orc(name: str, values: pa.Array) -> None:
    """Refuse *values* of the column *name*, and what is in them, that Spark can't read as the same values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_timestamp(kind):
        raise TypeError(f"Spark can't read column {name!r} as Arrow writes it; expected Spark to write it")
    if pa.types.is_date(kind):
        first = pc.min(values).as_py()
        if first is not None and first < _GREGORIAN:
            raise TypeError(
                f"column {name!r} has the date {first}, and Spark reads dates before {_GREGORIAN} in ORC by another"
                " calendar than Arrow writes them; expected later dates, or another format such as Parquet"
            )
    elif pa.types.is_struct(kind):
        for part in values.flatten():
            _check_orc(name, part)
    elif pa.types.is_map(kind):
        _check_orc(name, values.keys)
        _check_orc(name, values.items)
    elif pa.types.is_nested(kind):
        _check_orc(name, pc.list_flatten(values))


def _csv(table: pa.Table, out: Any, *, separator: str, header: bool, multi_line: bool) -> None:
    from pyarrow import csv

    if not multi_line:
        for field in table.schema:
            if spark_type(field.type) == "string":
                _check_lines(table[field.name])
    if table.num_columns == 1 and table.column(0).null_count:
        raise TypeError("a null in the only column is an empty line, which readers leave out")
    csv.write_csv(_with_java_numbers(table), out, csv.WriteOptions(include_header=header, delimiter=separator))


def _with_java_numbers(table: pa.Table) -> pa.Table:
    """*table* with NaN and infinity as Spark calls them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for number, field in enumerate(table.schema):
        column = table.column(number)
        if pa.types.is_floating(field.type) and pc.any(pc.invert(pc.is_finite(column))).as_py():
            names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
            texts = [None if value is None else names.get(str(value), str(value)) for value in column.to_pylist()]
            table = table.set_column(number, field.name, pa.array(texts, pa.string()))
    return table


def _json(table: pa.Table, out: Any) -> None:
    for batch in table.to_batches():
        for row in batch.to_pylist():
            out.write(json.dumps(row, default=_plain, ensure_ascii=False).encode() + b"\n")


def _text(table: pa.Table, out: Any) -> None:
    if table["value"].null_count:
        raise TypeError("null is no line of text")
    _check_lines(table["value"])
    for line in table["value"].to_pylist():
        out.write(line.encode() + b"\n")


def _check_lines(column: pa.ChunkedArray) -> None:
    import pyarrow.compute as pc

    broken = column.filter(pc.match_substring_regex(column, "[\r\n]"))
    if len(broken):
        raise TypeError(f"{broken[0].as_py()!r} is no line of text")


def _avro(table: pa.Table, out: Any, *, codec: str) -> None:
    try:
        from fastavro import parse_schema, writer
    except ImportError as error:
        raise WriterError(
            "Avro is written by fastavro, which is not installed; expected it (pip install 'airflow-partitions[avro]'),"
            " or Spark"
        ) from error
    fields = [{"name": field.name, "type": ["null", avro_type(field)]} for field in table.schema]
    schema = parse_schema({"type": "record", "name": "row", "fields": fields})
    rows = (row for batch in table.to_batches() for row in batch.to_pylist())
    names = {"": "null", "none": "null", "uncompressed": "null"}
    try:
        writer(out, schema, rows, codec=names.get(codec, codec))
    except ValueError as error:
        raise WriterError(f"Avro is written by fastavro: {error}; expected that, or Spark") from error


def _plain(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{value!r} has no form in JSON")


_WRITERS: Mapping[str, Callable[..., None]] = {
    "parquet": _parquet, "orc": _orc, "csv": _csv, "json": _json, "text": _text, "avro": _avro,
}  # fmt: skip
