"""One and thirty partitions out of many, side by side: ours, Spark by hand and with its defaults, pyarrow, Kedro.

All ways read the same files and must agree on the number of rows. Times are medians of the wall clock, asked in turns,
in warm processes. Kedro gets an environment of its own under .bench/, made the first time. The last table lists
partitions on a local disk without reading them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Filter, Parquet, field
from benchmarks.core import duration
from benchmarks.read_one import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
KEDRO = ("kedro==1.7.0", "kedro-datasets==9.6.0", "pandas", "pyarrow")
ENVIRONMENT = ROOT / ".bench" / "kedro"
HOURS = PartitionByInterval("@hourly", start="2013-01-01")
COLUMNS = {"origin": "string", "delay": "double"}
#: Ways without a promise are there to be compared with.
OURS, BY_HAND, PLAIN = "ours, Spark", "Spark, folders by hand", "Spark, where(…)"
OURS_PANDAS, ARROW, KEDRO_PANDAS = "ours, pandas", "pyarrow, pandas", "Kedro, pandas"
EXAMPLES = """examples:
  python -m benchmarks.read_many
  python -m benchmarks.read_many --partitions 1000 --rounds 5 --listed 10000
  python -m benchmarks.read_many --json > read_many.json
"""


class Flights:
    """A table of *size* hourly partitions, one small file each."""

    def __init__(self, folder: Path, size: int) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.files = Parquet(
            str(folder), partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H"}, schema=COLUMNS, ownership="read-only"
        )
        folder.mkdir()
        table = pa.table({"origin": ["EWR", "JFK"] * 500, "delay": [1.0] * 1000})
        self.hours = list(islice(HOURS.keys(end="2100-01-01"), size))
        for number, hour in enumerate(self.hours):
            partition = Path(self.files.path_of(hour))
            partition.mkdir()
            if number % 10_000 == 0:  # a file can't have more names than some ten thousands
                pq.write_table(table, file := folder / f"_{number}")
            (partition / "0.parquet").hardlink_to(file)

    def chosen(self, count: int) -> tuple[list[str], Filter]:
        """Texts of the column for *count* hours in the middle, and the filter that chooses them."""
        middle = self.hours[len(self.hours) // 2 :][:count]
        where = field("time").between(middle[0].start, middle[-1].end)
        return [hour.start.strftime("%Y-%m-%dT%H") for hour in middle], where


def spark_ways(spark: SparkSession, flights: Flights, count: int) -> dict[str, Callable[[], int]]:
    texts, where = flights.chosen(count)
    path = flights.files.path
    schema = "origin string, delay double, hour string"

    def by_hand() -> int:
        reader = spark.read.schema(schema).option("basePath", path)
        return reader.parquet(*(f"{path}/hour={text}" for text in texts)).count()

    return {
        OURS: lambda: flights.files.read(where, spark=spark).count(),
        BY_HAND: by_hand,
        PLAIN: lambda: spark.read.parquet(path).where(f"hour >= '{texts[0]}' AND hour <= '{texts[-1]}'").count(),
    }


def pandas_ways(kedro: Callable[[str, list[str]], dict[str, Any]], flights: Flights, count: int) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    texts, where = flights.chosen(count)
    path = flights.files.path
    columns = ds.partitioning(pa.schema([("hour", pa.string())]), flavor="hive")

    def arrow() -> int:
        dataset = ds.dataset(path, partitioning=columns)
        return len(dataset.to_table(filter=pc.field("hour").isin(texts)).to_pandas())

    return {
        OURS_PANDAS: lambda: len(flights.files.read(where, "pandas")),
        ARROW: arrow,
        KEDRO_PANDAS: lambda: kedro(path, [f"hour={text}/0" for text in texts]),
    }


def listing_ways(flights: Flights) -> dict[str, Callable[[], int]]:
    month = field("time").between(flights.hours[0].start, flights.hours[0].start + timedelta(days=30))
    names = field("hour").between("2015-01-01T00", "2015-02-01T00")
    return {
        "a month, by time": lambda: sum(1 for _ in flights.files.list(month)),
        "a month, by the column": lambda: sum(1 for _ in flights.files.list(names)),
        "all": lambda: sum(1 for _ in flights.files.list()),
        "names alone, os.scandir": lambda: sum(1 for _ in os.scandir(flights.files.path)),
    }


@contextmanager
def kedro_worker(console: Console) -> Iterator[Callable[[str, list[str]], dict[str, Any]]]:
    """A process with Kedro in it."""
    python, ready = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "ready"
    if not ready.exists():
        with console.status(f"making {ENVIRONMENT.relative_to(ROOT)} with {KEDRO[0]} …"):
            subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *KEDRO], check=True)
        (ENVIRONMENT.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        ready.touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [python, "-m", "benchmarks.read_many_kedro"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(path: str, texts: list[str]) -> dict[str, Any]:
            print(json.dumps([path, texts]), file=questions, flush=True)
            answer: dict[str, Any] = json.loads(answers.readline())
            return answer

        yield ask
        questions.close()


def measure(ways: dict[str, Callable[[], Any]], rounds: int, rows: int | None = None) -> dict[str, float]:
    """Median seconds of each way, after one round to warm up.

    :param rows: what each must answer; ``None`` if they count different things.
    """
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        row_counts = {}
        for name, way in ways.items() if number % 2 else reversed(ways.items()):
            started = perf_counter()
            answer = way()
            elapsed = perf_counter() - started
            if isinstance(answer, dict):
                elapsed, answer = answer["seconds"], answer["rows"]
            row_counts[name] = answer
            if number:
                seconds.setdefault(name, []).append(elapsed)
        if rows is not None and set(row_counts.values()) != {rows}:
            raise SystemExit(f"the ways differ: {row_counts}; expected {rows} rows")
    return {name: statistics.median(seconds[name]) for name in ways}


def verdicts(counts: dict[int, dict[str, float]], listed: dict[str, float]) -> dict[str, bool]:
    """What was wanted, and whether it is so."""
    answers = {}
    for count, seconds in counts.items():
        answers[f"{count}: within 100 ms of folders by hand"] = seconds[OURS] - seconds[BY_HAND] <= 0.1
        answers[f"{count}: 50 times as fast as Spark's defaults"] = seconds[PLAIN] / seconds[OURS] >= 50
        answers[f"{count}: as fast as pyarrow"] = seconds[OURS_PANDAS] <= seconds[ARROW]
        answers[f"{count}: as fast as Kedro"] = seconds[OURS_PANDAS] <= seconds[KEDRO_PANDAS]
    answers["listed and filtered in a second"] = all(each < 1 for each in listed.values())
    return answers


def run(partitions: int, listed: int, rounds: int, console: Console) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        with console.status(f"making {partitions:,} and {listed:,} partitions …"):
            flights, many = Flights(Path(folder, "flights"), partitions), Flights(Path(folder, "many"), listed)
        counts: dict[int, dict[str, float]] = {}
        with kedro_worker(console) as kedro, console.status("pandas …"):
            for count in (1, 30):
                counts[count] = measure(pandas_ways(kedro, flights, count), rounds, rows=1000 * count)
        with console.status("listing …"):
            listings = measure(listing_ways(many), rounds)
        with session() as spark, console.status("Spark …"):
            for count in (1, 30):
                ways = spark_ways(spark, flights, count)
                plain = {PLAIN: ways.pop(PLAIN)}
                # The quick ways are asked more often, and not beside one that fills the memory of the driver.
                counts[count] |= measure(ways, 4 * rounds, rows=1000 * count) | measure(
                    plain, rounds, rows=1000 * count
                )
    return {
        "machine": f"{os.cpu_count()} CPUs, {platform.machine()}, load {os.getloadavg()[0]:.1f}",
        "partitions": partitions,
        "listed": listed,
        "rounds": rounds,
        "seconds": counts,
        "listing": listings,
        "wanted": verdicts(counts, listings),
    }


def show(report: dict[str, Any], console: Console) -> None:
    table = Table(
        title=f"of {report['partitions']:,} partitions, medians of {report['rounds']}", caption=report["machine"]
    )
    for heading in ("", "1", "30"):
        table.add_column(heading, justify="right" if heading else "left")
    for name in (OURS, BY_HAND, PLAIN, OURS_PANDAS, ARROW, KEDRO_PANDAS):
        table.add_row(name, *(duration(report["seconds"][count][name]) for count in (1, 30)))
    console.print(table)
    table = Table(title=f"{report['listed']:,} partitions listed")
    table.add_column("")
    table.add_column("", justify="right")
    for name, seconds in report["listing"].items():
        table.add_row(name, duration(seconds))
    console.print(table)
    for what, reached in report["wanted"].items():
        console.print(f"{'reached' if reached else 'MISSED '}  {what}")


def main() -> int:
    """Run the benchmark; 1 if something wanted was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.read_many",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    number = partial(parser.add_argument, type=int, metavar="N")
    number("--partitions", default=10_000, help="partitions to choose from (default: 10,000)")
    number("--listed", default=100_000, help="partitions to list (default: 100,000)")
    number("--rounds", default=5, help="how often each way is asked (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    chosen = parser.parse_args()
    report = run(chosen.partitions, chosen.listed, chosen.rounds, Console(stderr=True))
    if chosen.json:
        print(json.dumps(report, indent=2))
    else:
        show(report, Console())
    return 0 if all(report["wanted"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
