"""What the paused Dags of an asset have missed: told before they are unpaused, and skipped on demand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.graph.dag_details import read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.missed import ListMissed, SkipMissed
from airflow_partitions.operate.upkeep.catch_up import read_missed
from airflow_partitions.operate.upkeep.catch_up import skip_missed as skip


def list_missed(asked: ListMissed, _: Asker) -> dict[str, Any]:
    """The partitions that follow once the paused Dags of an asset are unpaused."""
    asset = partitioned_asset(asked.asset)
    return {"asset": asset.name, "dags": list(missed_by(asset)), "dry_run": True}


def skip_missed(asked: SkipMissed, _: Asker) -> dict[str, Any]:
    """Let none of them follow."""
    asset = partitioned_asset(asked.asset)
    dags = list(missed_by(asset))
    if not asked.dry_run:
        for dag_id, timetable in _paused(asset):
            skip(dag_id, timetable)
    return {"asset": asset.name, "dags": dags, "dry_run": asked.dry_run}


def missed_by(asset: PartitionedAsset) -> Iterator[dict[str, Any]]:
    """JSON forms of what each paused Dag has missed that makes an *asset*; none of those that have missed nothing."""
    for dag_id, timetable in _paused(asset):
        try:
            with open_session() as session:
                missed = read_missed(session, dag_id, timetable)
        except InvalidDefinitionError:  # an upstream is absent, as the doctor tells: nothing follows before it is back
            continue
        if missed.requests:
            partitions = Selection.of(asset.definition, *missed.requests)
            yield {
                "dag_id": dag_id,
                "count": len(missed.requests),
                "more": missed.is_cut,
                "partitions": selection_text(partitions),
            }


def missed_words(asset: PartitionedAsset) -> Iterator[tuple[str, str]]:
    """What each paused Dag of an *asset* has missed, as its id and a sentence."""
    for form in missed_by(asset):
        number, one = form["count"], form["count"] == 1
        least = "at least " if form["more"] else ""
        follow = f"partition of {asset.name!r} follows" if one else f"partitions of {asset.name!r} follow"
        sentence = (
            f"Dag {form['dag_id']} is paused, and events came meanwhile: {least}{number:,} {follow} once it is unpaused"
            f"; to skip them: airflow asset-partitions skip-missed {asset.name}"
        )
        yield form["dag_id"], sentence


def _paused(asset: PartitionedAsset) -> Iterator[tuple[str, Partitioned]]:
    details = read_dag_details(asset.dags.producers)
    for dag_id in asset.dags.producers:
        timetable = asset.timetables.get(dag_id)
        is_paused = dag_id in details and details[dag_id].paused
        if is_paused and isinstance(timetable, Partitioned) and timetable.upstreams and not timetable.adds_keys:
            yield dag_id, timetable
