"""The plugin that Airflow loads."""

from __future__ import annotations

from airflow import __version__ as airflow_version
from airflow.plugins_manager import AirflowPlugin
from airflow.sdk.serde import allow_class

from airflow_partitions.api.mount import Mount
from airflow_partitions.deadlines import PartitionDeadline
from airflow_partitions.keys import Interval, ProductKey, Segment
from airflow_partitions.operations.partition_link import PartitionLink
from airflow_partitions.operations.rest import URL_PREFIX
from airflow_partitions.partition import Partition
from airflow_partitions.requests import stop_at_failure
from airflow_partitions.runs import failure, mailbox, run_note
from airflow_partitions.runs.run_partition import RunPartition
from airflow_partitions.timetables import Partitioned
from airflow_partitions.timetables.mapper import DependencyMapper
from airflow_partitions.timetables.runtime_timetables import (
    AssetTriggeredRuntimeTimetable,
    PartitionTriggeredRuntimeTimetable,
    RuntimePartitionTimetable,
)
from airflow_partitions.view.apps import react_apps


class AssetPartitionsPlugin(AirflowPlugin):
    """Registers REST, the view, timetables and listeners with scheduler, Dag processor and API server."""

    name = "asset_partitions"
    fastapi_apps = [{"app": Mount(), "url_prefix": URL_PREFIX, "name": "asset partitions"}]  # noqa: RUF012
    react_apps = react_apps(URL_PREFIX, airflow_version)
    listeners = [run_note, mailbox, failure, stop_at_failure]  # noqa: RUF012
    global_operator_extra_links = [PartitionLink()]  # noqa: RUF012
    deadline_references = [PartitionDeadline]  # noqa: RUF012
    partition_mappers = [DependencyMapper]  # noqa: RUF012
    timetables = [  # noqa: RUF012 - as Airflow declares it
        Partitioned,
        RuntimePartitionTimetable,
        AssetTriggeredRuntimeTimetable,
        PartitionTriggeredRuntimeTimetable,
    ]


# Every task loads the plugins before it reads an XCom.
for kind in (Partition, RunPartition, Interval, ProductKey, Segment):
    allow_class(kind)
