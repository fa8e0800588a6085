"""Where partitions are stored: layouts, reading places, staging and publishing. No Airflow, no Spark."""

from airflow_partitions.storage.consuming.batch import Batch, up_to_bytes
from airflow_partitions.storage.consuming.consumer import Consumer
from airflow_partitions.storage.consuming.readiness import Ready
from airflow_partitions.storage.contents.attempt import Attempt
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.layouts.column import Column
from airflow_partitions.storage.layouts.layout import Layout
from airflow_partitions.storage.maintaining.maintenance import compact, drop_older
from airflow_partitions.storage.parquet import Avro, Csv, Json, Orc, Parquet, Text
from airflow_partitions.storage.publishing.cleaning import clean
from airflow_partitions.storage.publishing.commit import Commit
from airflow_partitions.storage.publishing.tables import commit_tables
from airflow_partitions.storage.reading.readers import Reader, register_reader
from airflow_partitions.storage.reading.scan import Scan
from airflow_partitions.storage.selecting.filters import Filter, field

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
    "Reader",
    "Ready",
    "Scan",
    "Text",
    "clean",
    "commit_tables",
    "compact",
    "drop_older",
    "field",
    "register_reader",
    "up_to_bytes",
]
