"""States of 100,000 materialised partitions, with a run of each in Airflow's history.

Wall time is shown too, for what the database does; on a busy machine only processor time and queries tell much.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from benchmarks.metadata import Row, main

if TYPE_CHECKING:
    from airflow_partitions.states import StatePage

ROUNDS = 5
HISTORY = 100_000
#: The issue of all pages and of the whole, in seconds.
PAGE, WHOLE = 0.1, 1.0


def measure() -> list[Row]:
    """Pages and wholes, of ledgers that are up to date, and of one that upkeep has not written yet."""
    from itertools import islice

    from airflow_partitions.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.history.ledger import update_ledger
    from benchmarks.estate import add_history

    made = datetime.now(UTC) - timedelta(days=30)
    keys: dict[str, list[str]] = {}
    for name in ("old_hours", "hours_of_hours", "days_of_hours", "region_days"):
        asset = partitioned_asset(name)
        keys[name] = [str(key) for key in islice(asset.definition.keys(), HISTORY)]
        add_history(name, keys[name], made, runs=name in ("old_hours", "region_days"))
        made += timedelta(days=1)
    rows = [_row("hours, no ledger yet: first page", "old_hours", PAGE, limit=100)]
    rows.append(_row("hours, no ledger yet: whole", "old_hours", None, limit=None))
    for name in keys:
        update_ledger(name, partitioned_asset(name).meaning)
    for what, name in (("hours", "old_hours"), ("days x 50 regions", "region_days")):
        rows.append(_row(f"{what}: first page", name, PAGE, limit=100))
        rows.append(_row(f"{what}: whole", name, WHOLE, limit=None))
    for what, name in (("hours of hours", "hours_of_hours"), ("days of hours", "days_of_hours")):
        rows.append(_row(f"{what}: first page", name, PAGE, limit=100))
        rows.append(_row(f"{what}: whole", name, WHOLE, limit=None))
    return rows


def _row(what: str, asset: str, wanted: float | None, **arguments: Any) -> Row:
    from airflow_partitions.states import states_of
    from benchmarks.history import counted

    page, seconds, walls, queries = _measured(lambda: states_of(asset, **arguments), counted)
    partitions = sum(stretch.count for stretch in page.stretches)
    return {
        "what": what,
        "ours": f"{seconds * 1e3:,.0f} ms",
        "wall": f"{walls * 1e3:,.0f} ms",
        "wanted": "" if wanted is None else f"{wanted * 1e3:,.0f} ms",
        "queries": queries,
        "partitions": f"{partitions:,}",
        "missed": wanted is not None and seconds > wanted,
    }


def _measured(question: Callable[[], StatePage], counted: Any) -> tuple[StatePage, float, float, int]:
    """The answer, the medians of processor and of wall time, and the number of queries."""
    question()
    seconds, walls = [], []
    with counted() as queries:
        page = question()
        number = queries()
    for _ in range(ROUNDS):
        begun, began = process_time(), perf_counter()
        page = question()
        seconds.append(process_time() - begun)
        walls.append(perf_counter() - began)
    return page, statistics.median(seconds), min(walls), number


if __name__ == "__main__":
    sys.exit(main("states", "States of 100,000 materialised partitions", measure))
