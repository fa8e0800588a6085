"""Check of the installation: what this machine and this Airflow lack, or how they are set up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow_partitions.core.errors import MissingSparkError
from airflow_partitions.spark.java import JAVA, java_version

#: What no notes can be about.
UNSEEN = (
    "Not looked at: airflow-partitions in API servers, triggerers and workers, which leave no trace of it in Airflow's"
    " database. GET /api/v2/plugins of an API server lists asset_partitions where it is there."
)
#: A scheduler without a heartbeat for so long is not alive, as Airflow has it.
_ALIVE = timedelta(seconds=30)
#: A scheduler that works makes a run that is due long before.
_PATIENCE = timedelta(minutes=5)
#: Below so many seconds in the queue of the LocalExecutor a backlog of partitions begins to fail.
_QUEUED = 3600


def notes(paths: Mapping[str, str], *, spark: bool) -> Iterator[str]:
    """What is worth to know of this installation, each as a sentence; none if all is well.

    :param paths: where assets are stored, by their names.
    :param spark: whether there are Spark assets.
    """
    yield from _plugin()
    yield from _scheduler()
    yield from _upkeep()
    yield from _executor()
    if spark:
        yield from _spark()
    for name, path in sorted(paths.items()):
        yield from _storage(name, path)


def _plugin() -> Iterator[str]:
    from airflow import plugins_manager
    from airflow.models.errors import ParseImportError
    from sqlalchemy import func, select

    from airflow_partitions.engine.database.connection import open_session

    plugins, errors = plugins_manager.get_plugin_info(), plugins_manager.get_import_errors()
    if not any(plugin["name"] == "asset_partitions" for plugin in plugins):
        reason = "; ".join(f"{name}: {error}" for name, error in errors.items()) or "it is not among them"
        yield f"the plugin asset_partitions is not loaded here ({reason}), so this process can't read partitioned Dags"
    missing = ParseImportError.stacktrace.contains("No module named 'airflow_partitions'")
    with open_session() as session:
        files = session.scalar(select(func.count()).select_from(ParseImportError).where(missing))
    if files:
        yield (
            f"the Dag processor has no airflow-partitions ({files} of its import errors say so); install it in the"
            " environment of every process: API server, scheduler, Dag processor, triggerer and workers"
        )


def _scheduler() -> Iterator[str]:
    """A scheduler without the package reads no partitioned Dag, so it makes no run of one, and all else goes on."""
    from airflow.jobs.job import Job
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from sqlalchemy import select

    from airflow_partitions.engine.database.connection import open_session
    from airflow_partitions.engine.ledger.scheduling_state import is_active

    now = datetime.now(UTC)
    alive = (Job.job_type == "SchedulerJob", Job.state == "running", Job.latest_heartbeat > now - _ALIVE)
    due = (
        select(DagModel.dag_id)
        .where(
            DagModel.timetable_type.startswith("airflow_partitions.", autoescape=True),
            is_active(),
            DagModel.is_stale.is_(False),
            DagModel.has_import_errors.is_(False),
            DagModel.exceeds_max_non_backfill.is_(False),
            DagModel.next_dagrun_create_after < now - _PATIENCE,
            ~select(DagRun.id).where(DagRun.dag_id == DagModel.dag_id, DagRun.queued_at > now - _PATIENCE).exists(),
        )
        .order_by(DagModel.dag_id)
    )
    with open_session() as session:
        watched = session.scalar(select(Job.id).where(*alive, Job.start_date < now - _PATIENCE).limit(1)) is not None
        dags = session.scalars(due).all() if watched else []
    if dags:
        yield (
            f"the scheduler is alive, and makes no run of Dag {dags[0]!r}{' and others' if dags[1:] else ''}, which has"
            f" been due for {_PATIENCE.seconds // 60} minutes; install airflow-partitions in its environment, or see"
            " its log"
        )


def _upkeep() -> Iterator[str]:
    from airflow_partitions.operate.upkeep.leader import leader

    if leader() is None:
        yield (
            "no upkeep process is alive: nothing is lost, but what came while a Dag was paused waits until one runs;"
            " start 'airflow asset-partitions upkeep --loop' beside the scheduler, or run it by cron without --loop"
        )


def _executor() -> Iterator[str]:
    from airflow.sdk.configuration import conf

    executor, queued = conf.get("core", "executor"), conf.getfloat("scheduler", "task_queued_timeout")
    if "LocalExecutor" in executor and queued < _QUEUED:
        yield (
            f"[scheduler] task_queued_timeout is {queued:.0f} seconds: with the LocalExecutor a task that waits longer"
            " for a worker fails, as in a backfill of many partitions; 86400 is a safe value"
        )


def _spark() -> Iterator[str]:
    from airflow.models.connection import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    from airflow_partitions.spark.connection import DEFAULT_CONNECTION
    from airflow_partitions.spark.installed import check_installed

    try:
        Connection.get_connection_from_secrets(DEFAULT_CONNECTION)
    except AirflowNotFoundException:
        yield (
            f"there is no connection {DEFAULT_CONNECTION!r}: Spark assets that name no other one run on the machine of"
            " their task, on two threads"
        )
    try:
        check_installed()
    except MissingSparkError as error:
        yield f"{error}; needed where tasks run"
    version = java_version()
    if version not in JAVA:
        kind = "no Java" if version is None else f"Java {version}"
        yield f"there is {kind} on this machine; Spark needs Java {' or '.join(map(str, JAVA))} where tasks run"


def _storage(name: str, path: str) -> Iterator[str]:
    if "://" in path:  # an object store: only those who have its credentials can tell
        return
    folder = Path(path)
    try:
        while not folder.exists():
            folder = folder.parent
        is_folder = folder.is_dir()
    except OSError as error:
        yield f"the storage of asset {name!r}, {path}, can't be looked at here: {error}"
        return
    if not is_folder or not os.access(folder, os.W_OK | os.X_OK):
        yield f"the storage of asset {name!r}, {path}, can't be written here: {folder} is no folder of this user's"
