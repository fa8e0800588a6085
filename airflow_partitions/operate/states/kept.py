"""What was worked out of the states of assets, kept as long as these are the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.readings import Readings
from airflow_partitions.operate.states.version import version_of

T = TypeVar("T")


class Kept(Generic[T]):
    """What comes of asking for assets, each worked out once for each version of its states.

    :param size: the most answers that are kept.
    """

    def __init__(self, size: int) -> None:
        self._answers: LRUCache[tuple[str, str, Hashable], T] = LRUCache(maxsize=size)
        self._lock = Lock()

    def of(
        self,
        assets: Sequence[PartitionedAsset],
        now: datetime,
        work: Callable[[AssetStates], T],
        instead: Callable[[PartitionedAsset, Exception], T],
        question: Hashable = None,
    ) -> dict[str, T]:
        """What comes of *work* for each of *assets*, by name, all read at once.

        :param now: aware.
        :param instead: what is told of one that can't be read; whatever is wrong with it, the others are told.
        :param question: what *work* depends on besides the states.
        """
        return asked_apart(assets, lambda some: self._of(some, now, work, question), instead)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._answers.clear()

    def _of(
        self, assets: Sequence[PartitionedAsset], now: datetime, work: Callable[[AssetStates], T], question: Hashable
    ) -> dict[str, T]:
        readings = Readings(assets)
        readings.read_times()
        states = {asset.name: AssetStates(asset, now, readings=readings) for asset in assets}
        versions = {name: (name, version_of(of), question) for name, of in states.items()}
        with self._lock:
            answers = {name: self._answers[at] for name, at in versions.items() if at in self._answers}
        changed = {name: of for name, of in states.items() if name not in answers}
        readings.read_ahead(of.asset for of in changed.values())
        worked_out = {name: work(of) for name, of in changed.items()}
        with self._lock:
            self._answers.update({versions[name]: one for name, one in worked_out.items()})
        return answers | worked_out
