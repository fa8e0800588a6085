"""What the paused Dags of an asset have missed: told before they are unpaused, and skipped on demand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple

from cachetools import TTLCache

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.graph.dag_details import read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.engine.graph.serialized_dags import fingerprint
from airflow_partitions.engine.ledger.scheduling_state import SchedulingState
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.missed import ListMissed, SkipMissed
from airflow_partitions.operate.upkeep.catch_up import read_missed
from airflow_partitions.operate.upkeep.catch_up import skip_missed as skip
from airflow_partitions.operate.upkeep.consumers import LookedAt, digest

#: What was found for screens, which ask every few seconds, by asset, Dag, what that waits for, and the events since.
_FORMS: TTLCache[tuple[Any, ...], dict[str, Any] | None] = TTLCache(maxsize=1_000, ttl=30)
_LOCK = Lock()


class Known(NamedTuple):
    """What is read of many assets together.

    :ivar paused: the Dags that begin no runs by themselves, by id: paused, or draining.
    :ivar looked_at: as :func:`.looked_at` gives it.
    """

    paused: Mapping[str, SchedulingState]
    looked_at: Mapping[tuple[str, str, str], LookedAt]


def list_missed(asked: ListMissed, _: Asker) -> dict[str, Any]:
    """The partitions that follow once the paused Dags of an asset are unpaused."""
    asset = partitioned_asset(asked.asset)
    return {"asset": asset.name, "dags": list(_missed_by(asset, _paused(asset))), "dry_run": True}


def skip_missed(asked: SkipMissed, _: Asker) -> dict[str, Any]:
    """Let none of them follow."""
    asset = partitioned_asset(asked.asset)
    paused = _paused(asset)
    dags = list(_missed_by(asset, paused))
    if not asked.dry_run:
        for dag_id, timetable in _consumers(asset, paused):
            skip(dag_id, timetable)
    return {"asset": asset.name, "dags": dags, "dry_run": asked.dry_run}


def _missed_by(
    asset: PartitionedAsset, paused: Collection[str], known: Known | None = None
) -> Iterator[dict[str, Any]]:
    """JSON forms of what each of the *paused* Dags of an asset has missed; none of those that have missed nothing."""
    for dag_id, timetable in _consumers(asset, paused):
        try:
            form = _form(asset, dag_id, timetable) if known is None else _form_again(asset, dag_id, timetable, known)
        except InvalidDefinitionError:  # an upstream is absent, as the doctor tells: nothing follows before it is back
            continue
        if form is not None:
            yield form


def _form(asset: PartitionedAsset, dag_id: str, timetable: Partitioned) -> dict[str, Any] | None:
    with open_session() as session:
        missed = read_missed(session, dag_id, timetable)
    if not missed.requests:
        return None
    partitions = selection_text(Selection.of(asset.definition, *missed.requests))
    return {"dag_id": dag_id, "count": len(missed.requests), "more": missed.is_cut, "partitions": partitions}


def _form_again(asset: PartitionedAsset, dag_id: str, timetable: Partitioned, known: Known) -> dict[str, Any] | None:
    """The same, worked out once as long as no event comes; not at all if none came since upkeep looked."""
    waits_for = digest(fingerprint(timetable))
    names = sorted(timetable.upstreams.leaves) if timetable.upstreams else []
    events = tuple(known.looked_at.get((dag_id, waits_for, name)) for name in names)
    if all(each is not None and each.newest is None for each in events):
        return None
    key = asset.name, dag_id, waits_for, events
    with _LOCK, suppress(KeyError):
        return _FORMS[key]
    form = _form(asset, dag_id, timetable)
    with _LOCK:
        _FORMS[key] = form
    return form


def missed_words(asset: PartitionedAsset, known: Known | None = None) -> Iterator[tuple[str, str]]:
    """What each paused Dag of an *asset* has missed, as its id and a sentence.

    :param known: what was read of many assets together; then what was found half a minute ago is told again.
    """
    paused = _paused(asset) if known is None else known.paused
    for form in _missed_by(asset, paused, known):
        number, one = form["count"], form["count"] == 1
        least = "at least " if form["more"] else ""
        follow = f"partition of {asset.name!r} follows" if one else f"partitions of {asset.name!r} follow"
        dag_id = form["dag_id"]
        sentence = (
            f"Dag {dag_id} is {paused[dag_id]}, and events came meanwhile: {least}{number:,} {follow} once it is"
            f" unpaused; to skip them: airflow asset-partitions skip-missed {asset.name}"
        )
        yield dag_id, sentence


def _paused(asset: PartitionedAsset) -> dict[str, SchedulingState]:
    """The Dags that make an asset and begin no runs by themselves, by id."""
    details = read_dag_details(asset.dags.producers)
    return {dag_id: one.state for dag_id, one in details.items() if one.paused}


def _consumers(asset: PartitionedAsset, paused: Collection[str]) -> Iterator[tuple[str, Partitioned]]:
    """The *paused* Dags that make an asset and can miss something."""
    for dag_id in asset.dags.producers:
        timetable = asset.timetables.get(dag_id)
        if dag_id in paused and isinstance(timetable, Partitioned) and timetable.upstreams and not timetable.adds_keys:
            yield dag_id, timetable
