"""Overviews of assets: how many partitions are in which state, and how the newest one is."""

from __future__ import annotations

from datetime import datetime
from threading import Lock
from typing import Any

import attrs
from cachetools import LRUCache

from airflow_partitions.dependencies import Selection
from airflow_partitions.dependencies.box import Box
from airflow_partitions.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.states.asset_states import AssetStates
from airflow_partitions.states.pages import StateCounts, counts_of
from airflow_partitions.states.state import State
from airflow_partitions.states.tally import Tally, by_state
from airflow_partitions.states.version import version_of

#: From what needs somebody most to what needs nobody.
_WORST_FIRST = (
    State.FAILED,
    State.RUNNING,
    State.QUEUED,
    State.STALE,
    State.WAITING,
    State.MISSING,
    State.SKIPPED,
    State.MATERIALISED,
)
_OVERVIEWS: LRUCache[tuple[str, str], Overview] = LRUCache(maxsize=1_000)
_LOCK = Lock()


@attrs.frozen
class Overview:
    """Overview of an asset.

    :ivar newest: JSON form of the newest interval that is over: its key, the state that needs somebody most, and
        numbers by state; ``None`` without time.
    """

    counts: StateCounts
    newest: dict[str, Any] | None


def overview_of(asset: PartitionedAsset, now: datetime) -> Overview:
    """The overview of an asset; as long as its version is the same, it is worked out once.

    :param now: aware.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    of = AssetStates(asset, now)
    key = asset.name, version_of(of)
    with _LOCK:
        overview = _OVERVIEWS.get(key)
    if overview is None:
        overview = Overview(counts_of(of, of.everything()), _newest(of))
        with _LOCK:
            _OVERVIEWS[key] = overview
    return attrs.evolve(overview, counts=attrs.evolve(overview.counts, now=now))


def _newest(of: AssetStates) -> dict[str, Any] | None:
    time = of.definition.time
    interval = None if time is None else time.last(of.now)
    if interval is None:
        return None
    counts = by_state(Tally.of(of, of.existing(Selection(of.definition, (Box(interval.time_range),)))).counts)
    state = min(counts, key=_WORST_FIRST.index, default=State.MISSING)
    return {"key": str(interval), "state": str(state), "counts": {str(state): n for state, n in counts.items()}}
