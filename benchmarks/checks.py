"""Checks between staged and published: seconds by statistics, and beside them the same by reading the columns.

A partition of so many rows in 20 Parquet files is staged. Eight checks are made as those of an asset are: of rows,
columns, nulls, ranges, and how fresh they are. By statistics only the ends of the files are read; to have them read,
the same files are given without statistics. What always reads a column is beside them: a range of doubles, which may
hold NaN, and a unique key. The rounds are interleaved and the medians shown.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.checks import (
    Check,
    ExactSchema,
    Freshness,
    NotNull,
    RowCount,
    RowCountChange,
    StagedPartition,
    Unique,
    ValueRange,
)
from airflow_partitions.checks.audit import audit
from airflow_partitions.storage import Parquet, StagedFiles

EXAMPLES = """examples:
  python -m benchmarks checks
  python -m benchmarks.checks --rows 1000000 --rounds 9
  python -m benchmarks.checks --json > checks.json
"""
DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
DAY, MIDNIGHT = "2013-02-08", datetime(2013, 2, 8, tzinfo=UTC)
FILES = 20
SCHEMA = {"id": "bigint", "origin": "string", "flight": "int", "delay": "double", "departed": "timestamp"}
#: All checks by statistics may take so many seconds.
ALLOWED = 0.05


def simple(rows: int) -> list[Check]:
    return [
        RowCount(at_least=1, at_most=rows),
        RowCountChange(20),
        ExactSchema(SCHEMA),
        NotNull(list(SCHEMA)),
        ValueRange("id", at_least=0, at_most=rows),
        ValueRange("flight", at_least=0, at_most=8_000),
        ValueRange("origin", at_least="EWR", at_most="LGA"),
        Freshness("departed", within="1h"),
    ]


def staged(folder: Path, rows: int, *, told: bool) -> StagedPartition:
    """*rows* flights of a day in 20 files, with statistics if *told*."""
    data = folder / ("with" if told else "without")
    data.mkdir()
    each = rows // FILES
    for number in range(FILES):
        ids = pl.int_range(number * each, (number + 1) * each, eager=True)
        frame = pl.DataFrame(
            {
                "id": ids,
                "origin": pl.Series(["EWR", "JFK", "LGA"]).gather(ids % 3),
                "flight": (ids.hash(2) % 8_000).cast(pl.Int32),
                "delay": (ids.hash(3) % 10_000).cast(pl.Float64) / 50 - 60,
                "departed": (ids * 86_400_000_000 // rows + int(MIDNIGHT.timestamp() * 1e6)).cast(
                    pl.Datetime("us", "UTC")
                ),
            }
        )
        pq.write_table(
            frame.to_arrow().cast(
                pa.schema(
                    [
                        ("id", pa.int64()),
                        ("origin", pa.string()),
                        ("flight", pa.int32()),
                        ("delay", pa.float64()),
                        ("departed", pa.timestamp("us", "UTC")),
                    ]
                )
            ),
            data / f"part-{number}.parquet",
            write_statistics=told,
        )
    sizes = {file.name: file.stat().st_size for file in sorted(data.iterdir())}
    storage = Parquet(str(folder / "lake"), partition=DAYS)
    return StagedPartition(Partition(DAYS, DAY), storage, StagedFiles(each * FILES, sizes, SCHEMA), data)


def measure(rows: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        with_statistics = staged(Path(place), rows, told=True)
        without = staged(Path(place), rows, told=False)
        ways: dict[str, tuple[StagedPartition, list[Check]]] = {
            "statistics": (with_statistics, simple(rows)),
            "reading": (without, simple(rows)),
            "range of doubles": (with_statistics, [ValueRange("delay", at_least=-60, at_most=140)]),
            "unique": (with_statistics, [Unique("id")]),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(rounds + 1):
            for way, (partition, checks) in ways.items():
                started = time.perf_counter()
                audit(checks, partition, "flights")
                if number:  # the first one warms up
                    seconds[way].append(time.perf_counter() - started)
    medians = {way: round(statistics.median(each), 4) for way, each in seconds.items()}
    return {"rows": rows, "files": FILES, **medians, "met": medians["statistics"] <= ALLOWED}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000], metavar="N", help="of the partition")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each way (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    with Console(stderr=True).status("checking …"):
        rows = [measure(number, arguments.rounds) for number in arguments.rows]
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        table = Table(title=f"Checks of a staged partition, seconds, median of {arguments.rounds}")
        for title in (
            "rows",
            "files",
            "8 checks by statistics",
            "the same by reading",
            "range of doubles",
            "unique key",
        ):
            table.add_column(title, justify="right")
        for row in rows:
            color = "green" if row["met"] else "red"
            table.add_row(
                f"{row['rows']:,}",
                str(row["files"]),
                f"[{color}]{row['statistics']:.3f}[/]",
                f"{row['reading']:.3f}",
                f"{row['range of doubles']:.3f}",
                f"{row['unique']:.3f}",
            )
        Console().print(table)
    raise SystemExit(not all(row["met"] for row in rows))


if __name__ == "__main__":
    main()
