"""States of 100,000 materialized partitions, with a run of each in Airflow's history.

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
    from airflow_partitions.operate.states import StatePage

ROUNDS = 5
HISTORY = 100_000
#: The issue of all pages and of the whole, in seconds.
PAGE, WHOLE = 0.1, 1.0
#: That of a picture, in seconds: it is to be on a screen within 1.5.
PICTURE = 1.0
#: So many partitions are there for each that failed.
NOISE = 7


def measure() -> list[Row]:
    """Pages and wholes, of ledgers that are up to date, and of one that upkeep has not written yet."""
    from itertools import islice

    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from benchmarks.estate import add_history, add_noise

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
    for what, name in (
        ("hours", "old_hours"),
        ("days x 50 regions", "region_days"),
        ("hours of hours", "hours_of_hours"),
    ):
        rows.append(_picture(f"{what}: picture, 800 columns", name))
    add_noise("region_days", keys["region_days"][::NOISE], made)
    rows.append(_picture("days x 50 regions, every seventh failed: picture, 800 columns", "region_days"))
    rows.append(_picture("the same, which is there already: picture", "region_days", seen=True))
    return rows


def _picture(what: str, asset: str, *, seen: bool = False) -> Row:
    from airflow_partitions.operate.asker import Asker
    from airflow_partitions.operate.contract.grid import ShowGrid
    from airflow_partitions.operate.operations import answer

    picture, asker = ShowGrid(asset=asset, columns=800), Asker()
    grid = answer(picture)
    asker.seen = grid["version"] if seen else None

    def partitions(_: Any) -> int:
        return grid["total"]

    return _measured_row(what, PICTURE, lambda: answer(picture, asker), partitions)


def _row(what: str, asset: str, wanted: float | None, **arguments: Any) -> Row:
    from airflow_partitions.operate.states import states_of

    def partitions(page: StatePage) -> int:
        return sum(stretch.count for stretch in page.stretches)

    return _measured_row(what, wanted, lambda: states_of(asset, **arguments), partitions)


def _measured_row(
    what: str, wanted: float | None, question: Callable[[], Any], partitions: Callable[[Any], int]
) -> Row:
    from benchmarks.history import counted

    answer, seconds, walls, queries = _measured(question, counted)
    return {
        "what": what,
        "ours": f"{seconds * 1e3:,.0f} ms",
        "wall": f"{walls * 1e3:,.0f} ms",
        "wanted": "" if wanted is None else f"{wanted * 1e3:,.0f} ms",
        "queries": queries,
        "partitions": f"{partitions(answer):,}",
        "missed": wanted is not None and seconds > wanted,
    }


def _measured(question: Callable[[], Any], counted: Any) -> tuple[Any, float, float, int]:
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
    sys.exit(main("states", "States of 100,000 materialized partitions", measure))
