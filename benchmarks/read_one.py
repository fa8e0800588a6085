"""One partition out of many, read by us and by naming its folder by hand: seconds and file-system calls.

Both must not depend on how many partitions there are. Calls are counted by strace, on Python and the JVM, in a read of
their own; times are medians of interleaved reads in one warm session, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.frames.input import Input
from airflow_partitions.storage import Parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = """examples:
  python benchmarks/read_one.py
  python benchmarks/read_one.py --sizes 100 1000 --reads 5
  python benchmarks/read_one.py --json > read_one.json
"""
COLUMNS = {"origin": "string", "delay": "double"}
HOURLY = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")


class Flights:
    """A table of *size* hourly partitions, one small file each; the one in the middle is read."""

    def __init__(self, spark: SparkSession, folder: Path, size: int) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.spark = spark
        self.storage = Parquet(
            str(folder),
            partition=HOURLY,
            partition_on={"hour": "%Y-%m-%dT%H:%M%z"},
            schema=COLUMNS,
            ownership="read-only",
        )
        folder.mkdir()
        file = folder / "_file"
        pq.write_table(pa.table({"origin": ["EWR", "JFK"] * 500, "delay": [1.0] * 1000}), file)
        hours = HOURLY.keys(end="2023-01-01")
        keys = [next(hours) for _ in range(size)]
        for key in keys:
            partition = Path(self.storage.path_of(key))
            partition.mkdir()
            (partition / "0.parquet").hardlink_to(file)
        self.partition = Partition(HOURLY, keys[size // 2])
        self.folder = self.storage.path_of(keys[size // 2])

    def ours(self) -> int:
        """What a job of ours does: selection, check that it is there, DataFrame; then an action."""
        source = Input.needed_by(self.partition, "flights", self.storage)
        source.identities()
        return source.read(self.spark).where("origin = 'EWR'").count()

    def by_hand(self) -> int:
        """What someone who knows the folder would write."""
        reader = self.spark.read.schema("origin string, delay double, hour string")
        return reader.option("basePath", self.storage.path).parquet(self.folder).where("origin = 'EWR'").count()

    def ways(self) -> dict[str, Callable[[], int]]:
        return {"ours": self.ours, "by hand": self.by_hand}


def calls(action: Callable[[], int], spark: SparkSession, root: str) -> int | None:
    """File-system calls of *action* that name something below *root*; ``None`` where strace can't watch."""
    if shutil.which("strace") is None:
        return None
    pids = [str(os.getpid()), str(spark._jvm.java.lang.ProcessHandle.current().pid())]  # noqa: SLF001
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "strace.log")
        command = ["strace", "-f", "-qq", "-e", "trace=%file", "-s", "400", "-o", str(log)]
        watcher = subprocess.Popen(
            [*command, *(word for pid in pids for word in ("-p", pid))], stderr=subprocess.DEVNULL
        )
        try:
            if not _watching(log, watcher):
                return None
            before = log.read_text(errors="replace").count(root)
            action()
            time.sleep(0.5)
        finally:
            watcher.send_signal(signal.SIGINT)
            watcher.wait()
        lines = [
            line for line in log.read_text(errors="replace").splitlines() if root in line and "resumed" not in line
        ]
        return len(lines) - before


def _watching(log: Path, watcher: subprocess.Popen[bytes]) -> bool:
    """Wait until strace sees what this process does."""
    for _ in range(100):
        Path("/watched-by-strace").exists()
        if log.exists() and "watched-by-strace" in log.read_text(errors="replace"):
            time.sleep(0.5)  # the threads of the JVM are attached one by one
            return True
        if watcher.poll() is not None:
            return False
        time.sleep(0.1)
    return False


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
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def measure(sizes: list[int], reads: int, console: Console) -> list[dict[str, Any]]:
    with session() as spark, tempfile.TemporaryDirectory() as folder, Progress(console=console) as progress:
        step = progress.add_task("tables", total=len(sizes) + reads * len(sizes) + len(sizes))
        tables = {}
        for size in sizes:
            tables[size] = Flights(spark, Path(folder, str(size)), size)
            tables[size].ours(), tables[size].by_hand()
            progress.advance(step)
        seconds: dict[tuple[int, str], list[float]] = {}
        progress.update(step, description="interleaved reads")
        for round_number in range(reads):
            for size, table in tables.items():
                ways = list(table.ways().items())
                for name, way in ways if round_number % 2 else reversed(ways):
                    started = time.perf_counter()
                    way()
                    seconds.setdefault((size, name), []).append(time.perf_counter() - started)
                progress.advance(step)
        rows = []
        progress.update(step, description="counting calls")
        for size, table in tables.items():
            for name, way in table.ways().items():
                counted = calls(way, spark, table.storage.path)
                median = statistics.median(seconds[size, name])
                rows.append({"partitions": size, "way": name, "seconds": round(median, 4), "calls": counted})
            progress.advance(step)
        return rows


def show(rows: list[dict[str, Any]], reads: int, console: Console) -> None:
    table = Table(title=f"One partition read, median of {reads}", caption="calls: below the table's folder, by strace")
    for title in ("partitions", "way", "seconds", "file-system calls"):
        table.add_column(title, justify="left" if title == "way" else "right")
    for row in rows:
        shown = "-" if row["calls"] is None else str(row["calls"])
        table.add_row(
            f"{row['partitions']:,}", row["way"], f"{row['seconds']:.3f}", shown, end_section=row["way"] != "ours"
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000], metavar="N", help="partitions")
    parser.add_argument("--reads", type=int, default=15, metavar="N", help="reads of each way (default: 15)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    rows = measure(arguments.sizes, arguments.reads, Console(stderr=True))
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows, arguments.reads, Console())


if __name__ == "__main__":
    main()
