"""What publishing adds to a write by Spark: seconds, and bytes read again.

A partition is written by hand (``frame.write.parquet(folder)``), and by us: staged, checked, and put in the place of
the one before. The rounds are interleaved and the medians shown, so that a busy machine disturbs both alike; the step
after Spark's write is timed by itself too. Bytes read are those that this process asked the system for in that step.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.io import WriteRequest, writer_for
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import readable_files
from airflow_partitions.storage.stores.open import open_staging
from benchmarks.read_one import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXAMPLES = """examples:
  python -m benchmarks publish
  python -m benchmarks.publish --megabytes 16 --rounds 5
  python -m benchmarks.publish --json > publish.json
"""
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")
EWR = AIRPORTS.parse("EWR")
#: A row of the frame is about this long.
ROW = 1_000
#: Checking and publishing may add so many seconds, and this share of the write by hand.
ALLOWED_SECONDS, ALLOWED_SHARE = 0.3, 0.02


def rows(spark: SparkSession, megabytes: int) -> DataFrame:
    """Rows of about *megabytes* as Parquet files; they compress to nothing much."""
    count = megabytes * 1_000_000 // ROW
    text = f"concat_ws('', transform(sequence(1, {ROW // 16}), n -> hex(xxhash64(id, n)))) text"
    return spark.range(0, count, 1, 4).selectExpr("id", text, "'EWR' airport")


def by_hand(frame: DataFrame, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    frame.drop("airport").write.mode("overwrite").parquet(str(folder))
    return {"seconds": time.perf_counter() - started}


def ours(frame: DataFrame, storage: Parquet, number: int) -> dict[str, float]:
    """What task and job do, but for submitting the job."""
    attempt = Attempt("benchmark", "run", number)
    began = time.perf_counter()
    staging = open_staging(storage, attempt, storage.layout.directory_of(EWR))
    opened = time.perf_counter()
    files = writer_for("spark", storage).write(frame, EWR, WriteRequest(dataset=storage, folder=staging.data))
    write_end, bytes_before = time.perf_counter(), bytes_read()
    publish(storage, EWR, attempt, staging, files)
    staging.remove()
    clean(storage)
    end = time.perf_counter()
    return {
        "seconds": end - began,
        "publishing": end - write_end + opened - began,
        "read": bytes_read() - bytes_before,
        "bytes": sum(readable_files(Path(storage.path_of(EWR))).values()),
    }


def bytes_read() -> int:
    """What this process has read so far, from disk or not."""
    return int(Path("/proc/self/io").read_text().split()[1])


def measure(megabytes: list[int], rounds: int, console: Console) -> list[dict[str, Any]]:
    summaries = []
    with session() as spark, Progress(console=console) as progress:
        spark.conf.set("spark.sql.parquet.compression.codec", "uncompressed")
        step = progress.add_task("writing", total=len(megabytes) * (rounds + 1))
        for size in megabytes:
            runs: dict[str, list[dict[str, float]]] = {"ours": [], "by hand": []}
            for number in range(rounds + 1):
                with tempfile.TemporaryDirectory() as folder:
                    one = _round(rows(spark, size), Path(folder), number)
                if number:  # the first one warms up
                    for way, run in one.items():
                        runs[way].append(run)
                progress.advance(step)
            summaries.append(summary(runs))
    return summaries


def _round(frame: DataFrame, folder: Path, number: int) -> dict[str, dict[str, float]]:
    storage = Parquet(str(folder / "ours"), partition=AIRPORTS)
    Path(storage.path_of(EWR)).mkdir(parents=True)  # so that something is replaced
    ways = {"ours": lambda: ours(frame, storage, 1), "by hand": lambda: by_hand(frame, folder / "hand")}
    runs = {}
    for way in ways if number % 2 else reversed(ways):
        runs[way] = ways[way]()
        shutil.rmtree(folder / "hand", ignore_errors=True)
    return runs


def summary(runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    def median(way: str, what: str) -> float:
        return statistics.median(run[what] for run in runs[way])

    hand = median("by hand", "seconds")
    allowed = ALLOWED_SECONDS + ALLOWED_SHARE * hand
    return {
        "megabytes": round(median("ours", "bytes") / 1_000_000),
        "by hand": round(hand, 3),
        "ours": round(median("ours", "seconds"), 3),
        "publishing": round(median("ours", "publishing"), 4),
        "allowed": round(allowed, 3),
        "read": round(median("ours", "read")),
        "met": median("ours", "seconds") - hand <= allowed,
    }


def show(summaries: list[dict[str, Any]], rounds: int, console: Console) -> None:
    table = Table(title=f"One partition written and published, seconds, median of {rounds}")
    for title in ("MB", "by hand", "ours", "added", "allowed", "of it publishing", "bytes read by that"):
        table.add_column(title, justify="right")
    for row in summaries:
        color = "green" if row["met"] else "red"
        table.add_row(
            f"{row['megabytes']:,}",
            f"{row['by hand']:.2f}",
            f"{row['ours']:.2f}",
            f"[{color}]{row['ours'] - row['by hand']:+.2f}[/]",
            f"{row['allowed']:.2f}",
            f"{row['publishing']:.3f}",
            f"{row['read']:,}",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--megabytes", type=int, nargs="+", default=[16, 1000], metavar="N", help="size of the partition"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="writes of each way (default: 3)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    summaries = measure(arguments.megabytes, arguments.rounds, Console(stderr=True))
    if arguments.json:
        print(json.dumps(summaries, indent=2))
    else:
        show(summaries, arguments.rounds, Console())
    raise SystemExit(not all(row["met"] for row in summaries))


if __name__ == "__main__":
    main()
