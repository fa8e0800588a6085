"""Where partitions are stored: layouts, reading places, staging and publishing. No Airflow, no Spark."""

from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.consumers.batch import Batch, up_to_bytes
from airflow_partitions.storage.consumers.consumer import Consumer
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.filters.filter import Filter, field
from airflow_partitions.storage.formats import Avro, Csv, Json, Orc, Parquet, Text
from airflow_partitions.storage.io import Reader, register_reader
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.maintenance.retention import compact, drop_older
from airflow_partitions.storage.metadata.attempt import Attempt

__all__ = [
    "Attempt",
    "Avro",
    "Batch",
    "Column",
    "Commit",
    "Consumer",
    "Csv",
    "Files",
    "Filter",
    "Json",
    "Layout",
    "Orc",
    "Parquet",
    "ReadRequest",
    "Reader",
    "Ready",
    "Text",
    "clean",
    "compact",
    "drop_older",
    "field",
    "register_reader",
    "up_to_bytes",
]
