"""Making tables."""

from __future__ import annotations

from collections.abc import Mapping

from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError
from pyiceberg.table import Table
from sqlalchemy.exc import SQLAlchemyError

from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.columns import arrow_schema
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.spec_fit import partition_by_keys
from airflow_partitions.storage.layout.layout import Layout

#: The version of Iceberg's format that pyiceberg writes, and in which commits have numbers.
FORMAT = 2


def make_table(
    reference: TableReference, schema: Mapping[str, str], layout: Layout, columns: Mapping[str, str]
) -> Table:
    """Make a table that is not there, and its namespace, partitioned so that keys never share a file.

    :param schema: column to Spark type.
    :param layout: of the keys.
    :param columns: dimension to column.
    """
    catalog = reference.open()
    with translated_errors(f"table {reference.name!r}", "made"):
        try:
            catalog.create_namespace_if_not_exists(reference.namespace)
        except SQLAlchemyError:  # a SQL catalog has no better word for it
            if not catalog.namespace_exists(reference.namespace):
                raise
        try:
            table = catalog.create_table_transaction(
                reference.name, arrow_schema(schema), properties={"format-version": str(FORMAT)}
            )
            partition_by_keys(table, KeyFilter.of(layout, columns, table.table_metadata.schema()))
            table.commit_transaction()
        except (TableAlreadyExistsError, CommitFailedException):  # another was quicker
            if not catalog.table_exists(reference.name):
                raise
    return reference.load()
