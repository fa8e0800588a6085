"""Storage of partitions: layouts, filters, reading, staging and publishing. No Airflow, no Spark.

Names are loaded when first used: a Dag file only describes its datasets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "Attempt": "metadata.attempt",
    "Avro": "formats",
    "Batch": "consumers.batch",
    "Column": "layout.column",
    "Commit": "commit.commit",
    "Consumer": "consumers.consumer",
    "Csv": "formats",
    "FilePerKey": "layout.file_per_key",
    "Files": "files",
    "Filter": "filters.filter",
    "Iceberg": "iceberg.iceberg_dataset",
    "Json": "formats",
    "Layout": "layout.layout",
    "Maintenance": "policy",
    "Orc": "formats",
    "Ownership": "ownership",
    "Parquet": "formats",
    "ReadRequest": "io.read_request",
    "Reader": "io.reader",
    "Ready": "consumers.ready",
    "Shape": "io.shape",
    "Storage": "storage",
    "StagedFiles": "metadata.staged_files",
    "Text": "formats",
    "WriteRequest": "io.write_request",
    "Writer": "io.writer",
    "clean": "maintenance.cleanup",
    "compact": "maintenance.retention",
    "ddl": "sql.ddl",
    "drop_older": "maintenance.retention",
    "field": "filters.filter",
    "input_filter": "filters.arguments",
    "maintain_table": "maintenance.maintain_table",
    "output_key": "filters.arguments",
    "prune": "filters.pruning",
    "register_reader": "io.registry",
    "register_writer": "io.registry",
    "up_to_bytes": "consumers.batch",
    "write_many": "commit.write_many",
}

__all__ = [
    "Attempt",
    "Avro",
    "Batch",
    "Column",
    "Commit",
    "Consumer",
    "Csv",
    "FilePerKey",
    "Files",
    "Filter",
    "Iceberg",
    "Json",
    "Layout",
    "Maintenance",
    "Orc",
    "Ownership",
    "Parquet",
    "ReadRequest",
    "Reader",
    "Ready",
    "Shape",
    "StagedFiles",
    "Storage",
    "Text",
    "WriteRequest",
    "Writer",
    "clean",
    "compact",
    "ddl",
    "drop_older",
    "field",
    "input_filter",
    "maintain_table",
    "output_key",
    "prune",
    "register_reader",
    "register_writer",
    "up_to_bytes",
    "write_many",
]

if TYPE_CHECKING:
    from airflow_partitions.storage.commit.commit import Commit
    from airflow_partitions.storage.commit.write_many import write_many
    from airflow_partitions.storage.consumers.batch import Batch, up_to_bytes
    from airflow_partitions.storage.consumers.consumer import Consumer
    from airflow_partitions.storage.consumers.ready import Ready
    from airflow_partitions.storage.files import Files
    from airflow_partitions.storage.filters.arguments import input_filter, output_key
    from airflow_partitions.storage.filters.filter import Filter, field
    from airflow_partitions.storage.filters.pruning import prune
    from airflow_partitions.storage.formats import Avro, Csv, Json, Orc, Parquet, Text
    from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
    from airflow_partitions.storage.io.read_request import ReadRequest
    from airflow_partitions.storage.io.reader import Reader
    from airflow_partitions.storage.io.registry import register_reader, register_writer
    from airflow_partitions.storage.io.shape import Shape
    from airflow_partitions.storage.io.write_request import WriteRequest
    from airflow_partitions.storage.io.writer import Writer
    from airflow_partitions.storage.layout.column import Column
    from airflow_partitions.storage.layout.file_per_key import FilePerKey
    from airflow_partitions.storage.layout.layout import Layout
    from airflow_partitions.storage.maintenance.cleanup import clean
    from airflow_partitions.storage.maintenance.maintain_table import maintain_table
    from airflow_partitions.storage.maintenance.retention import compact, drop_older
    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.metadata.staged_files import StagedFiles
    from airflow_partitions.storage.ownership import Ownership
    from airflow_partitions.storage.policy import Maintenance
    from airflow_partitions.storage.sql.ddl import ddl
    from airflow_partitions.storage.storage import Storage


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
