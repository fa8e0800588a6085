"""Writing frames without Spark, by way of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.errors import ForeignRowsError, ResultError, SchemaError, WriterError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.file_writers import write_file
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.layout.column import TYPES, Column
from airflow_partitions.storage.layout.escape import NULL_NAME, escape
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits, spark_type
from airflow_partitions.storage.metadata.schema import check_names
from airflow_partitions.storage.metadata.staged_files import StagedFiles, readable_files

if TYPE_CHECKING:
    import pyarrow as pa


FORMATS = ("parquet", "orc", "csv", "json", "text", "avro")


class ArrowWriter(Writer):
    """Writes tables and batches of Arrow, each partition as one file."""

    frame = "arrow"
    formats: ClassVar[tuple[str, ...]] = FORMATS

    def write(self, frame: Any, key: Key, request: WriteRequest) -> StagedFiles:
        return self._write(self._named(frame, request, request.name_of(key)), key, request)

    def write_many(self, frame: Any, request: WriteRequest, shape: Shape) -> Mapping[Key, StagedFiles]:
        check_shape(shape)
        table = self._named(frame, request, repr(request.dataset.path))
        staged = {}
        for key, own in _by_key(table, request).items():
            folder = request.folder / request.dataset.layout.directory_of(key)
            if isinstance(folder, Path):
                folder.mkdir(parents=True, exist_ok=True)
            staged[key] = self._write(own, key, attrs.evolve(request, folder=folder))
        return staged

    def _write(self, table: pa.Table, key: Key, request: WriteRequest) -> StagedFiles:
        cast, schema = self._cast(self._own(table, key, request), request, request.name_of(key))
        return StagedFiles(cast.num_rows, self._save(cast, request), schema)

    def _named(self, frame: Any, request: WriteRequest, name: str) -> pa.Table:
        """*frame* as a table, each of whose columns has a name of its own."""
        try:
            table = self._table(frame, request.dataset)
        except (ValueError, TypeError, NotImplementedError) as error:  # a name twice, several types in a column
            raise ResultError(f"{name}: {error}; expected columns of different names, each of one type") from error
        check_names(table.column_names, name)
        return table

    def _cast(self, table: pa.Table, request: WriteRequest, name: str) -> tuple[pa.Table, dict[str, str]]:
        """*table* with the types that the dataset declares, and these in Spark's words."""
        schema = schema_of_rows(table.schema, request.dataset, name)
        request.check(schema, name)
        try:
            return table.select(list(schema)).cast(_arrow_schema(schema)), schema
        except ValueError as error:  # a value that its type can't hold
            raise SchemaError(f"{name}: {error}; expected values that fit {schema}") from error

    def _table(self, frame: Any, dataset: Dataset) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame

    def _own(self, table: pa.Table, key: Key, request: WriteRequest) -> pa.Table:
        """*table* with the columns that are written."""
        return _own(table, request.dataset, key)

    def _save(self, table: pa.Table, request: WriteRequest) -> Mapping[str, int]:
        """Write *table*.

        :return: the files, with their sizes.
        """
        write_file(table, request)
        return readable_files(request.folder)


class PandasWriter(ArrowWriter):
    """Writes DataFrames of pandas."""

    frame = "pandas"

    def _table(self, frame: Any, dataset: Dataset) -> pa.Table:
        import pyarrow as pa

        named = any(name is not None for name in frame.index.names)
        table = pa.Table.from_pandas(frame.reset_index() if named else frame, preserve_index=False)
        return _as_declared(table, dict(dataset.schema or ()))


class PolarsWriter(ArrowWriter):
    """Writes DataFrames of polars, lazy ones too."""

    frame = "polars"

    def _table(self, frame: Any, dataset: Dataset) -> pa.Table:
        return (frame.collect() if hasattr(frame, "collect") else frame).to_arrow()


def check_shape(shape: Shape) -> None:
    """Refuse a *shape* that takes Spark.

    :raises WriterError: if so.
    """
    if shape.bucket_by or shape.sort_by or shape.target_file_size is not None:
        raise WriterError(
            "bucket_by=, sort_by= and target_file_size= are for DataFrames of Spark; expected a frame that is sorted,"
            " each of whose partitions becomes one file"
        )


