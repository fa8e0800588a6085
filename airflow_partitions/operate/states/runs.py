"""The Dag runs that say something of the state of a partition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import and_, bindparam, case, func, literal, or_, select

from airflow_partitions.core.calendars.instants import instant
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.engine.database.connection import MOST_PARAMETERS, open_connection, portions
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.graph.absent_dags import absent_dags
from airflow_partitions.engine.ledger.places import Place, Places
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.operate.state import State

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

_AT_ONCE = 1_000


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

    at_work: dict[Place, State]
    failed: dict[Place, LastRun]
    skipped: dict[Place, LastRun]

    def add(self, place: Place, state: State, run: LastRun) -> None:
        """Take account of a *run* in one of these states."""
        if state in (State.FAILED, State.SKIPPED):
            newest = self.failed if state is State.FAILED else self.skipped
            newest[place] = max(run, newest.get(place, run))
        elif state is State.RUNNING or place not in self.at_work:
            self.at_work[place] = state


@attrs.frozen
class Makers:
    """What makes an asset.

    :ivar places: of its partitions.
    :ivar tasks: the ids of the tasks that write it, by the id of their Dag.
    """

    places: Places
    tasks: Mapping[str, Collection[str]]


def writing_tasks(assets: Collection[str]) -> dict[str, dict[str, list[str]]]:
    """The ids of the tasks that write *assets*, or did before files broke, by asset and by the id of their Dag."""
    tasks: dict[str, dict[str, list[str]]] = {asset: {} for asset in assets}
    with open_connection() as connection:
        for portion in portions(sorted(assets)):
            for asset, dag_id, task_id in connection.execute(_outlets(), {"assets": portion}):
                tasks[asset].setdefault(dag_id, []).append(task_id)
    unmade = {asset for asset, own in tasks.items() if not own}
    for dag in absent_dags().values() if unmade else ():
        for asset, task_ids in dag.work.tasks.items():
            if asset in unmade:
                tasks[asset][dag.dag_id] = list(task_ids)
    return tasks


def read_runs(makers: Mapping[str, Makers]) -> dict[str, Runs]:
    """The runs of the Dags that make assets; those that succeeded otherwise are not read, however many they are.

    :param makers: of each asset, by its name.
    """
    runs = {asset: Runs({}, {}, {}) for asset in makers}
    assets_of = _assets_by_dag(makers)
    with open_connection() as connection:
        for dag_id, row in _unfinished(connection, assets_of):
            for asset in assets_of[dag_id]:
                for place, state, run in _placed(makers[asset].places, row):
                    runs[asset].add(place, State(state), run)
        task_ids = sorted({task_id for each in makers.values() for own in each.tasks.values() for task_id in own})
        for task_id, dag_id, row in _skipped(connection, assets_of, task_ids):
            for asset in assets_of[dag_id]:
                if task_id in makers[asset].tasks[dag_id]:
                    for place, _, run in _placed(makers[asset].places, row):
                        runs[asset].add(place, State.SKIPPED, run)
    return runs


@cache
def _outlets() -> Select[str, str, str]:
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dag import DagModel

    named = AssetModel.name.in_(bindparam("assets", expanding=True))
    return (
        select(AssetModel.name, TaskOutletAssetReference.dag_id, TaskOutletAssetReference.task_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .join(DagModel, DagModel.dag_id == TaskOutletAssetReference.dag_id)
        .where(named, AssetModel.active.has(), DagModel.is_stale.is_(False))
    )


def _unfinished(connection: Connection, dag_ids: Collection[str]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The runs that are at work, or failed, each with its Dag."""
    for portion in portions(sorted(dag_ids)):
        for dag_id, *row in connection.execute(_unfinished_runs(), {"dag_ids": portion}):
            yield dag_id, row


@cache
def _unfinished_runs() -> Select[Any]:
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    # The states by themselves, as Airflow has an index of them by Dag; else all runs of the Dag are looked at.
    has_state = DagRun.state.in_([DagRunState.RUNNING, DagRunState.QUEUED, DagRunState.FAILED])
    # What is cancelled before it begins is failed to Airflow, and has tried nothing.
    has_tried = or_(DagRun.state != DagRunState.FAILED, DagRun.start_date.is_not(None))
    in_batch = and_(BatchMember.run_id == DagRun.id, BatchMember.outcome.is_(None))
    of_dags = DagRun.dag_id.in_(bindparam("dag_ids", expanding=True))
    return (
        select(*_columns(state=_at_work_state()))
        .join(BatchMember, in_batch, isouter=True)
        .where(of_dags, has_state, has_tried, DagRun.partition_key.is_not(None))
    )


