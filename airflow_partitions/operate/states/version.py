"""Versions of an asset's states, to tell whether they can have changed without working them out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from typing import Any

from airflow_partitions.core.definitions import PartitionAtRuntime
from airflow_partitions.core.dependencies import Dependency
from airflow_partitions.core.dependencies.rule import KeyRule
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.operate.states.asset_states import AssetStates


def version_of(of: AssetStates) -> str:
    """A short text that is another one whenever a state is: of all that states are made of, and of none of the work.

    Of what the ledger has, which may be much, it takes when that was written.
    """
    text = json.dumps(list(_sources(of)), sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _sources(of: AssetStates) -> Iterator[Any]:
    from airflow_partitions import __version__

    yield __version__, of.asset.name, of.asset.meaning.to_json(), of.closed
    for dag_id in of.asset.dags.producers:
        timetable = of.asset.timetables.get(dag_id)
        yield dag_id, timetable.serialize() if isinstance(timetable, PartitionTimetable) else None
    for upstreams in of.asset.upstreams.values():
        for name in upstreams.leaves:
            member = upstreams.member(name)
            yield name, member.definition.to_json(), _moment(member.dependency, of.now)
    for times in (of.times, *of.upstream_times.values()):
        yield times.version()
    runs = of.runs
    for places in (runs.at_work, runs.failed, runs.skipped):
        yield sorted((*place, str(run)) for place, run in places.items())
    yield sorted(of.made_again)
    yield sorted(of.pending)
    for dimension in of.definition.dimensions.values():
        yield sorted(of.listed_keys(dimension)) if isinstance(dimension, PartitionAtRuntime) else None


def _moment(dependency: Dependency, now: datetime) -> str | None:
    """The moment at which the answers of a rule last changed by the clock alone; now, if only its author knows that."""
    rule, time = dependency.rule, dependency.sides.upstream.time
    if not rule.moving:
        return None
    return now.isoformat() if isinstance(rule, KeyRule) or time is None else str(time.last(now))
