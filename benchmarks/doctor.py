"""The doctor over 300,000 materialized partitions, with a run of each in Airflow's history, and without their events.

Wall time is shown too, for what the database does; on a busy machine only processor time and queries tell much.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time

from benchmarks.metadata import Row, main

PARTITIONS = 300_000
ASSET = "region_hours"
WANTED = 5.0


def measure() -> list[Row]:
    """An examination that looks at each record, one that looks at none, and one after the events were purged."""
    from itertools import islice

    from airflow import settings
    from airflow.models.asset import AssetEvent
    from sqlalchemy import delete

    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from benchmarks.estate import add_history

    asset = partitioned_asset(ASSET)
    keys = [str(key) for key in islice(asset.definition.keys(), PARTITIONS)]
    add_history(ASSET, keys, datetime.now(UTC) - timedelta(days=2), runs=True)
    update_ledger(ASSET, asset.meaning)
    rows = [_row("with all records", records=True), _row("without records", records=False)]
    with settings.engine.begin() as at:
        at.execute(delete(AssetEvent).where(AssetEvent.id % 2 == 0))
    return [*rows, _row("with all records, half of whose events are gone", records=True)]


def _row(what: str, *, records: bool) -> Row:
    from airflow_partitions.operate.contract.doctor import ListProblems
    from airflow_partitions.operate.operations import answer
    from benchmarks.history import counted

    with counted() as queries:
        begun, began = process_time(), perf_counter()
        problems = answer(ListProblems(records=records))["problems"]
        seconds, wall, number = process_time() - begun, perf_counter() - began, queries()
    assert not [problem for problem in problems if problem["kind"] == "cell"]
    return {
        "what": what,
        "ours": f"{seconds * 1e3:,.0f} ms",
        "wall": f"{wall * 1e3:,.0f} ms",
        "queries": f"{number:,}",
        "wanted": f"<= {WANTED:.0f} s",
        "missed": wall > WANTED,
    }


if __name__ == "__main__":
    sys.exit(main("doctor", str(__doc__), measure))
