"""The Dag runs that say something of the state of a partition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

import attrs
from sqlalchemy import and_, func, or_, select

from airflow_partitions.calendars.instants import instant
from airflow_partitions.database.connection import connection, portions
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.history.places import Place, Places
from airflow_partitions.states.state import State


@attrs.frozen(order=True)
class LastRun:
    """The newest run of a partition that is in one of the states below.

    :ivar began: when it began, or was asked for, in microseconds since the epoch.
    :ivar key: text of its key.
    """

    began: int
    number: int
    key: str = attrs.field(default="", eq=False)


@attrs.frozen
class Runs:
    """The runs of an asset's partitions by place, as far as they say something of the state.

    :ivar at_work: RUNNING or QUEUED.
    :ivar failed: the newest that began and failed.
    :ivar skipped: the newest that succeeded, and skipped the task that makes the asset.
    """

    at_work: Mapping[Place, State]
    failed: Mapping[Place, LastRun]
    skipped: Mapping[Place, LastRun]


def writing_tasks(asset: str) -> dict[str, list[str]]:
    """The ids of the tasks that write an active *asset*, by the id of their Dag."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dag import DagModel

    query = (
        select(TaskOutletAssetReference.dag_id, TaskOutletAssetReference.task_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .join(DagModel, DagModel.dag_id == TaskOutletAssetReference.dag_id)
        .where(AssetModel.name == asset, AssetModel.active.has(), DagModel.is_stale.is_(False))
    )
    tasks: dict[str, list[str]] = {}
    with connection() as at:
        for dag_id, task_id in at.execute(query):
            tasks.setdefault(dag_id, []).append(task_id)
    return tasks


def read_runs(places: Places, tasks: Mapping[str, Collection[str]]) -> Runs:
    """The runs of the Dags that make an asset; those that succeeded otherwise are not read, however many they are.

    :param tasks: those that write the asset, by the id of their Dag.
    """
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import DagRunState, TaskInstanceState

    at_work: dict[Place, State] = {}
    failed: dict[Place, LastRun] = {}
    skipped: dict[Place, LastRun] = {}
    began = func.coalesce(DagRun.start_date, DagRun.queued_at, DagRun.run_after, type_=DagRun.run_after.type)
    columns = DagRun.partition_key, DagRun.state, began, DagRun.id
    with connection() as at:
        for dag_ids in portions(list(tasks)):
            of_dags = select(*columns).where(DagRun.dag_id.in_(dag_ids), DagRun.partition_key.is_not(None))
            # What is cancelled before it begins is failed to Airflow, and has tried nothing.
            has_failed = and_(DagRun.state == DagRunState.FAILED, DagRun.start_date.is_not(None))
            unfinished = of_dags.where(or_(DagRun.state.in_([DagRunState.RUNNING, DagRunState.QUEUED]), has_failed))
            for place, state, run in _placed(places, at.execute(unfinished)):
                if state == DagRunState.FAILED:
                    failed[place] = max(run, failed.get(place, run))
                elif state == DagRunState.RUNNING or place not in at_work:
                    at_work[place] = State(state)
        for dag_id, task_ids in tasks.items():
            instances = (
                select(TaskInstance.run_id)
                .where(
                    TaskInstance.dag_id == dag_id,
                    TaskInstance.state == TaskInstanceState.SKIPPED,
                    TaskInstance.task_id.in_(task_ids),
                )
                .distinct()
            )
            query = select(*columns).where(
                DagRun.dag_id == dag_id,
                DagRun.state == DagRunState.SUCCESS,
                DagRun.run_id.in_(instances),
                DagRun.partition_key.is_not(None),
            )
            for place, _, run in _placed(places, at.execute(query)):
                skipped[place] = max(run, skipped.get(place, run))
    return Runs(at_work, failed, skipped)


def succeeded_after(places: Places, dag_ids: Collection[str], runs: Mapping[Place, LastRun]) -> set[Place]:
    """Those of the places of *runs* that have a newer run which succeeded."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    texts = [run.key for run in runs.values()]
    began = func.coalesce(DagRun.start_date, DagRun.queued_at, DagRun.run_after, type_=DagRun.run_after.type)
    later: set[Place] = set()
    with connection() as at:
        for portion in portions(texts):
            query = select(DagRun.partition_key, DagRun.state, began, DagRun.id).where(
                DagRun.dag_id.in_(dag_ids), DagRun.state == DagRunState.SUCCESS, DagRun.partition_key.in_(portion)
            )
            later.update(place for place, _, run in _placed(places, at.execute(query)) if run > runs[place])
    return later


def pending_places(places: Places, dag_ids: Collection[str]) -> set[Place]:
    """The places of partitions that events have asked for, and that no run was made for yet."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    query = select(Row.partition_key).where(Row.target_dag_id.in_(dag_ids), Row.created_dag_run_id.is_(None))
    pending: set[Place] = set()
    with connection() as at:
        for text in at.scalars(query):
            try:
                pending.add(places.read(text))
            except InvalidKeyError:
                continue
    return pending


def _placed(places: Places, rows: Iterable[tuple[str, str, datetime, int]]) -> Iterable[tuple[Place, str, LastRun]]:
    """*rows* with the places of their keys; those of an older definition are left out."""
    for text, state, began, number in rows:
        try:
            place = places.read(text)
        except InvalidKeyError:
            continue
        yield place, state, LastRun(instant(began), number, text)
