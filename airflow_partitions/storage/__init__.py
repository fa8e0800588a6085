"""Where partitions are stored: layouts, reading places, staging and publishing. No Airflow, no Spark."""

from airflow_partitions.storage.layout import Column, Layout
from airflow_partitions.storage.parquet import Parquet

__all__ = ["Column", "Layout", "Parquet"]
