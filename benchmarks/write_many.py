"""Rows of many keys written to a table of Iceberg at once: by ``write_many`` of ours, and by pyiceberg's ``append``.

Each key has one row. Ours publishes each as a partition, with a record of its own, in one snapshot; pyiceberg appends
the same rows to a table partitioned by the same column, and keeps no record. The seconds are processor time, the least
of the rounds.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType
from rich.console import Console
from rich.table import Table

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Iceberg, write_many
from benchmarks.core import duration

#: So many keys may take so many seconds of processor time.
WANTED_KEYS, ALLOWED = 1000, 3.0
EXAMPLES = """examples:
  python -m benchmarks write_many
  python -m benchmarks.write_many --keys 250,1000,4000
"""


def rows_of(count: int) -> pa.Table:
    return pa.table({"zone": [f"zone {number}" for number in range(count)], "v": list(range(count))})


def ours(folder: Path, rows: pa.Table) -> float:
    """Seconds of ``write_many``, to a table that is there."""
    storage = Iceberg(
        "db.ours",
        catalog="lake",
        credentials={"type": "sql", "uri": f"sqlite:///{folder}/ours.db", "warehouse": f"file://{folder}/ours"},
        partition=PartitionBySequence(rows["zone"].to_pylist(), name="zone"),
        partition_on={"zone": "zone"},
        schema={"zone": "string", "v": "bigint"},
        create=True,
    )
    write_many(rows.slice(0, 1), storage)
    began = time.process_time()
    published = write_many(rows, storage, mode="overwrite")
    seconds = time.process_time() - began
    if len(published) != len(rows) or storage.read(as_="arrow", full_scan=True).num_rows != len(rows):
        raise SystemExit(f"{len(published)} of {len(rows)} keys were published")
    return seconds


def plain(folder: Path, rows: pa.Table) -> float:
    """Seconds of pyiceberg's ``append``, to a table partitioned by the key."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/plain.db", warehouse=f"file://{folder}/plain")
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "zone", StringType()), NestedField(2, "v", LongType()))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "zone"))
    table = catalog.create_table("db.plain", schema, partition_spec=spec)
    table.append(rows.slice(0, 1))
    began = time.process_time()
    table.append(rows)
    return time.process_time() - began


def main() -> int:
    """Run the benchmark; 1 if something wanted was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.write_many",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--keys", default="60,250,1000", metavar="N,…", help="how many keys are written at once")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often (default: 3)")
    chosen = parser.parse_args()
    caption = f"{os.cpu_count()} CPUs, {platform.machine()}, load {os.getloadavg()[0]:.1f}"
    table = Table(title="Keys written to a table of Iceberg at once, processor time", caption=caption)
    for heading in ("keys", "write_many", "append of pyiceberg"):
        table.add_column(heading, justify="right")
    reached = True
    for count in map(int, chosen.keys.split(",")):
        rows, best = rows_of(count), []
        for way in (ours, plain):
            seconds = []
            for _ in range(chosen.rounds):
                with TemporaryDirectory() as folder:
                    seconds.append(way(Path(folder), rows))
            best.append(min(seconds))
        table.add_row(f"{count:,}", *map(duration, best))
        reached &= count > WANTED_KEYS or best[0] <= ALLOWED
    Console().print(table)
    Console().print(f"{'reached' if reached else 'MISSED '}  {WANTED_KEYS:,} keys within {ALLOWED:.0f} s")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
