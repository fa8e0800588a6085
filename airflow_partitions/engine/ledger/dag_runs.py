"""The runs of a Dag for its partitions."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import bindparam, func, select

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.ledger.ledger import materialized_times
from airflow_partitions.engine.ledger.producers import outlets

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

# What the scheduler's MAX_PARTITION_DAG_RUNS_PER_LOOP is.
_PER_LOOP = 500


@attrs.frozen
class RunStatus:
    """Status of the runs of one partition.

    :ivar started: when the newest began, aware; ``None`` if there is none that has.
    :ivar queued: whether one has yet to begin.
    :ivar newest: id of the newest run; 0 if there is none.
    :ivar begun: id of the newest that has begun.
    """

    started: datetime | None = None
    queued: bool = False
    newest: int = 0
    begun: int = 0

    def also(self, number: int, start: datetime | None, *, queued: bool) -> RunStatus:
        """These, and one more run."""
        return RunStatus(
            max(filter(None, (self.started, start)), default=None),
            self.queued or queued,
            max(self.newest, number),
            self.begun if start is None else max(self.begun, number),
        )


def in_flight(assets: Collection[str]) -> dict[str, dict[str, datetime]]:
    """Start of the queued and running runs that produce each of *assets*, by key; of Dags that are not paused."""
    since: dict[str, dict[str, datetime]] = {asset: {} for asset in assets}
    with open_connection() as connection:
        for name, key, start in connection.execute(_in_flight(), {"assets": list(assets)}):
            since[name][str(key)] = start
    return since


@cache
def _in_flight() -> Select[str, str | None, datetime]:
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    began = func.coalesce(DagRun.start_date, DagRun.queued_at, DagRun.run_after)
    return (
        select(AssetModel.name, DagRun.partition_key, func.max(began))
        .join(TaskOutletAssetReference, TaskOutletAssetReference.asset_id == AssetModel.id)
        .join(DagModel, DagModel.dag_id == TaskOutletAssetReference.dag_id)
        .join(DagRun, DagRun.dag_id == TaskOutletAssetReference.dag_id)
        .where(
            AssetModel.name.in_(bindparam("assets", expanding=True)),
            AssetModel.active.has(),
            DagModel.is_paused.is_(False),
            DagRun.state.in_([DagRunState.QUEUED, DagRunState.RUNNING]),
            DagRun.partition_key.is_not(None),
        )
        .group_by(AssetModel.name, DagRun.partition_key)
    )


def run_statuses(dag_id: str, definition: PartitionDefinition, keys: Collection[str]) -> dict[str, RunStatus]:
    """Statuses of a Dag's runs for each of its *keys*; of runs that were purged, by what they materialized.

    :param definition: of the Dag's partitions.
    """
    from airflow.utils.state import DagRunState

    statuses: dict[str, RunStatus] = {}
    with open_connection() as connection:
        for portion in portions(list(keys)):
            for key, number, start, state in connection.execute(_runs(), {"dag_id": dag_id, "keys": portion}):
                status = statuses.get(str(key), RunStatus())
                statuses[str(key)] = status.also(number, start, queued=state == DagRunState.QUEUED)
    without_run: dict[str, Key] = {}
    for text in keys:
        if text not in statuses:
            with suppress(InvalidKeyError):  # of an older definition
                without_run[text] = definition.parse(text)
    for asset in outlets(dag_id) if without_run else ():
        for text, times in materialized_times(asset, definition, without_run).items():
            statuses[text] = statuses.get(text, RunStatus()).also(0, times.last, queued=False)
    return {key: statuses.get(key, RunStatus()) for key in keys}


@cache
def _runs() -> Select[Any]:
    from airflow.models.dagrun import DagRun

    of_keys = DagRun.partition_key.in_(bindparam("keys", expanding=True))
    columns = DagRun.partition_key, DagRun.id, DagRun.start_date, DagRun.state
    return select(*columns).where(DagRun.dag_id == bindparam("dag_id"), of_keys)


def pending_keys(dag_id: str) -> list[str]:
    """Keys of a Dag's pending rows, as many as a loop of the scheduler looks at."""
    with open_connection() as connection:
        return [str(key) for key in connection.scalars(_pending(), {"dag_id": dag_id})]


@cache
def _pending() -> Select[Any]:
    from airflow.models.asset import AssetPartitionDagRun as Row

    return (
        select(Row.partition_key)
        .where(Row.target_dag_id == bindparam("dag_id"), Row.created_dag_run_id.is_(None))
        .order_by(Row.created_at, Row.id)
        .limit(_PER_LOOP)
    )


def run_after_of(asset: str, key: str) -> datetime | None:
    """``run_after`` of the newest running run that makes the partition *key* of *asset*; aware."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    query = (
        select(func.max(DagRun.run_after))
        .join(TaskOutletAssetReference, TaskOutletAssetReference.dag_id == DagRun.dag_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .where(
            AssetModel.name == asset,
            AssetModel.active.has(),
            DagRun.partition_key == key,
            DagRun.state == DagRunState.RUNNING,
        )
    )
    with open_connection() as connection:
        run_after: datetime | None = connection.scalar(query)
        return run_after


def runs_where(
    connection: Connection, runs: Collection[tuple[str, str]], condition: ColumnElement[bool]
) -> set[tuple[str, str]]:
    """Those of *runs*, each by its Dag's id and its own, that are there and meet a *condition*."""
    from airflow.models.dagrun import DagRun

    there: set[tuple[str, str]] = set()
    for portion in portions(sorted(runs)):
        dag_ids, run_ids = ({run[i] for run in portion} for i in (0, 1))
        query = select(DagRun.dag_id, DagRun.run_id).where(
            DagRun.dag_id.in_(dag_ids), DagRun.run_id.in_(run_ids), condition
        )
        there.update((dag_id, run_id) for dag_id, run_id in connection.execute(query))
    return there.intersection(runs)