def grouped(table: pa.Table, by: pa.Table) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """The rows of *table* for which the rows of *by* are the same: with these values, in the order of *table*."""
    import numpy as np
    import pyarrow as pa

    numbered = by.append_column("", pa.array(np.arange(by.num_rows)))
    groups = numbered.group_by(by.column_names, use_threads=False).aggregate([("", "list")])
    for number, values in enumerate(groups.select(by.column_names).to_pylist()):
        yield values, table.take(groups["_list"][number].values)


def _by_key(table: pa.Table, request: WriteRequest) -> dict[Key, pa.Table]:
    """The rows of *table* by the partition that their own values name."""
    import pyarrow as pa

    columns, names = request.dataset.layout.columns, {name.lower(): name for name in table.column_names}
    if missing := [name for name in columns if name.lower() not in names]:
        raise ResultError(
            f"the frame has no column {', '.join(map(repr, missing))}; expected the partition columns of"
            f" {request.dataset.path!r}: {', '.join(columns)}"
        )
    try:
        values = pa.table({name: table[names[name.lower()]].cast(_kind(columns[name])) for name in columns})
    except ValueError as error:
        raise SchemaError(f"{request.dataset.path!r}: partition columns can't be read: {error}") from error
    keys: dict[Key, pa.Table] = {}
    for group, rows in grouped(table, values):
        texts = {name: _text(group[name], column) for name, column in columns.items()}
        key = request.key_of("/".join(f"{escape(name)}={escape(text)}" for name, text in texts.items()))
        keys[key] = rows
    return keys


def _kind(column: Column) -> pa.DataType:
    return arrow_type(column.type)


def _text(value: Any, column: Column) -> str:
    return NULL_NAME if value is None or value == "" else str(value).zfill(column.digits)


def _as_declared(table: pa.Table, declared: dict[str, str]) -> pa.Table:
    """*table* of pandas without the floats that null alone has made: of whole numbers, and of nothing but nulls."""
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if field.name not in declared or not pa.types.is_floating(field.type):
            continue
        column, kind = table[field.name], arrow_type(declared[field.name])
        if column.null_count == len(column):
            table = table.set_column(number, field.name, pa.nulls(len(column), kind))
        elif pa.types.is_integer(kind):
            with suppress(pa.ArrowInvalid):  # they are no whole numbers: the schema is checked later
                table = table.set_column(number, field.name, column.cast(kind))
    return table


def _own(table: pa.Table, dataset: Dataset, key: Key) -> pa.Table:
    """*table* without its partition columns, all of whose values are those of *key*."""
    columns = {name.lower(): name for name in dataset.layout.columns}
    texts = dataset.layout.values_of(key)
    partition_columns = [name for name in table.column_names if name.lower() in columns]
    for name in partition_columns:
        own = columns[name.lower()]
        if foreign := foreign_values(table[name], dataset.layout.columns[own].type, texts[own]):
            raise ForeignRowsError(
                f"partition {str(key)!r} of {dataset.path!r}: {len(foreign)} rows belong elsewhere, for example"
                f" {name}={foreign[0]}; expected only rows of the partition: filter them, or drop the column"
            )
    kept = table.drop_columns(partition_columns)
    if not kept.column_names:
        raise ResultError(
            f"partition {str(key)!r}: there are only partition columns {partition_columns}; expected others too"
        )
    return kept


def foreign_values(column: Any, kind: str, text: str) -> list[Any]:
    """Values of *column* that are not what *text* says."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        same = pc.equal(column.cast(arrow_type(kind)), pa.scalar(TYPES[kind](text), arrow_type(kind)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # of another type altogether
        return list(column.unique().to_pylist())
    return list(column.filter(pc.invert(pc.fill_null(same, fill_value=False))).to_pylist())


def schema_of_rows(columns: pa.Schema, dataset: Dataset, name: str) -> dict[str, str]:
    """Column to Spark type: the declared one where a column can be widened to it, or holds only nulls.

    :param columns: of the rows, without those of folders.
    :param name: what they are of, for messages.
    :raises SchemaError: if Spark has no such type.
    """
    import pyarrow as pa

    declared = dict(dataset.schema or ())
    schema = {}
    for field in columns:
        kind = declared.get(field.name)
        wider = kind is not None and (pa.types.is_null(field.type) or fits(field.type, arrow_type(kind)))
        try:
            schema[field.name] = kind if wider and kind is not None else spark_type(field.type)
        except SchemaError as error:
            raise SchemaError(f"{name}: column {field.name!r}: {error}") from None
    return {name: schema[name] for name in {**declared, **schema} if name in schema}


def _arrow_schema(schema: dict[str, str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, arrow_type(kind)) for name, kind in schema.items()])
