"""One key of a table of Iceberg published, and read: by us and by what Spark, pyiceberg and polars offer.

The table has a file for each of many days, and a SQL catalog. Spark writes the same rows of one day: into the table of
a try, which we then publish without Spark; by ``overwritePartitions()``; by ``MERGE INTO``. The table is put into the
same state before each round: with a manifest and a snapshot for each publish ever made, or with manifests rewritten and
snapshots expired. The sides take turns in one warm session and the medians are shown, so that a busy machine disturbs
all alike. Eight writers of other keys publish at once, and what each of them says is compared with what is stored.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console
from rich.table import Table

from airflow_partitions import Partition
from airflow_partitions.checks import NotNull, RowCount, ValueRange
from airflow_partitions.checks.audit import audit
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.keys import Interval
from airflow_partitions.storage import Attempt
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.iceberg.table.open import open_table
from airflow_partitions.storage.io import WriteRequest, writer_for
from airflow_partitions.storage.io.spark_packages import iceberg_package
from airflow_partitions.storage.stores.open import open_staging
from benchmarks.core import duration
from benchmarks.table_states import DAYS, REWRITTEN, ROWS, STATES, Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[1]
LAKES = ROOT / ".bench" / "tables"
PACKAGES = (iceberg_package("4.1"), "org.xerial:sqlite-jdbc:3.50.3.0")
OURS, PUBLISHING, OVERWRITE, MERGE = "ours", "of it publishing", "overwritePartitions", "MERGE INTO"
#: Publishing may take so many seconds longer than the quickest of Spark's ways; checks so many.
ALLOWED, ALLOWED_CHECKS = 0.2, 0.05
#: Publishing to the largest table may take so many times as long as to the smallest, where manifests are kept small.
FLAT = 2.0
WRITERS, PUBLISHES = 8, 4
CHECKS = (NotNull(["departed_at", "origin", "delay"]), RowCount(at_least=1), ValueRange("delay", at_least=0))
EXAMPLES = """examples:
  python -m benchmarks tables
  python -m benchmarks.tables --sizes 100,1000 --rounds 3
  python -m benchmarks.tables --json > tables.json
