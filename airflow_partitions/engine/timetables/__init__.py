"""Timetables: the runs of a Dag, and the partition of each."""

from airflow_partitions.engine.timetables.partitioned import Partitioned

__all__ = ["Partitioned"]
