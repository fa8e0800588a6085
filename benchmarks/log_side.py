"""What both sides of :mod:`benchmarks.log` share. Only the standard library: this also runs in Delta's environment."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

#: So many partitions are told in one commit.
BATCH = 100_000
#: Commits of one partition after those.
MORE = 5
START = datetime(2013, 1, 1, tzinfo=UTC)


def hours(start: int, end: int) -> list[str]:
    """Texts of the column for so many hours."""
    return [(START + timedelta(hours=number)).strftime("%Y-%m-%dT%H") for number in range(start, end)]


def batches(size: int) -> Iterator[list[str]]:
    """The hours of each commit."""
    for start in range(0, size, BATCH):
        yield hours(start, min(start + BATCH, size))
    for number in range(MORE):
        yield hours(some := number * size // MORE, some + 1)


def chosen(size: int, count: int) -> list[str]:
    """Hours all over the log."""
    return [hours(some := (2 * number + 1) * size // (2 * count), some + 1)[0] for number in range(count)]


def peak_mb() -> float:
    """The most memory that this process had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def answer(ways: dict[str, Callable[[str, int], int]]) -> None:
    """Do what the arguments say: the path of the log, one of *ways*, and how many partitions there are."""
    path, what, size = sys.argv[1:]
    started = perf_counter()
    partitions = ways[what](path, int(size))
    print(json.dumps({"seconds": perf_counter() - started, "mb": peak_mb(), "partitions": partitions}))
