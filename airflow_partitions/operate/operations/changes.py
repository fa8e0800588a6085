"""What got worse since a time, as far as what is known now can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import instant
from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.dependencies.selection_words import selection_words
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, asset_dags, read_assets
from airflow_partitions.engine.ledger.forgotten import Forgotten, forgotten_by_asset
from airflow_partitions.engine.runs.run_errors import run_errors
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.operations.chosen_assets import chosen_assets
from airflow_partitions.operate.operations.late import Deadline, deadlines_of, due_by, due_times, late
from airflow_partitions.operate.operations.page import page
from airflow_partitions.operate.operations.since import since_moment
from airflow_partitions.operate.state import State
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.readings import Readings
from airflow_partitions.operate.states.slabs import selection_of

# Their events since upkeep last ran are in memory together.
_AT_ONCE = 100


@attrs.frozen(kw_only=True)
class AssetChanges:
    """What got worse of an asset.

    :ivar failed: failed now, by a run that failed since then.
    :ivar late: not there now, and became due since then.
    :ivar stale: stale now, by something upstream that was materialized since then.
    :ivar missing: missing now; their interval ended, or somebody forgot them since then.
    :ivar error: why nothing can be told.
    """

    asset: str
    failed: Selection | None = None
    late: Selection | None = None
    stale: Selection | None = None
    missing: Selection | None = None
    error: str | None = None

    def __bool__(self) -> bool:
        return self.error is not None or any((self.failed, self.late, self.stale, self.missing))

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        kinds = {name: getattr(self, name) for name in ("failed", "late", "stale", "missing")}
        return {
            "asset": self.asset,
            **{name: _form(selection) if selection else None for name, selection in kinds.items()},
            "error": self.error,
        }


def list_changes(asked: ListChanges, asker: Asker) -> dict[str, Any]:
    """What got worse of the assets that one may read since a time, by name."""
    now = datetime.now(UTC)
    since = since_moment(asked.since, now)
    chosen = chosen_assets(asked, asker, asset_dags())
    rest = [chosen[name] for name in sorted(chosen) if asked.cursor is None or name > asked.cursor]

    def changes() -> Iterator[AssetChanges]:
        for portion in portions(rest, min(_AT_ONCE, asked.limit + 1)):
            by_name = changes_of(list(read_assets(portion)), since, now)
            yield from (each for each in by_name.values() if each)

    times = {"now": now.isoformat(timespec="seconds"), "since": since.isoformat(timespec="seconds")}
    return times | page("assets", changes(), asked.limit, AssetChanges.to_json)


def changes_of(assets: Sequence[PartitionedAsset], since: datetime, now: datetime) -> dict[str, AssetChanges]:
    """What got worse of *assets*, by name, between two aware moments; one that can't be read says so."""

    def read(some: Sequence[PartitionedAsset]) -> dict[str, AssetChanges]:
        readings = Readings(some)
        deadlines = deadlines_of(sorted({dag_id for asset in some for dag_id in asset.dags.producers}))
        states = {asset.name: AssetStates(asset, now, readings=readings) for asset in some}
        ids = {of.times.asset_id for of in states.values() if of.times.asset_id is not None}
        with open_connection() as connection:
            forgotten = forgotten_by_asset(connection, ids)
        return {
            name: AssetChanges(
                asset=name,
                failed=_failed(of, since),
                late=_late(of, deadlines, since),
                stale=of.stale_since(instant(since)),
                missing=_missing(of, forgotten.get(of.times.asset_id or 0, Forgotten()), since),
            )
            for name, of in states.items()
        }

    return asked_apart(
        assets, read, lambda asset, error: AssetChanges(asset=asset.name, error=f"{type(error).__name__}: {error}")
    )


def _failed(of: AssetStates, since: datetime) -> Selection:
    failed = of.failed_runs()
    with open_connection() as connection:
        errors = run_errors(connection, [run.number for run in failed.values()])
    by_start: dict[int, list[tuple[str, ...]]] = {}
    for place, run in failed.items():
        error = errors.get(run.number)
        if error is not None and error.ended is not None and error.ended >= since:
            by_start.setdefault(place.start, []).append(place.segments)
    return selection_of(of.definition, by_start)


def _late(of: AssetStates, deadlines: Mapping[str, Sequence[Deadline]], since: datetime) -> Selection:
    selection = Selection(of.definition)
    for dag_id in of.asset.dags.producers:
        for due_time, later in due_times(deadlines.get(dag_id, ())):
            before = due_by(of.definition, due_time, since - later)
            selection |= late(of.asset, due_time, of.now - later) - before
    return selection


def _missing(of: AssetStates, forgotten: Forgotten, since: datetime) -> Selection:
    missing = Selection(of.definition)
    time = of.definition.time
    if time is not None and of.first is not None:
        before = time.last(since)
        low = max(FIRST if before is None else before.time_range[1], of.first)
        if low < of.closed:
            missing |= _in(of, Selection(of.definition, (Box((low, of.closed)),)), (State.MISSING,))
    for part in forgotten.parts:
        if part.at >= since and part.selection.definition == of.definition:
            missing |= _in(of, part.selection, (State.MISSING, State.WAITING))
    return missing


def _in(of: AssetStates, selection: Selection, states: Sequence[State]) -> Selection:
    """The partitions of a *selection* that are in one of these *states*."""
    stretches = of.stretches(selection)
    return Selection(of.definition, tuple(one.box for one in stretches if one.state in states))


def _form(selection: Selection) -> dict[str, Any]:
    return {"count": len(selection), "partitions": selection_words(selection)}
