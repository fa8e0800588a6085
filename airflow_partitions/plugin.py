"""What Airflow loads as a plugin."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from airflow_partitions.timetables import Partitioned
from airflow_partitions.timetables.runtime import AddsPartitions
from airflow_partitions.timetables.upstreams import DependencyMapper


class AssetPartitionsPlugin(AirflowPlugin):
    """Registers the timetables with scheduler, Dag processor and API server."""

    name = "asset_partitions"
    partition_mappers = [DependencyMapper]  # noqa: RUF012
    timetables = [Partitioned, AddsPartitions]  # noqa: RUF012 - as Airflow declares it
