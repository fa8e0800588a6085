"""Columns of a table, and how they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pyiceberg.exceptions import ResolveError
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema, promote
from pyiceberg.table import Table
from pyiceberg.types import IcebergType

from airflow_partitions.core.errors import ConflictError, SchemaError
from airflow_partitions.storage.metadata.arrow_types import arrow_type, spark_type

if TYPE_CHECKING:
    import pyarrow as pa


def spark_columns(schema: Schema) -> dict[str, str]:
    """Column to Spark type; without those that have none."""
    columns = {}
    for field in schema_to_pyarrow(schema, include_field_ids=False):
        try:
            columns[field.name] = spark_type(field.type)
        except SchemaError:  # a time of day, for example
            continue
    return columns


def arrow_schema(columns: Mapping[str, str]) -> pa.Schema:
    """The Arrow schema of columns with Spark's types."""
    import pyarrow as pa

    return pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()])


def merged(table: Table, schemas: Iterable[Schema]) -> Schema | None:
    """The columns of *table* with those that files were written with; ``None`` if these are all there.

    :raises ConflictError: if the table has got other columns in their place meanwhile.
    """
    schema = current = table.metadata.schema()
    for other in schemas:
        if _holds(schema, other):
            continue
        transaction = table.transaction()
        update = transaction.update_schema()
        try:
            update.union_by_name(schema).union_by_name(other).commit()
        except ValueError as error:
            raise _changed(table, str(error)) from error
        schema = transaction.table_metadata.schema()
        if not _holds(schema, other):
            raise _changed(table, f"{', '.join(other.column_names)} have other numbers now")
    return None if schema is current else schema


def _holds(schema: Schema, other: Schema) -> bool:
    """Whether *schema* has all columns of the *other* one, under their numbers, and no narrower."""
    names = set(schema.column_names)
    for name in other.column_names:
        if name not in names:
            return False
        own, field = schema.find_field(name), other.find_field(name)
        if own.field_id != field.field_id:
            return False
        if (
            own.field_type.is_primitive
            and own.field_type != field.field_type
            and not _is_read_as(field.field_type, own.field_type)
        ):
            return False
    return True


def _is_read_as(kind: IcebergType, other: IcebergType) -> bool:
    try:
        promote(kind, other)
    except ResolveError:
        return False
    return True


def _changed(table: Table, reason: str) -> ConflictError:
    return ConflictError(
        f"the columns of table {'.'.join(table.name())!r} have changed since they were written for ({reason}); nothing"
        " was changed: run it again"
    )
