"""Failed partitions of many assets, by what made them fail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.selection_words import selection_words
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.ledger.places import Place
from airflow_partitions.engine.runs.run_errors import RunError, run_errors
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.error_pattern import error_pattern
from airflow_partitions.operate.states.readings import Readings
from airflow_partitions.operate.states.runs import LastRun
from airflow_partitions.operate.states.slabs import selection_of

#: So many failed partitions of an asset are told by their errors, those whose runs are the newest.
MOST_FAILED = 10_000


@attrs.frozen
class FailedPartition:
    """A partition whose last run failed.

    :ivar ended: when the run did; aware.
    """

    asset: PartitionedAsset
    place: Place
    run: LastRun
    task_id: str | None
    error: str
    ended: datetime | None

    @property
    def pattern(self) -> str:
        """The error without what is the partition's own."""
        return error_pattern(self.error, {self.run.key, *self.place.segments})


@attrs.frozen
class AssetFailures:
    """The failed partitions of an asset.

    :ivar partitions: the newest runs first.
    :ivar unread: number of older ones, whose errors were not looked at.
    :ivar problem: why they can't be told; ``None`` if they can.
    """

    partitions: tuple[FailedPartition, ...] = ()
    unread: int = 0
    problem: str | None = None


@attrs.frozen
class FailureGroup:
    """Failed partitions with the same error.

    :ivar pattern: what their errors have in common.
    :ivar partitions: the newest first, of at least one asset.
    """

    pattern: str
    partitions: tuple[FailedPartition, ...]

    @property
    def id(self) -> str:
        """Short name of the pattern."""
        return blake2b(self.pattern.encode(), digest_size=6).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """JSON form: the error is that of the newest."""
        by_asset: dict[str, list[FailedPartition]] = {}
        for each in self.partitions:
            by_asset.setdefault(each.asset.name, []).append(each)
        ended = [each.ended for each in self.partitions if each.ended is not None]
        return {
            "id": self.id,
            "error": self.partitions[0].error,
            "count": len(self.partitions),
            "assets": [
                {"asset": name, "count": len(some), "partitions": selection_words(_selection(some))}
                for name, some in sorted(by_asset.items())
            ],
            "tasks": sorted({each.task_id for each in self.partitions if each.task_id is not None}),
            "since": min(ended).isoformat() if ended else None,
            "last": max(ended).isoformat() if ended else None,
        }


def failures_of(
    assets: Sequence[PartitionedAsset], now: datetime, since: datetime | None = None
) -> dict[str, AssetFailures]:
    """The failed partitions of *assets*, by name.

    :param now: aware.
    :param since: only those whose run failed then or later; aware.
    """

    def read(some: Sequence[PartitionedAsset]) -> dict[str, AssetFailures]:
        readings = Readings(some)
        return {asset.name: _failures(asset, AssetStates(asset, now, readings=readings), since) for asset in some}

    return asked_apart(
        assets, read, lambda asset, error: AssetFailures(problem=f"{asset.name}: {type(error).__name__}: {error}")
    )


def grouped(failures: Sequence[AssetFailures]) -> list[FailureGroup]:
    """Failed partitions by their errors, the largest groups first."""
    groups: dict[str, list[FailedPartition]] = {}
    for each in failures:
        for partition in each.partitions:
            groups.setdefault(partition.pattern, []).append(partition)
    newest_first = (sorted(some, key=lambda one: one.run, reverse=True) for some in groups.values())
    found = [FailureGroup(some[0].pattern, tuple(some)) for some in newest_first]
    return sorted(found, key=lambda group: (-len(group.partitions), group.id))


def _failures(asset: PartitionedAsset, of: AssetStates, since: datetime | None) -> AssetFailures:
    failed = sorted(of.failed_runs().items(), key=lambda one: one[1], reverse=True)
    some = failed[:MOST_FAILED]
    if not some:
        return AssetFailures()
    with open_connection() as connection:
        errors = run_errors(connection, [run.number for _, run in some])
    unknown = RunError(None, None, "its run is gone")
    partitions = (_failed(asset, place, run, errors.get(run.number, unknown)) for place, run in some)
    chosen = (each for each in partitions if since is None or (each.ended is not None and each.ended >= since))
    return AssetFailures(tuple(chosen), len(failed) - len(some))


def _failed(asset: PartitionedAsset, place: Place, run: LastRun, error: RunError) -> FailedPartition:
    return FailedPartition(asset, place, run, error.task_id, error.text, error.ended)


def _selection(partitions: Sequence[FailedPartition]) -> Selection:
    by_start: dict[int, list[tuple[str, ...]]] = {}
    for each in partitions:
        by_start.setdefault(each.place.start, []).append(each.place.segments)
    return selection_of(partitions[0].asset.definition, by_start)
