"""What is asked of both sides, and how: each is a process of its own that answers a line of JSON with a line of JSON.

Only the standard library: this also runs in Dagster's environment.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

#: 3,650 days, 87,600 hours in UTC and in New York.
START, END = "2015-01-01", "2024-12-29"
DAYS = 3_650
REGIONS = [f"region-{n:02}" for n in range(50)]
SAMPLE = 1_000


class Case(NamedTuple):
    """A question. *each* says whether the time of one of many questions is shown, or the time of the whole."""

    name: str
    title: str
    each: bool = False
    #: How many times faster than Dagster, and how many microseconds, it should be.
    wanted_ratio: float | None = None
    wanted_microseconds: float | None = None
    #: Whether Dagster has nothing like it.
    alone: bool = False


CASES = (
    Case("texts", "87,600 hourly keys as texts", wanted_ratio=4),
    Case("objects", "87,600 hourly keys as objects", wanted_ratio=4),
    Case("datetimes", "87,600 hourly keys and their two datetimes"),
    Case("quarters", "350,400 quarter-hourly keys as texts", wanted_ratio=4),
    Case("next", "next interval", each=True, wanted_microseconds=20),
    Case("previous", "previous interval", each=True, wanted_microseconds=20),
    Case("next_text", "next key, text to text", each=True, wanted_microseconds=20),
    Case("key_at", "key of an instant", each=True, wanted_microseconds=20),
    Case("count", "count", each=True, wanted_microseconds=20),
    Case("product", "182,500 keys of days x regions as texts", wanted_ratio=4),
    Case("product_first", "first key of days x regions", wanted_ratio=1_000),
    Case("product_last", "last key of days x regions", wanted_ratio=1_000),
    Case("day_hours", "hours of 3,650 days, as texts", wanted_ratio=4),
    Case("day_ranges", "hours of 3,650 days, as ranges", wanted_ratio=10),
    Case("ten_years", "days of 87,600 hours, in one call", each=True),
    Case("hour_day", "day of an hour", each=True, wanted_ratio=10),
    Case("day_regions", "50 product keys of a day, as texts", each=True, wanted_ratio=4),
    Case("day_regions_range", "50 product keys of a day, as a range", each=True, wanted_ratio=10),
    Case("region_day", "day of a product key", each=True, wanted_ratio=10),
    Case("without_one", "days x 456,976 combinations, without one key", wanted_microseconds=100_000, alone=True),
    Case("without_some", "hours x 160,000 combinations, without 3,000 keys", wanted_microseconds=100_000, alone=True),
    Case("and_some", "the same, compared with the whole", wanted_microseconds=100_000, alone=True),
    Case("unknown", "unknown value of 10,000", each=True, wanted_microseconds=200, alone=True),
)

_EACH = {case.name for case in CASES if case.each}

Work = Callable[[], int]


def serve(sides: dict[str, Callable[[str], Work]]) -> None:
    """Answer each line ``[case, zone]`` with the seconds it took and the number of keys or questions."""
    for line in sys.stdin:
        name, zone = json.loads(line)
        work = sides[name](zone)
        if name in _EACH:
            work()  # questions are asked again and again; the first one of a process is a case of its own
        gc.collect()
        started = process_time()
        count = work()
        print(json.dumps({"seconds": process_time() - started, "count": count}), flush=True)


def sample(items: list[Any]) -> list[Any]:
    """Some of *items*, far apart, none of them first or last."""
    return items[1:-1][:: len(items) // SAMPLE][:SAMPLE]
