"""What runs there are of a partition."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.history.database import connection, portions
from airflow_partitions.history.ledger import made
from airflow_partitions.history.producers import outlets
from airflow_partitions.keys import Key

# What the scheduler's MAX_PARTITION_DAG_RUNS_PER_LOOP is.
_PER_LOOP = 500


class Begun(NamedTuple):
    """What is known of the runs of one partition.

    :ivar at: when the newest began, aware; ``None`` if there is none that has.
    :ivar queued: whether one has yet to begin.
    """

    at: datetime | None
    queued: bool

    def also(self, start: datetime | None, *, queued: bool) -> Begun:
        """These, and one more run."""
        return Begun(max(filter(None, (self.at, start)), default=None), self.queued or queued)


_NONE = Begun(None, queued=False)


def in_flight(assets: Collection[str]) -> dict[str, dict[str, datetime]]:
    """For each of the *assets*, keys of the queued and running runs that produce it in Dags that are not paused, and
    since when they are."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    query = (
        select(
            AssetModel.name,
            DagRun.partition_key,
            func.max(func.coalesce(DagRun.start_date, DagRun.queued_at, DagRun.run_after)),
        )
        .join(TaskOutletAssetReference, TaskOutletAssetReference.asset_id == AssetModel.id)
        .join(DagModel, DagModel.dag_id == TaskOutletAssetReference.dag_id)
        .join(DagRun, DagRun.dag_id == TaskOutletAssetReference.dag_id)
        .where(
            AssetModel.name.in_(assets),
            AssetModel.active.has(),
            DagModel.is_paused.is_(False),
            DagRun.state.in_([DagRunState.QUEUED, DagRunState.RUNNING]),
            DagRun.partition_key.is_not(None),
        )
        .group_by(AssetModel.name, DagRun.partition_key)
    )
    found: dict[str, dict[str, datetime]] = {asset: {} for asset in assets}
    with connection() as at:
        for name, key, since in at.execute(query):
            found[name][str(key)] = since
    return found


def begun(dag_id: str, definition: PartitionDefinition, keys: Collection[str]) -> dict[str, Begun]:
    """The runs of a Dag for each of its *keys*; of runs that were purged, what they materialised.

    :param definition: what partitions the Dag makes.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    found: dict[str, Begun] = {}
    with connection() as at:
        for some in portions(list(keys)):
            runs = select(DagRun.partition_key, DagRun.state, DagRun.start_date).where(
                DagRun.dag_id == dag_id, DagRun.partition_key.in_(some)
            )
            for key, state, start in at.execute(runs):
                found[str(key)] = found.get(str(key), _NONE).also(start, queued=state == DagRunState.QUEUED)
    unknown: dict[str, Key] = {}
    for text in keys:
        if text not in found:
            with suppress(InvalidKeyError):  # of an older definition
                unknown[text] = definition.parse(text)
    for asset in outlets(dag_id) if unknown else ():
        for text, times in made(asset, definition, unknown).items():
            found[text] = found.get(text, _NONE).also(times.last, queued=False)
    return {key: found.get(key, _NONE) for key in keys}


def waiting(dag_id: str) -> list[str]:
    """Keys of a Dag's pending rows, as many as a loop of the scheduler looks at."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    query = (
        select(Row.partition_key)
        .where(Row.target_dag_id == dag_id, Row.created_dag_run_id.is_(None))
        .order_by(Row.created_at, Row.id)
        .limit(_PER_LOOP)
    )
    with connection() as at:
        return [str(key) for key in at.scalars(query)]


def tick_behind(asset: str, key: str) -> datetime | None:
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
    with connection() as at:
        found: datetime | None = at.scalar(query)
        return found
