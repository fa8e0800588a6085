"""When runs are made, and for which partitions."""

from airflow_partitions.timetables.partitioned import Partitioned

__all__ = ["Partitioned"]