def _skipped(
    connection: Connection, dag_ids: Collection[str], task_ids: Sequence[str]
) -> Iterator[tuple[str, str, Sequence[Any]]]:
    """The runs that succeeded while one of these tasks skipped itself, each with that and its Dag."""
    for some_dags, some_tasks in product(portions(sorted(dag_ids), _AT_ONCE), portions(task_ids, _AT_ONCE)):
        values = {"dag_ids": some_dags, "task_ids": some_tasks}
        for task_id, dag_id, *row in connection.execute(_skipping_runs(), values):
            yield task_id, dag_id, row


@cache
def _skipping_runs() -> Select[Any]:
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import DagRunState, TaskInstanceState

    return (
        select(TaskInstance.task_id, *_columns())
        .join(DagRun, and_(DagRun.dag_id == TaskInstance.dag_id, DagRun.run_id == TaskInstance.run_id))
        .where(
            TaskInstance.dag_id.in_(bindparam("dag_ids", expanding=True)),
            TaskInstance.state == TaskInstanceState.SKIPPED,
            is_live(TaskInstance),
            TaskInstance.task_id.in_(bindparam("task_ids", expanding=True)),
            DagRun.state == DagRunState.SUCCESS,
            DagRun.partition_key.is_not(None),
        )
    )


def _at_work_state() -> Any:
    """The state of a run; of one that is queued, and whose partition another one makes just now, that it is running."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    is_being_made = and_(DagRun.state == DagRunState.QUEUED, BatchMember.run_id.is_not(None))
    return case((is_being_made, literal(DagRunState.RUNNING.value)), else_=DagRun.state)


def _columns(state: Any = None) -> tuple[Any, ...]:
    """What is read of a run: its Dag, and then as :func:`_placed` takes it."""
    from airflow.models.dagrun import DagRun

    began = func.coalesce(DagRun.start_date, DagRun.queued_at, DagRun.run_after, type_=DagRun.run_after.type)
    return DagRun.dag_id, DagRun.partition_key, DagRun.state if state is None else state, began, DagRun.id


def succeeded_after(makers: Mapping[str, Makers], runs: Mapping[str, Mapping[Place, LastRun]]) -> dict[str, set[Place]]:
    """Those of the places of *runs*, by asset, that have a newer run which succeeded."""
    failed = {asset: makers[asset] for asset, own in runs.items() if own}
    assets_of = _assets_by_dag(failed)
    texts = sorted({run.key for own in runs.values() for run in own.values()})
    later: dict[str, set[Place]] = {asset: set() for asset in makers}
    with open_connection() as connection:
        for portion in portions(texts, MOST_PARAMETERS - len(assets_of)):
            values = {"dag_ids": list(assets_of), "keys": portion}
            for dag_id, *row in connection.execute(_successful_runs(), values):
                for asset in assets_of[dag_id]:
                    for place, _, run in _placed(makers[asset].places, row):
                        if place in runs[asset] and run > runs[asset][place]:
                            later[asset].add(place)
    return later


@cache
def _successful_runs() -> Select[Any]:
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    return select(*_columns()).where(
        DagRun.dag_id.in_(bindparam("dag_ids", expanding=True)),
        DagRun.state == DagRunState.SUCCESS,
        DagRun.partition_key.in_(bindparam("keys", expanding=True)),
    )


def pending_texts(dag_ids: Collection[str]) -> dict[str, list[str]]:
    """The keys of partitions that events have asked for, and that no run was made for yet, by the id of the Dag."""
    pending: dict[str, list[str]] = {}
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            for dag_id, text in connection.execute(_pending_rows(), {"dag_ids": portion}):
                pending.setdefault(dag_id, []).append(text)
    return pending


@cache
def _pending_rows() -> Select[str, str]:
    from airflow.models.asset import AssetPartitionDagRun as Row

    of_dags = Row.target_dag_id.in_(bindparam("dag_ids", expanding=True))
    return select(Row.target_dag_id, Row.partition_key).where(of_dags, Row.created_dag_run_id.is_(None))


def _assets_by_dag(makers: Mapping[str, Makers]) -> dict[str, list[str]]:
    assets: dict[str, list[str]] = {}
    for asset, each in makers.items():
        for dag_id in each.tasks:
            assets.setdefault(dag_id, []).append(asset)
    return assets


def _placed(places: Places, row: Sequence[Any]) -> Iterator[tuple[Place, str, LastRun]]:
    """A *row* with the place of its key; nothing if that is of an older definition."""
    text, state, began, number = row
    with suppress(InvalidKeyError):
        yield places.read(text), state, LastRun(instant(began), number, text)
