"""Failed partitions that no request asked for: who asks for one is told of it there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy import func, select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.models import Request
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset, read_assets
from airflow_partitions.operate.operations.problem import Problem, Remedy
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.states.readings import Readings
from airflow_partitions.operate.states.runs import LastRun


def failed_partitions(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    """The assets with failed runs that no request asked for, and that nothing has made good since."""
    numbers = _failed_runs({dag_id for each in assets.values() for dag_id in each.producers})
    dags = [each for each in assets.values() if not numbers.keys().isdisjoint(each.producers)]

    def problems(some: Sequence[PartitionedAsset]) -> dict[str, Problem | None]:
        readings = Readings(some)
        return {asset.name: _problem(asset, _left(asset, numbers, readings)) for asset in some}

    def unknown(asset: PartitionedAsset, error: Exception) -> Problem:
        text = f"asset {asset.name!r}: what failed of it can't be told: {type(error).__name__}: {error}"
        return Problem(kind="check", text=text, is_error=True, asset=asset.name)

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
    starts = [place.start for place in failed]
    there = times.between((min(starts), max(starts) + 1)) if starts else {}
    return sorted(
        run for place, run in failed.items() if there.get(place.start, {}).get(place.segments, run.began) <= run.began
    )


def _problem(asset: PartitionedAsset, left: Sequence[LastRun]) -> Problem | None:
    if not left:
        return None
    newest, one = left[-1], len(left) == 1
    return Problem(
        kind="failed-runs",
        text=f"asset {asset.name!r}: {len(left):,} partition{'' if one else 's'} that no request asked for"
        f" failed, the newest {newest.key!r}, and {'is' if one else 'are'} not there since; ask again:"
        f" airflow asset-partitions materialize {asset.name} {newest.key!r}",
        asset=asset.name,
        dag_id=asset.dags.producers[0],
        remedy=Remedy("materialize", select=newest.key),
    )
