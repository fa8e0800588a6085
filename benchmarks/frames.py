"""A function over frames as an asset, beside the same by hand with polars: seconds of one key.

The input is one day of a Parquet dataset, the output is one partition. By hand: scan the file, compute, write a file
and rename it. By us: what the task of an ``@asset`` does from its run's key to the published partition, with its counts
on the event; the start of Airflow's task process is not in it. Publishing, from staged files to what readers see, is
timed by itself too. The rounds are interleaved and the medians shown, so
that a busy machine disturbs all alike.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import polars as pl
import structlog
from airflow.sdk.execution_time.context import OutletEventAccessors
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from airflow_partitions import Partition, PartitionByInterval, asset
from airflow_partitions.authoring.assets import frame_operator
from airflow_partitions.engine.runs.publication import finish
from airflow_partitions.storage import Parquet

EXAMPLES = """examples:
  python -m benchmarks frames
  python -m benchmarks.frames --rows 100000 --rounds 9
  python -m benchmarks.frames --json > frames.json
"""
DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
DAY = "2013-02-08"
#: Publishing may take so many seconds, however many rows there are.
ALLOWED = 0.2


def mean_delays(flights: pl.LazyFrame) -> pl.LazyFrame:
    """Few rows of many: only two columns are needed."""
    return flights.group_by("origin").agg(pl.mean("delay"), pl.len().alias("flights"))


def late_flights(flights: pl.LazyFrame) -> pl.LazyFrame:
    """As many rows, with a column more."""
    return flights.with_columns(late=pl.col("delay") > 15)


QUERIES: Mapping[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "grouped": mean_delays,
    "all rows, one more column": late_flights,
}


def flights(storage: Parquet, rows: int) -> None:
    """A day of *rows* flights."""
    number = pl.int_range(rows, eager=True)
    frame = pl.DataFrame(
        {
            "origin": pl.Series(["EWR", "JFK", "LGA"]).gather(number % 3),
            "carrier": pl.Series([f"C{n:02}" for n in range(16)]).gather(number.hash(1) % 16),
            "flight": (number.hash(2) % 8_000).cast(pl.Int32),
            "delay": (number.hash(3) % 10_000).cast(pl.Float64) / 50 - 60,
            "distance": (number.hash(4) % 5_000).cast(pl.Float64),
        }
    )
    storage.save({DAY: frame})


def by_hand(query: Callable[[pl.LazyFrame], pl.LazyFrame], source: str, folder: Path) -> int:
    staged, final = folder / "_staged.parquet", folder / f"date={DAY}" / "part-0.parquet"
    final.parent.mkdir(parents=True, exist_ok=True)
    frame = query(pl.scan_parquet(source)).collect()
    frame.write_parquet(staged, compression="snappy")
    staged.rename(final)
    return len(frame)


def declared(query: Callable[[Any], Any], frame: type, source: Parquet, folder: Path) -> Any:
    """The asset whose function takes *source* as such a *frame*."""

    def function(flights: Any) -> Any:
        return query(flights)

    function.__annotations__["flights"] = frame
    function.__qualname__ = function.__name__ = folder.name.replace("-", "_")
    decorator = asset(schedule="@daily", partition=DAYS, inputs={"flights": source}, storage=Parquet(str(folder)))
    return decorator(function)


def run(made: Any, number: int, publishing: list[float]) -> int:
    """What the task of an asset does; gives the rows that it has published, and notes the seconds of that step."""

    def timed(*arguments: Any, **more: Any) -> None:
        started = time.perf_counter()
        finish(*arguments, **more)
        publishing.append(time.perf_counter() - started)

    events = OutletEventAccessors()
    context = {
        "partition": Partition(DAYS, DAY),
        "ti": SimpleNamespace(dag_id=made.name, run_id=f"run {number}", try_number=1),
        "outlet_events": events,
        "dag_run": SimpleNamespace(run_after=datetime(2013, 2, 9, tzinfo=UTC)),
        "dag": SimpleNamespace(),
    }
    with patch.object(frame_operator, "finish", timed):
        made.task.execute(context)
    rows: Any = events[made].extra["rows"]
    return int(rows)


def measure(sizes: list[int], rounds: int, console: Console) -> list[dict[str, Any]]:
    summaries = []
    with Progress(console=console) as progress:
        step = progress.add_task("making", total=len(sizes) * len(QUERIES) * (rounds + 1))
        for size in sizes:
            with tempfile.TemporaryDirectory() as place:
                source = Parquet(f"{place}/flights", partition=DAYS)
                flights(source, size)
                for name, query in QUERIES.items():
                    seconds = _seconds(query, source, Path(place), rounds, lambda: progress.advance(step))
                    summaries.append({"rows": size, "query": name, **summary(seconds)})
    return summaries


def _seconds(
    query: Callable[[Any], Any], source: Parquet, place: Path, rounds: int, advance: Callable[[], None]
) -> dict[str, list[float]]:
    stored = source.get(DAY)
    assert stored is not None
    (file,) = stored.paths
    made = {
        kind: declared(query, frame, source, place / f"{kind}-{query.__name__}")
        for kind, frame in (("lazy", pl.LazyFrame), ("eager", pl.DataFrame))
    }
    ways: dict[str, Callable[[int], int]] = {
        "by hand": lambda _: by_hand(query, file, place / f"hand-{query.__name__}"),
        "lazy": lambda number: run(made["lazy"], number, publishing),
        "eager": lambda number: run(made["eager"], number, publishing),
    }
    publishing: list[float] = []
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        rows = set()
        for way in ways if number % 2 else reversed(ways):
            started = time.perf_counter()
            rows.add(ways[way](number))
            if number:  # the first one warms up
                seconds[way].append(time.perf_counter() - started)
        if len(rows) != 1:
            raise SystemExit(f"the ways gave different numbers of rows: {rows}")
        advance()
    return {**seconds, "publishing": publishing[2:]}


def summary(seconds: Mapping[str, list[float]]) -> dict[str, Any]:
    medians = {way: round(statistics.median(each), 3) for way, each in seconds.items()}
    return {**medians, "met": medians["publishing"] <= ALLOWED}


def show(summaries: list[dict[str, Any]], rounds: int, console: Console) -> None:
    table = Table(title=f"One key by a function over frames, seconds, median of {rounds}")
    for title in ("rows", "result", "by hand", "asset, LazyFrame", "asset, DataFrame", "of it publishing"):
        table.add_column(title, justify="left" if title == "result" else "right")
    for row in summaries:
        color = "green" if row["met"] else "red"
        table.add_row(
            f"{row['rows']:,}",
            row["query"],
            f"{row['by hand']:.3f}",
            f"{row['lazy']:.3f}",
            f"{row['eager']:.3f}",
            f"[{color}]{row['publishing']:.3f}[/]",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 10_000_000], metavar="N", help="of the key")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each way (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    # A task that is not run by Airflow's runner warns of it.
    logging.disable(logging.WARNING)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    summaries = measure(arguments.rows, arguments.rounds, Console(stderr=True))
    if arguments.json:
        print(json.dumps(summaries, indent=2))
    else:
        show(summaries, arguments.rounds, Console())
    raise SystemExit(not all(row["met"] for row in summaries))


if __name__ == "__main__":
    main()
