"""The local loop: make one partition in this process, in a scratch place, without Airflow running."""

from airflow_partitions.authoring.local.trial import Trial, try_partition

__all__ = ["Trial", "try_partition"]
