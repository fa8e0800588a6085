"""Failed partitions that no request asked for: who asks for one is told of it there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from threading import Lock

from cachetools import LRUCache
from sqlalchemy import func, select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.models import Request
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset, read_assets
from airflow_partitions.engine.runs.run_errors import RunError, run_errors
from airflow_partitions.operate.operations.problem import Problem, Remedy, untold
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.states.readings import Readings
from airflow_partitions.operate.states.runs import LastRun

#: As long as nothing of an asset has changed that says which are left, that is looked up once.
_LEFT: LRUCache[tuple[str, str], list[LastRun]] = LRUCache(maxsize=1_000)
_LOCK = Lock()


def failed_partitions(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    """The assets with failed runs that no request asked for, and that nothing has made good since."""
    numbers = _failed_runs({dag_id for each in assets.values() for dag_id in each.producers})
    dags = [each for each in assets.values() if not numbers.keys().isdisjoint(each.producers)]

    def problems(some: Sequence[PartitionedAsset]) -> dict[str, Problem | None]:
        readings = Readings(some)
        left = {asset.name: _left(asset, numbers, readings) for asset in some}
        with open_connection() as connection:
            errors = run_errors(connection, [runs[-1].number for runs in left.values() if runs])
        return {asset.name: _problem(asset, left[asset.name], errors) for asset in some}

    def unknown(asset: PartitionedAsset, error: Exception) -> Problem:
        return untold(asset.name, "what failed of it", error)

    yield from filter(None, asked_apart(list(read_assets(dags)), problems, unknown).values())


def _failed_runs(dag_ids: Collection[str]) -> dict[str, set[int]]:
    """The numbers of the failed runs of Dags that no request asked for, by the ids of the Dags."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    numbers: dict[str, set[int]] = {}
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            query = select(DagRun.dag_id, DagRun.id).where(
                DagRun.dag_id.in_(portion),
                DagRun.state == DagRunState.FAILED,
                DagRun.partition_key.is_not(None),
                DagRun.start_date.is_not(None),
                func.coalesce(DagRun.backfill_id, -1).not_in(select(Request.id)),
            )
            for dag_id, number in connection.execute(query):
                numbers.setdefault(dag_id, set()).add(number)
    return numbers


def _left(asset: PartitionedAsset, numbers: Mapping[str, Collection[int]], readings: Readings) -> list[LastRun]:
    """The last runs of the partitions of an *asset* that failed and are not there since, the newest last."""
    own = {number for dag_id in asset.dags.producers for number in numbers.get(dag_id, ())}
    times, again = readings.times(asset), readings.made_again[asset.name]
    failed = {
        place: run
        for place, run in readings.runs[asset.name].failed.items()
        if run.number in own and place not in again
    }
    if not failed:
        return []
    # Screens ask every few seconds, and a ledger may have hundreds of thousands of partitions.
    known = asset.name, _digest(times.version(), sorted((run.number, *place) for place, run in failed.items()))
    with _LOCK:
        left = _LEFT.get(known)
    if left is None:
        starts = [place.start for place in failed]
        there = times.between((min(starts), max(starts) + 1))
        made = {place: there.get(place.start, {}).get(place.segments, run.began) for place, run in failed.items()}
        left = sorted(run for place, run in failed.items() if made[place] <= run.began)
        with _LOCK:
            _LEFT[known] = left
    return left


def _digest(*known: object) -> str:
    return blake2b(repr(known).encode(), digest_size=12).hexdigest()


def _problem(asset: PartitionedAsset, left: Sequence[LastRun], errors: Mapping[int, RunError]) -> Problem | None:
    if not left:
        return None
    newest, one = left[-1], len(left) == 1
    why = f" by: {errors[newest.number].text}" if newest.number in errors else ""
    return Problem(
        kind="failed-runs",
        text=f"asset {asset.name!r}: {len(left):,} partition{'' if one else 's'} that no request asked for"
        f" failed, and {'is' if one else 'are'} not there since, the newest {newest.key!r}{why}; ask again:"
        f" airflow asset-partitions materialize {asset.name} {newest.key!r}",
        asset=asset.name,
        dag_id=asset.dags.producers[0],
        remedy=Remedy("materialize", select=newest.key),
    )
