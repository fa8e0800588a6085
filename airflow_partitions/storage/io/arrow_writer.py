"""Writing frames without Spark, by way of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_partitions.errors import ForeignRowsError, ResultError, SchemaError
from airflow_partitions.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.file_writers import write_file
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.layout.column import TYPES
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
        name = request.name_of(key)
        try:
            table = self._table(frame, request.dataset)
        except (ValueError, TypeError, NotImplementedError) as error:  # a name twice, several types in a column
            raise ResultError(f"{name}: {error}; expected columns of different names, each of one type") from error
        check_names(table.column_names, name)
        table = self._own(table, key, request)
        schema = _schema(table, request.dataset, key)
        request.check(schema, name)
        try:
            cast = table.select(list(schema)).cast(_arrow_schema(schema))
        except ValueError as error:  # a value that its type can't hold
            raise SchemaError(f"{name}: {error}; expected values that fit {schema}") from error
        return StagedFiles(cast.num_rows, self._save(cast, request), schema)

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
        if foreign := _foreign(table[name], dataset.layout.columns[own].type, texts[own]):
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


def _foreign(column: Any, kind: str, text: str) -> list[Any]:
    """Values of *column* that are not what *text* says."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        same = pc.equal(column.cast(arrow_type(kind)), pa.scalar(TYPES[kind](text), arrow_type(kind)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # of another type altogether
        return list(column.unique().to_pylist())
    return list(column.filter(pc.invert(pc.fill_null(same, fill_value=False))).to_pylist())


def _schema(table: pa.Table, dataset: Dataset, key: Key) -> dict[str, str]:
    """Column to Spark type: the declared one where a column can be widened to it, or holds only nulls."""
    import pyarrow as pa

    declared = dict(dataset.schema or ())
    schema = {}
    for field in table.schema:
        kind = declared.get(field.name)
        wider = kind is not None and (pa.types.is_null(field.type) or fits(field.type, arrow_type(kind)))
        try:
            schema[field.name] = kind if wider and kind is not None else spark_type(field.type)
        except SchemaError as error:
            raise SchemaError(f"partition {str(key)!r}: column {field.name!r}: {error}") from None
    return {name: schema[name] for name in {**declared, **schema} if name in schema}


def _arrow_schema(schema: dict[str, str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, arrow_type(kind)) for name, kind in schema.items()])
