"""The Spark side: what runs on a driver, and the operator that submits it."""

from airflow_partitions.spark.job import Job, job

__all__ = ["Job", "job"]
