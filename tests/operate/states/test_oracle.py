"""States compared with a plain evaluation of each key by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.operate.states import State, counts
from airflow_partitions.operate.upkeep import one_round
from tests.hunt import effort
from tests.metadata import Metadata
from tests.operate.states.world import by_key, put_pending, put_runs, put_tasks

pytestmark = pytest.mark.airflow

NOW = datetime(2013, 11, 5, 12, tzinfo=UTC)
START = datetime(2013, 11, 6, tzinfo=UTC)
ASSETS = ("quarters", "grid", "back", "airports", "lanes", "tours", "gates")


class Fact(NamedTuple):
    """Something that happened to a partition: an event, a run in a state, a run that skipped, a pending row."""

    asset: str
    key: str
    kind: str
    at: datetime


class World(NamedTuple):
    facts: tuple[Fact, ...]
    upkeep: int | None
    purged: bool


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(
        tmp_path,
        dags="""
        DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-11-01", end="2013-11-08")
        QUARTERS = PartitionByInterval(
            "0 */6 * * *", timezone="America/New_York", start="2013-11-01", end="2013-11-08", name="quarter"
        )
        AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")

        @asset(schedule="@daily", partition=QUARTERS)
        def quarters(partition): ...

        @asset(schedule=quarters, partition=PartitionByProduct([DAYS, AIRPORTS]))
        def grid(partition): ...

        @asset(schedule=grid & quarters, partition=DAYS, rules={"grid": Lookback(1)})
        def back(partition): ...

        @asset(schedule=grid, partition=AIRPORTS)
        def airports(partition): ...

        LANES = {"EWR": ["2013-11-02.."], "JFK": ["..2013-11-03", "2013-11-04..2013-11-06"], "LGA": ["2013-11-03"]}

        @asset(schedule=grid, partition=PartitionByProduct([AIRPORTS, DAYS], only=LANES))
        def lanes(partition): ...

        @asset(schedule=lanes, partition=DAYS, rules={"lanes": Lookback(1)})
        def tours(partition): ...

        GATES = PartitionBySequence(["A", "B", "C"], name="gate")

        @asset(schedule=lanes, partition=PartitionByProduct([AIRPORTS, GATES], only=["EWR|A", "EWR|C", "JFK|B"]))
        def gates(partition): ...
        """,
    )
    return metadata


def keys_of(asset: PartitionedAsset) -> list[Key]:
    return list(asset.definition.keys())


@st.composite
def worlds(draw: Callable[..., Any], keys: dict[str, list[str]]) -> World:
    """What happened, one thing after the other; whole days of it at once, so that there are stretches."""
    facts: list[Fact] = []
    for i in range(draw(st.integers(0, 14))):
        asset = draw(st.sampled_from(ASSETS))
        low = draw(st.integers(0, len(keys[asset]) - 1))
        length = draw(st.sampled_from([1, 1, 2, 3, 8, 20]))
        kinds = [*["event"] * 5, "running", "queued", "failed", "skipped", *(["pending"] if asset != ASSETS[0] else [])]
        kind = draw(st.sampled_from(kinds))
        at = START + timedelta(hours=i)
        facts += (Fact(asset, key, kind, at) for key in keys[asset][low : low + length])
    return World(tuple(facts), draw(st.none() | st.integers(0, len(facts))), draw(st.booleans()))


def put(metadata: Metadata, facts: tuple[Fact, ...]) -> None:
    for (asset, kind, at), some in groupby(facts, key=lambda fact: (fact.asset, fact.kind, fact.at)):
        keys = [fact.key for fact in some]
        if kind == "event":
            metadata.emit(asset, *keys, at=at)
        elif kind == "pending":
            put_pending(metadata, asset, *keys)
        elif kind == "skipped":
            put_runs(metadata, asset, keys, "success", at)
            put_tasks(metadata, asset, keys, asset, "skipped", at)
        else:
            put_runs(metadata, asset, keys, kind, at)


def clear(metadata: Metadata) -> None:
    from airflow.models.base import Base

    metadata.clear_rows()
    with metadata.engine.begin() as at:
        for name in ("task_instance", "dag_run", "asset_partition_dag_run", "asset_event", "asset_state_store"):
            at.execute(delete(Base.metadata.tables[name]))


def state_of(asset: PartitionedAsset, key: Key, facts: tuple[Fact, ...]) -> State | None:
    """The state of one partition by itself; ``None`` for one that is not over, and of which nothing is there."""
    own = [fact for fact in facts if (fact.asset, fact.key) == (asset.name, str(key))]
    interval = asset.definition.interval_of(key)
    if not own and interval is not None and interval.end > NOW:
        return None
    for state in (State.RUNNING, State.QUEUED):
        if any(fact.kind == state for fact in own):
            return state
    made = last((asset.name, str(key)), facts)
    ended = [fact for fact in own if fact.kind in ("failed", "skipped")]
    if ended and ended[-1].kind == "failed" and (made is None or made < ended[-1].at):
        return State.FAILED
    there, needed, newest = 0, 0, None
    for name, upstream in needs(asset, key):
        needed += 1
        at = last((name, str(upstream)), facts)
        if at is not None:
            there += 1
            newest = at if newest is None else max(at, newest)
    if made is not None:
        return State.STALE if newest is not None and newest > made else State.MATERIALIZED
    if ended:
        return State.SKIPPED
    waits = any(fact.kind == "pending" for fact in own)
    over = interval is None or interval.end <= NOW
    return State.WAITING if waits or (over and 0 < there < needed) else State.MISSING


def needs(asset: PartitionedAsset, key: Key) -> list[tuple[str, Key]]:
    return [
        (name, one)
        for upstreams in asset.upstreams.values()
        for name in upstreams.leaves
        for one in upstreams.member(name).dependency.upstream(key)
    ]


def last(partition: tuple[str, str], facts: tuple[Fact, ...]) -> datetime | None:
    return max((f.at for f in facts if f.kind == "event" and (f.asset, f.key) == partition), default=None)


def test_states_are_those_of_each_key_by_itself(dags: Metadata) -> None:
    assets = {name: partitioned_asset(name) for name in ASSETS}
    texts = {name: [str(key) for key in keys_of(asset)] for name, asset in assets.items()}

    @effort(25, 1)
    @given(worlds(texts), st.sampled_from([None, 1, 2, 5, 100]), st.booleans())
    def compare(world: World, limit: int | None, newest_first: bool) -> None:
        clear(dags)
        if world.upkeep is not None:
            put(dags, world.facts[: world.upkeep])
            one_round()
            if world.purged:
                dags.purge()
        put(dags, world.facts[world.upkeep or 0 :])
        for name, asset in assets.items():
            states = {str(key): state_of(asset, key, world.facts) for key in keys_of(asset)}
            told = by_key(name, NOW, limit=limit, newest_first=newest_first)
            assert told == {key: state for key, state in states.items() if state is not None}, name
            some = Selection.of(asset.definition, *texts[name][1::2])
            assert by_key(name, NOW, selection=some, limit=limit, newest_first=newest_first) == {
                key: state for key, state in told.items() if key in texts[name][1::2]
            }, name
            assert counts(asset, now=NOW).total == len(told)

    compare()
