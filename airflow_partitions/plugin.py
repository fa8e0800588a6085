"""The plugin that Airflow loads."""

from __future__ import annotations

import sys
from importlib import import_module

from airflow import __version__ as airflow_version
from airflow.plugins_manager import AirflowPlugin
from airflow.sdk.serde import allow_class

from airflow_partitions.authoring.deadline import PartitionDeadline
from airflow_partitions.core.keys import Interval, ProductKey, Segment
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.batches import run_changes
from airflow_partitions.engine.limits import limited_runs
from airflow_partitions.engine.runs import failure, made_by_hand, mailbox, run_note, task_error
from airflow_partitions.engine.runs.run_partition import RunPartition
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.mapper import DependencyMapper
from airflow_partitions.engine.timetables.runtime_timetables import (
    AssetTriggeredRuntimeTimetable,
    PartitionTriggeredRuntimeTimetable,
    RuntimePartitionTimetable,
)
from airflow_partitions.operate.partition_link import PartitionLink
from airflow_partitions.operate.requests import stop_at_failure
from airflow_partitions.operate.rest.mount import LineBreaks, Mount
from airflow_partitions.operate.urls import URL_PREFIX
from airflow_partitions.view.apps import BUNDLES, BUNDLES_PREFIX, react_apps


class AssetPartitionsPlugin(AirflowPlugin):
    """Registers REST, the view, timetables and listeners with scheduler, Dag processor and API server."""

    name = "asset_partitions"
    fastapi_apps = [{"app": Mount(BUNDLES, BUNDLES_PREFIX), "url_prefix": URL_PREFIX, "name": "asset partitions"}]  # noqa: RUF012
    fastapi_root_middlewares = [{"middleware": LineBreaks, "name": "line breaks in paths"}]  # noqa: RUF012
    react_apps = react_apps(URL_PREFIX, airflow_version)
    listeners = [  # noqa: RUF012
        run_note, mailbox, made_by_hand, failure, task_error, run_changes, limited_runs, stop_at_failure,
    ]  # fmt: skip
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

# Each task, and each parsing of a Dag file, is a fork of one of these, and finds loaded there what Dag files import.
if sys.argv[1:2] in (["scheduler"], ["dag-processor"]) or sys.argv[1:3] == ["celery", "worker"]:
    import_module("airflow_partitions.authoring.assets")
