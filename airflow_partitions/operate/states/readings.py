"""What the states of several assets are made of, read of all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from airflow_partitions.core.definitions import PartitionAtRuntime
from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.ledger.key_table import listed_keys
from airflow_partitions.engine.ledger.last_times import LastTimes, Meaning, last_times, read_small_ledgers
from airflow_partitions.engine.ledger.places import Place
from airflow_partitions.engine.timetables.upstreams import look_up
from airflow_partitions.operate.states.runs import (
    Makers,
    Runs,
    pending_texts,
    read_runs,
    succeeded_after,
    writing_tasks,
)

_Pair = tuple[str, Meaning]


class Readings:
    """What the states of some *assets* are made of: each kind is read of all of them when it is asked for first."""

    def __init__(self, assets: Sequence[PartitionedAsset]) -> None:
        self._assets = assets
        self._times: dict[_Pair, LastTimes] = {}
        self._listed: dict[str, Mapping[str, Addition]] = {}

    def times(self, asset: PartitionedAsset) -> LastTimes:
        """The last times of an asset's partitions."""
        return self._read((asset.name, asset.meaning), lambda: self._own_pairs)

    def upstream_times(self, asset: PartitionedAsset) -> dict[str, LastTimes]:
        """The last times of the upstream assets of an asset, by their names."""
        pairs = self._upstream_pairs
        return {pair[0]: self._read(pair, lambda: pairs) for pair in _upstreams(asset)}

    def read_times(self) -> None:
        """Read the last times of all the assets, and of all their upstreams, at once."""
        self._times |= last_times((*self._own_pairs, *self._upstream_pairs))

    def read_ahead(self, assets: Iterable[PartitionedAsset]) -> None:
        """Read what the ledger has of those of *assets*, and of their upstreams, that have few partitions."""
        times = {
            id(each): each for asset in assets for each in (self.times(asset), *self.upstream_times(asset).values())
        }
        read_small_ledgers(times.values())

    @cached_property
    def makers(self) -> Mapping[str, Makers]:
        """What makes each asset, by its name."""
        tasks = writing_tasks([asset.name for asset in self._assets])
        return {asset.name: Makers(self.times(asset).places, tasks[asset.name]) for asset in self._assets}

    @cached_property
    def runs(self) -> Mapping[str, Runs]:
        """The runs of each asset, by its name, as far as they say something of states."""
        return read_runs(self.makers)

    @cached_property
    def made_again(self) -> Mapping[str, set[Place]]:
        """Those of the partitions with a failed run that have a newer run which succeeded, by the asset's name."""
        return succeeded_after(self.makers, {asset: runs.failed for asset, runs in self.runs.items()})

    def pending(self, asset: PartitionedAsset) -> set[Place]:
        """The partitions of an asset that events have asked for, and that no run was made for yet."""
        places: set[Place] = set()
        for dag_id in asset.upstreams:
            for text in self._pending.get(dag_id, ()):
                with suppress(InvalidKeyError):
                    places.add(self.times(asset).places.read(text))
        return places

    def listed_keys(self, definition: PartitionAtRuntime) -> Mapping[str, Addition]:
        """The keys that were added to a *definition*."""
        if definition.name not in self._listed:
            self._listed[definition.name] = listed_keys(definition)
        return self._listed[definition.name]

    @cached_property
    def _pending(self) -> Mapping[str, Collection[str]]:
        return pending_texts({dag_id for asset in self._assets for dag_id in asset.upstreams})

    @property
    def _own_pairs(self) -> Collection[_Pair]:
        return [(asset.name, asset.meaning) for asset in self._assets]

    @cached_property
    def _upstream_pairs(self) -> Collection[_Pair]:
        producers = {
            asset.name: [asset.timetables[dag_id] for dag_id in asset.dags.producers if dag_id in asset.timetables]
            for asset in self._assets
        }
        look_up((upstreams for asset in self._assets for upstreams in asset.upstreams.values()), producers)
        pairs: list[_Pair] = []
        for asset in self._assets:
            with suppress(InvalidDefinitionError):  # it is told of whoever asks for that asset
                pairs += _upstreams(asset)
        return pairs

    def _read(self, pair: _Pair, every: Callable[[], Iterable[_Pair]]) -> LastTimes:
        if pair not in self._times:
            self._times |= last_times(each for each in every() if each not in self._times)
        return self._times[pair]


def _upstreams(asset: PartitionedAsset) -> Iterator[_Pair]:
    for upstreams in asset.upstreams.values():
        for name in upstreams.leaves:
            member = upstreams.member(name)
            yield member.name, member.key_format or member.definition