"""


@contextmanager
def session() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.jars.packages", ",".join(PACKAGES))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


class Sides:
    """Ways to publish and to read one key of the table of *lake*, which Spark knows by its catalog."""

    def __init__(self, spark: SparkSession, lake: Lake) -> None:
        self.spark, self.lake, self.storage = spark, lake, lake.delays
        self.table = f"lake_{lake.size}.flights.delays"
        options = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "jdbc",
            ".uri": f"jdbc:sqlite:{lake.folder}/catalog.db?busy_timeout=60000",
            ".warehouse": f"{lake.folder}/warehouse",
            ".jdbc.schema-version": "V1",
            ".cache-enabled": "false",
        }
        for name, value in options.items():
            spark.conf.set(f"spark.sql.catalog.lake_{lake.size}{name}", value)

    def frame(self, key: Interval) -> DataFrame:
        """The rows of *key*, anew."""
        start = f"timestamp_micros({key.time_range[0]} + id * {14 * 60_000_000})"
        rows = self.spark.range(0, ROWS, 1, 1)
        return rows.selectExpr(f"{start} departed_at", "'EWR' origin", "cast(id % 50 as double) delay")

    def where(self, key: Interval) -> str:
        low, high = (f"timestamp_micros({bound})" for bound in key.time_range)
        return f"departed_at >= {low} AND departed_at < {high}"

    def ours(self, key: Interval) -> dict[str, float]:
        """What task and job do, but for submitting the job."""
        attempt = Attempt("benchmark", f"run-{time.time_ns()}", 1)
        began = time.perf_counter()
        staging = open_staging(self.storage, attempt, self.storage.layout.directory_of(key))
        opened = time.perf_counter()
        request = WriteRequest(dataset=self.storage, folder=staging.data)
        files = writer_for("spark", self.storage).write(self.frame(key), key, request)
        written = time.perf_counter()
        staged = StagedPartition(Partition(DAYS, key), self.storage, files, staging.data)
        audit(CHECKS, staged, "delays")
        checked = time.perf_counter()
        publish(self.storage, key, attempt, staging, files)
        staging.remove()
        end = time.perf_counter()
        return {
            OURS: end - checked + written - began,
            PUBLISHING: end - checked + opened - began,
            "checks": checked - written,
        }

    def overwrite(self, key: Interval) -> dict[str, float]:
        began = time.perf_counter()
        self.frame(key).writeTo(self.table).overwritePartitions()
        return {OVERWRITE: time.perf_counter() - began}

    def merge(self, key: Interval) -> dict[str, float]:
        """As one who knows Iceberg would write it: the condition says which files may match."""
        began = time.perf_counter()
        self.frame(key).createOrReplaceTempView("departures")
        where = self.where(key).replace("departed_at", "t.departed_at")
        self.spark.sql(
            f"MERGE INTO {self.table} t USING departures s ON t.departed_at = s.departed_at AND {where}"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        return {MERGE: time.perf_counter() - began}

    def readers(self, key: Interval) -> Mapping[tuple[str, str], Callable[[], int]]:
        """Ways to count the rows of *key* with a delay, by reader and side."""
        low, high = (pl.lit(bound).cast(pl.Datetime("us", "UTC")) for bound in key.time_range)
        in_time = (pl.col("departed_at") >= low) & (pl.col("departed_at") < high)

        def plain_polars() -> int:
            return pl.scan_iceberg(open_table(self.storage)).filter(in_time).collect().height

        return {
            ("Spark", OURS): lambda: self.storage.read(key, spark=self.spark).count(),
            ("Spark", "plain filter"): lambda: self.spark.table(self.table).where(self.where(key)).count(),
            ("polars", OURS): lambda: self.storage.read(key, as_="polars").height,
            ("polars", "plain filter"): plain_polars,
        }


def measure_publishing(sides: Sides, state: str, rounds: int, console: Console) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {}
    ways = [sides.ours, sides.overwrite, sides.merge]
    for number in range(rounds + 1):
        key = sides.lake.key(number + 1)
        for way in ways if number % 2 else reversed(ways):
            with console.status(f"{sides.lake.size:,}, {state}, {number} of {rounds}: {way.__name__} …"):
                sides.lake.put(state)
                answers = way(key)
            if number:  # the first one warms up
                for name, value in answers.items():
                    seconds.setdefault(name, []).append(value)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    fastest = min(medians[OVERWRITE], medians[MERGE])
    row = {"keys": sides.lake.size, "state": state, **medians, "missed": medians[OURS] > fastest + ALLOWED}
    console.print(row)
    return row


def measure_reading(sides: Sides, state: str, rounds: int, console: Console) -> dict[str, Any]:
    sides.lake.put(state)
    seconds: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 2):
        ways = list(sides.readers(sides.lake.key(number)).items())
        for name, way in ways if number % 2 else reversed(ways):
            with console.status(f"{sides.lake.size:,}, {state}: read by {name[0]}, {name[1]} …"):
                began = time.perf_counter()
                if way() != ROWS:
                    raise SystemExit(f"{name} does not give {ROWS} rows")
                if number > 1:
                    seconds.setdefault(name, []).append(time.perf_counter() - began)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    row = {
        "keys": sides.lake.size,
        "state": state,
        **{f"{reader}, {side}": value for (reader, side), value in medians.items()},
        "missed": [reader for reader in ("Spark", "polars") if medians[reader, OURS] > medians[reader, "plain filter"]],
    }
    console.print(row)
    return row


def _publisher(lake: Lake, number: int, barrier: Any, answers: Any) -> None:
    storage, key = lake.delays, lake.key(number)
    rows = lake.rows([key])
    barrier.wait()
    seconds = []
    for _ in range(PUBLISHES):
        began = time.perf_counter()
        storage.save({key: rows}, mode="overwrite")
        seconds.append(time.perf_counter() - began)
    answers.put(seconds)


def publish_in_parallel(lake: Lake) -> dict[str, Any]:
    """By us: processes, each with a key of its own, one publish after the other."""
    processes = multiprocessing.get_context("spawn")
    barrier, answers = processes.Barrier(WRITERS + 1), processes.Queue()
    writers = [processes.Process(target=_publisher, args=(lake, n, barrier, answers)) for n in range(1, WRITERS + 1)]
    for writer in writers:
        writer.start()
    barrier.wait()
    began = time.perf_counter()
    seconds = [each for _ in writers for each in answers.get()]
    wall = time.perf_counter() - began
    for writer in writers:
        writer.join()
    return {"done": len(seconds), "seconds": wall, "median": statistics.median(seconds), "worst": max(seconds)}


def overwrite_in_parallel(sides: Sides) -> dict[str, Any]:
    """By Spark: threads of one session."""

    def publish_some(number: int) -> list[float]:
        seconds = []
        for _ in range(PUBLISHES):
            with suppress(Exception):  # it gives up after some conflicts
                seconds.append(sides.overwrite(sides.lake.key(number))[OVERWRITE])
        return seconds

    began = time.perf_counter()
    with ThreadPoolExecutor(WRITERS) as pool:
        seconds = [each for own in pool.map(publish_some, range(1, WRITERS + 1)) for each in own]
    wall = time.perf_counter() - began
    return {
        "done": len(seconds),
        "seconds": wall,
        "median": statistics.median(seconds or [0]),
        "worst": max(seconds, default=0),
    }


def measure_parallel(sides: Sides, state: str, console: Console) -> dict[str, Any]:
    figures = {}
    for name, way in {
        OURS: partial(publish_in_parallel, sides.lake),
        OVERWRITE: partial(overwrite_in_parallel, sides),
    }.items():
        with console.status(f"{WRITERS} writers at once: {name} …"):
            sides.lake.put(state)
            before = len(open_table(sides.storage).snapshots())
            figures[name] = way()
            table = open_table(sides.storage)
            figures[name]["snapshots"] = len(table.snapshots()) - before
            figures[name]["rows"] = table.scan().count()
    complete = all(figures[OURS][what] == WRITERS * PUBLISHES for what in ("done", "snapshots"))
    console.print(figures)
    return {**figures, "missed": not complete or figures[OURS]["rows"] != sides.lake.size * ROWS}


def run(sizes: list[int], rounds: int, console: Console) -> dict[str, Any]:
    lakes = [Lake(LAKES / str(size), size) for size in sizes]
    for lake in lakes:
        with console.status(f"making a table of {lake.size:,} keys …"):
            lake.make()
    (LAKES.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    with session() as spark:
        sides = [Sides(spark, lake) for lake in lakes]
        middle = sides[len(sides) // 2]
        reading = [measure_reading(middle, state, rounds, console) for state in STATES]
        parallel = measure_parallel(middle, REWRITTEN, console)
        publishing = [measure_publishing(each, state, rounds, console) for state in STATES for each in sides]
    kept = [row for row in publishing if row["state"] == REWRITTEN]
    checks = max(row["checks"] for row in publishing)
    return {
        "publishing": publishing,
        "reading": reading,
        "parallel": parallel,
        "checks": checks,
        "wanted": {
            f"published within {ALLOWED} s of the quickest": not any(row["missed"] for row in publishing),
            "flat where manifests are kept small": kept[-1][PUBLISHING] <= FLAT * kept[0][PUBLISHING],
            "read as quickly as by plain filters": not any(row["missed"] for row in reading),
            f"checks from statistics under {duration(ALLOWED_CHECKS)}": checks < ALLOWED_CHECKS,
            f"{WRITERS} writers at once lose no work": not parallel["missed"],
        },
    }


def show(report: dict[str, Any], console: Console) -> None:
    caption = f"{os.cpu_count()} CPUs, {platform.machine()}, load {os.getloadavg()[0]:.1f}"
    names = (OURS, PUBLISHING, OVERWRITE, MERGE)
    _show_rows(report["publishing"], names, "One key published", caption, console)
    names = tuple(f"{reader}, {side}" for reader in ("Spark", "polars") for side in (OURS, "plain filter"))
    _show_rows(report["reading"], names, "One key read", "", console)
    table = Table(title=f"{WRITERS} writers of other keys at once, {PUBLISHES} publishes each")
    for heading in ("", "done", "all", "median", "worst"):
        table.add_column(heading, justify="right" if heading else "left")
    for name in (OURS, OVERWRITE):
        row = report["parallel"][name]
        times = (duration(row[what]) for what in ("seconds", "median", "worst"))
        table.add_row(name, f"{row['done']} of {WRITERS * PUBLISHES}", *times)
    console.print(table)
    console.print(f"checks from statistics: {duration(report['checks'])}")
    for what, reached in report["wanted"].items():
        console.print(f"{'reached' if reached else 'MISSED '}  {what}")


def _show_rows(rows: list[dict[str, Any]], names: tuple[str, ...], title: str, caption: str, console: Console) -> None:
    table = Table(title=title, caption=caption)
    for heading in ("keys", "", *names):
        table.add_column(heading, justify="right" if heading else "left")
    for row in rows:
        table.add_row(f"{row['keys']:,}", row["state"], *(duration(row[name]) for name in names))
    console.print(table)


def main() -> int:
    """Run the benchmark; 1 if something wanted was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", default="100,1000,10000", metavar="N,…", help="keys of the tables")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often each is asked (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    chosen = parser.parse_args()
    logging.getLogger("py4j").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message="Iceberg scan planning")  # polars has another package for it
    report = run([int(size) for size in chosen.sizes.split(",")], chosen.rounds, Console(stderr=True))
    if chosen.json:
        print(json.dumps(report, indent=2))
    else:
        show(report, Console())
    return 0 if all(report["wanted"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
