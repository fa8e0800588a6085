"""Overviews of assets: how many partitions are in which state, and how the newest one is."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.operate.state import State
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.kept import Kept
from airflow_partitions.operate.states.pages import StateCounts, counts_of
from airflow_partitions.operate.states.tally import Tally, by_state

#: From what needs somebody most to what needs nobody.
_WORST_FIRST = (
    State.FAILED,
    State.RUNNING,
    State.QUEUED,
    State.STALE,
    State.WAITING,
    State.MISSING,
    State.SKIPPED,
    State.MATERIALIZED,
)
log = logging.getLogger(__name__)
_OVERVIEWS: Kept[Overview] = Kept(1_000)


@attrs.frozen
class Overview:
    """Overview of an asset.

    :ivar counts: ``None`` if they can't be told.
    :ivar newest: JSON form of the newest interval that is over: its key, the state that needs somebody most, and
        numbers by state; ``None`` without time.
    :ivar error: why these can't be told.
    """

    counts: StateCounts | None
    newest: dict[str, Any] | None
    error: str | None = None

    def is_among(self, states: Collection[State]) -> bool:
        """Whether there are partitions in one of these *states*, or may be."""
        return self.counts is None or not self.counts.counts.keys().isdisjoint(states)


def overviews_of(assets: Sequence[PartitionedAsset], now: datetime) -> dict[str, Overview]:
    """The overviews of *assets*, by name; as long as the version of one is the same, it is worked out once.

    Whatever is wrong with one of them, the others are told.

    :param now: aware.
    """

    def broken(asset: PartitionedAsset, error: Exception) -> Overview:
        log.warning("The partitions of asset %r can't be counted", asset.name, exc_info=error)
        return Overview(None, None, f"{type(error).__name__}: {error}")

    overviews = _OVERVIEWS.of(assets, now, lambda of: Overview(counts_of(of, of.everything()), _newest(of)), broken)
    return {
        name: attrs.evolve(overview, counts=overview.counts and attrs.evolve(overview.counts, now=now))
        for name, overview in overviews.items()
    }


def _newest(of: AssetStates) -> dict[str, Any] | None:
    interval = of.definition.last_interval(of.now)
    if interval is None:
        return None
    counts = by_state(Tally.of(of, of.existing(Selection(of.definition, (Box(interval.time_range),)))).counts)
    state = min(counts, key=_WORST_FIRST.index, default=State.MISSING)
    return {"key": str(interval), "state": str(state), "counts": {str(state): n for state, n in counts.items()}}
