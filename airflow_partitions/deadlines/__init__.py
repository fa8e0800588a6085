"""Deadlines of partitions: which are late, and Airflow's alerts for them."""

from __future__ import annotations

from airflow_partitions.deadlines.reference import PartitionDeadline

__all__ = ["PartitionDeadline"]
