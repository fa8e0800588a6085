"""A month of hours in one request: a few tasks make them all, and each hour has a run and an event of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from demo import backfill
from demo.api import Api
from demo.backfill import PAUSE, STUCK_AFTER
from demo.errors import DemoError
from demo.landing import NEW_YORK, partition_of

if TYPE_CHECKING:
    from pandas import DataFrame

ASSET, MONTH, HOURS = "hourly_carriers", "2013-01", 744
_STANDS_STILL = ("failed", "paused", "stopped", "cancelled")


@attrs.frozen
class Month:
    """What came of the request.

    :ivar hours: that there are.
    :ivar asked: that were asked for just now: those that were missing.
    :ivar tasks: that made these.
    :ivar seconds: from the request to the last of them.
    """

    hours: int
    asked: int
    tasks: int
    seconds: float

    def __str__(self) -> str:
        if not self.asked:
            return f"{ASSET} of {MONTH}: all {self.hours} hours are there"
        return f"{ASSET} of {MONTH}: {self.asked} hours by {self.tasks} tasks in {self.seconds:.0f} s, one request"


def make(
    api: Api,
    progress: Callable[[str, int], AbstractContextManager[Callable[[int, str], None]]],
    check: Callable[[], object],
) -> Month:
    """Ask for the hours of the month that are missing, and wait for them.

    :param progress: a context manager that is told how many are there.
    :param check: raises if there is no sense in going on.
    :raises DemoError: if the request does not end well.
    """
    backfill.ready(api, [ASSET])
    counts = _counts(api)
    begin, asked = time.monotonic(), HOURS - counts.get("materialized", 0)
    if asked:
        if _state(api) not in ("creating", "running"):  # one that a call before has left goes on
            states = [state for state in counts if state != "materialized"]
            api.partitions("POST", f"assets/{ASSET}/requests", {"select": MONTH, "states": states})
        with progress(f"{ASSET} of {MONTH}", HOURS) as tell:
            _wait(api, tell, check)
    return Month(HOURS, asked, _tasks(api) if asked else 0, time.monotonic() - begin)


def differences(lake: Path, flights: DataFrame) -> list[str]:
    """What is published otherwise than pandas counts the *flights* of the month, by hour and carrier."""
    import pandas as pd

    month = flights[(flights["year"] == 2013) & (flights["month"] == 1)]
    hours = month["time_hour"].dt.tz_convert(NEW_YORK).map(partition_of)
    expected = month.groupby([hours, "carrier"])["dep_delay"].agg(["size", "count"])
    folders = list((lake / ASSET).glob(f"hour={MONTH}-*"))
    rows = [
        pd.read_parquet(file).assign(hour=folder.name) for folder in folders for file in folder.glob("[!_.]*.parquet")
    ]
    counted = pd.concat(rows).set_index(["hour", "carrier"])[["flights", "departed"]].sort_index()
    wrong = [] if len(folders) == HOURS else [f"{ASSET} {MONTH}: {len(folders)} of {HOURS} hours are published"]
    if not counted.index.equals(expected.index) or (counted.to_numpy() != expected.to_numpy()).any():
        wrong.append(f"{ASSET} {MONTH}: {len(counted)} counts of carriers differ from the {len(expected)} of pandas")
    return wrong


def _wait(api: Api, tell: Callable[[int, str], object], check: Callable[[], object]) -> None:
    before, changed = -1, time.monotonic()
    while (there := _counts(api).get("materialized", 0)) < HOURS:
        check()
        if (state := _state(api)) in _STANDS_STILL:
            raise DemoError(f"the request for {ASSET} of {MONTH} is {state}; its page in the view says why")
        if there != before:
            tell(there, "")
            before, changed = there, time.monotonic()
        if time.monotonic() - changed > STUCK_AFTER:
            raise DemoError(f"nothing has moved for {STUCK_AFTER / 60:.0f} minutes: {there} of {HOURS} hours are there")
        time.sleep(PAUSE)
    tell(HOURS, "")


def _state(api: Api) -> str | None:
    """The state of the newest request; ``None`` if there is none."""
    requests = api.partitions("GET", f"requests?asset={ASSET}&limit=1")["requests"]
    return str(requests[0]["state"]) if requests else None


def _counts(api: Api) -> dict[str, int]:
    """Hours of the month by state."""
    counts: dict[str, int] = api.partitions("GET", f"assets/{ASSET}/counts?select={MONTH}")["counts"]
    return counts


def _tasks(api: Api) -> int:
    """How many tasks have made the month: where others made the partition of a run, its own task was on no machine."""
    tasks = api.pages(f"dags/{ASSET}/dagRuns/~/taskInstances", "task_instances", order_by="start_date")
    return sum(bool(task["hostname"]) for task in tasks)
