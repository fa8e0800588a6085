"""The ledger of 1,000,000 materialized partitions: size, counts, pages, a picture, one late event, a burst of 10,000.

Wall time is shown too, for what the database does; on a busy machine only processor time and queries tell much.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time
from typing import Any

from benchmarks.metadata import Row, main

PARTITIONS = 1_000_000
BURST = 10_000
ASSET = "region_hours"


def measure() -> list[Row]:
    """A ledger that is made of events, and what is asked of it and put into it afterwards."""
    from itertools import islice

    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from airflow_partitions.operate.contract.grid import ShowGrid
    from airflow_partitions.operate.contract.states import CountStates
    from airflow_partitions.operate.operations import answer
    from airflow_partitions.operate.states import states_of
    from benchmarks.estate import add_history

    asset = partitioned_asset(ASSET)
    keys = [str(key) for key in islice(asset.definition.keys(), PARTITIONS)]
    hours = keys[-100_000].partition("|")[0], keys[-1].partition("|")[0]
    begun = datetime.now(UTC) - timedelta(days=2)
    add_history(ASSET, keys, begun, runs=False)
    rows = [_row("making it of its events", lambda: update_ledger(ASSET, asset.meaning))]
    rows += _sizes()
    rows.append(_row("how many there are in each state", lambda: answer(CountStates(asset=ASSET))))
    rows.append(_row("first page of states", lambda: states_of(ASSET, limit=100)))
    picture = ShowGrid(asset=ASSET, columns=800, start=hours[0], end=hours[1])
    rows.append(_row("100,000 in one picture", lambda: answer(picture)))
    add_history(ASSET, keys[:1], begun + timedelta(days=1), runs=False)
    rows.append(_row("one late event", lambda: update_ledger(ASSET, asset.meaning)))
    add_history(ASSET, keys[-BURST:], begun + timedelta(days=1, hours=1), runs=False)
    rows.append(_row(f"a burst of {BURST:,} events", lambda: update_ledger(ASSET, asset.meaning)))
    return rows


def _row(what: str, question: Callable[[], Any]) -> Row:
    from benchmarks.history import counted

    with counted() as queries:
        begun, began = process_time(), perf_counter()
        question()
        seconds, wall, number = process_time() - begun, perf_counter() - began, queries()
    return {
        "what": what,
        "ours": f"{seconds * 1e3:,.0f} ms",
        "wall": f"{wall * 1e3:,.0f} ms",
        "queries": f"{number:,}",
        "missed": False,
    }


def _sizes() -> list[Row]:
    """Bytes of the tables with their indexes."""
    from sqlalchemy import text

    from airflow_partitions.engine.database.connection import open_connection

    names = "asset_event", "asset_partitions_partition", "asset_state_store"
    with open_connection() as at:
        if at.dialect.name == "postgresql":
            sizes = {name: at.scalar(text(f"SELECT pg_total_relation_size('{name}')")) for name in names}
        else:
            used = (
                "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = :name)"
            )
            sizes = {name: at.scalar(text(used), {"name": name}) for name in names}
    return [
        {"what": f"size of {name}", "ours": f"{(size or 0) / 1e6:,.0f} MB", "wall": "", "queries": "", "missed": False}
        for name, size in sizes.items()
    ]


if __name__ == "__main__":
    sys.exit(main("ledger", "The ledger of 1,000,000 materialized partitions", measure))
