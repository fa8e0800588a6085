"""Views that ask again and again: 50 assets with 300,000 materialized partitions, and failed and missed ones.

One asset has 100,000 hours, one 182,500 days x regions, 48 have a year of days each, half of them downstream of others.
Memory is that of the process that answers. Wall time is shown too, for what the database does.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.metadata import Row, main, timed

if TYPE_CHECKING:
    from airflow_partitions.operate.contract.operation import Operation

CALLS = 10_000
#: Calls before memory is measured: by then the caches that are to be full are.
WARM = 500
ASSETS = 50
HISTORY = {"polled_hours": 100_000, "polled_regions": 182_500}
DAYS = 365
#: One of so many partitions has failed since.
FAILED = 100
DOCTOR, POLL, OVERVIEW, GROWTH = 5.0, 1.0, 1.0, 100e6
SOURCE = """
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", end="2024-06-01")
YEAR = PartitionByInterval("@daily", timezone="Europe/Berlin", start="2013-01-01", end="2014-01-01")
REGION_DAYS = PartitionByProduct([
    PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", end="2023-01-01"),
    PartitionBySequence([f"region-{n:02}" for n in range(50)], name="region")])

@asset(schedule=None, partition=HOURS)
def polled_hours(): ...

@asset(schedule=None, partition=REGION_DAYS)
def polled_regions(): ...

for number in range(24):
    first, after = Asset(f"polled_{number:02}"), Asset(f"polled_{number:02}_after")
    with DAG(first.name, schedule=Partitioned(None, YEAR, asset=first)):
        EmptyOperator(task_id=first.name, outlets=[first])
    with DAG(after.name, schedule=Partitioned(Asset.ref(name=first.name), YEAR, asset=after)):
        EmptyOperator(task_id=after.name, outlets=[after])
"""


def measure() -> list[Row]:
    """The doctor, the overview, and what 10,000 calls leave in memory."""
    from airflow_partitions.operate.contract.assets import ListAssets
    from airflow_partitions.operate.contract.doctor import ListProblems
    from airflow_partitions.operate.operations import answer

    names = _fill()
    listed = ListAssets(search="polled_", counts=True, limit=ASSETS)

    def overview() -> None:
        assert len(answer(listed)["assets"]) == len(names) == ASSETS

    def doctor(*, records: bool) -> Callable[[], None]:
        def examine() -> None:
            problems = answer(ListProblems(records=records))["problems"]
            kinds = [one["kind"] for one in problems]
            assert "check" not in kinds, [one["text"] for one in problems if one["kind"] == "check"]
            assert kinds.count("failed-runs") == ASSETS, kinds
            assert "missed-events" in kinds

        return examine

    rows = [
        timed("the doctor, with all records", doctor(records=True), DOCTOR),
        timed("the doctor again, with all records", doctor(records=True), DOCTOR),
        timed("the doctor, without records", doctor(records=False), POLL),
        timed("the doctor again, without records", doctor(records=False), POLL),
        timed("the overview of 50 assets, the first", overview, None),
        timed("the overview again", overview, OVERVIEW),
    ]
    _change()
    rows.append(timed("the overview, after a partition of each large asset", overview, OVERVIEW))
    return [*rows, _memory(names)]


def _fill() -> list[str]:
    """Put the estate into the database, and return the names of its assets."""
    from airflow import settings
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import update

    from airflow_partitions.engine.graph.partitioned_assets import asset_dags, partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from airflow_partitions.operate.upkeep import one_round
    from benchmarks.estate import add_history, add_noise
    from tests.metadata import Metadata

    os.environ["AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        Metadata(settings.engine).parse(Path(folder), estate=SOURCE)
    names = [name for name in asset_dags() if name.startswith("polled_")]
    with create_session() as session:
        session.execute(update(DagModel).values(is_paused=False))
    made = datetime.now(UTC) - timedelta(days=30)
    for name in names:
        asset = partitioned_asset(name)
        keys = [str(key) for key in islice(asset.definition.keys(), HISTORY.get(name, DAYS))]
        add_history(name, keys, made, runs=True)
        add_noise(name, keys[::FAILED], made + timedelta(days=1))
        update_ledger(name, asset.meaning)
    one_round()
    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id.endswith("_after")).values(is_paused=True))
    _change("polled_00", "polled_01")
    return names


def _change(*names: str) -> None:
    """One more event of the first partition of some assets."""
    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from benchmarks.estate import add_history

    for name in names or tuple(HISTORY):
        key = str(next(iter(partitioned_asset(name).definition.keys())))
        add_history(name, [key], datetime.now(UTC), runs=False)


def _memory(names: list[str]) -> Row:
    from airflow_partitions.operate.operations import answer

    calls = _calls(names)
    for asked in islice(calls, WARM):
        answer(asked)
    before, begun, began = _resident(), process_time(), perf_counter()
    for asked in islice(calls, CALLS):
        answer(asked)
    seconds, wall, growth = process_time() - begun, perf_counter() - began, _resident() - before
    return {
        "what": f"{CALLS:,} calls of all kinds: memory grows by {growth / 1e6:,.0f} MB",
        "ours": f"{seconds:,.0f} s",
        "wall": f"{wall:,.0f} s",
        "queries": "",
        "wanted": f"<= {GROWTH / 1e6:.0f} MB",
        "missed": growth > GROWTH,
    }


def _resident() -> float:
    gc.collect()
    return float(psutil.Process().memory_info().rss)


def _calls(names: list[str]) -> Iterator[Operation]:
    """What views ask for: mostly parts of one asset, each time another one."""
    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
    from airflow_partitions.operate.contract.doctor import ListProblems
    from airflow_partitions.operate.contract.grid import ShowGrid
    from airflow_partitions.operate.contract.keys import ListKeys
    from airflow_partitions.operate.contract.requests import ListRequests
    from airflow_partitions.operate.contract.states import CountStates, ListStates, ShowPartition

    chance = random.Random(7)
    keys = {
        name: [str(key) for key in islice(partitioned_asset(name).definition.keys(), HISTORY.get(name, DAYS))]
        for name in names
    }

    def part(name: str) -> str:
        year = chance.randint(2013, 2022) if name in HISTORY else 2013
        return f"{year}-{chance.randint(1, 12):02}"

    for number in count():
        large, small = chance.choice(list(HISTORY)), chance.choice(names)
        forms: list[tuple[type[Operation], dict[str, Any]]] = [(ListRequests, {})]
        if number % 5 == 0:
            forms += [(ListAssets, {"counts": True}), (ListProblems, {"records": False})]
        for name in (large, small):
            month = part(name)
            forms += [
                (ShowAsset, {"asset": name}),
                (CountStates, {"asset": name, "select": part(name)}),
                (ListStates, {"asset": name, "select": part(name), "limit": 40}),
                (ListKeys, {"asset": name, "select": part(name), "limit": 40}),
                (ShowGrid, {"asset": name, "start": f"{month}-01", "end": f"{month}-28", "columns": 200}),
                (ShowPartition, {"asset": name, "key": chance.choice(keys[name])}),
            ]
        yield from (operation.of(**form) for operation, form in forms)


if __name__ == "__main__":
    sys.exit(main("polling", str(__doc__), measure))
