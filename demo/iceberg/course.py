"""The demo's course: ask for the flights, see a check refuse an airport's day, repair it, see the rest follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from demo import backfill
from demo.api import Api
from demo.backfill import PAUSE, STUCK_AFTER, Run
from demo.errors import DemoError
from demo.firing import SETTLED
from demo.iceberg import mistake
from demo.iceberg.plan import AIRPORT, ASSETS, FLIGHTS, of_day, quarter_with
from demo.plan import Target
from demo.processing import Progress


def until_refused(
    api: Api, day: date, flights: Path, progress: Progress, check: Callable[[], object]
) -> tuple[list[Run], Run | None]:
    """Bring the flights of *day*, one with a mistake, and make what follows; the newest runs, and the one that failed.

    Where the day was made before, nothing is made, and the run is the one that failed then.

    :param flights: the landing zone of the flights.
    """
    quarters, airports, _ = of_day(day)
    backfill.ready(api, ASSETS)
    if not backfill.latest(api, quarters):
        mistake.repair(flights, day)
        mistake.make(flights, day)
    with progress("flights and airports", len(quarters.keys) + len(airports.keys)) as tell:
        newest = backfill.wait(api, (quarters, airports), tell, check)
    refused = [run for run in backfill.runs(api, AIRPORT, str(day)) if run.state == "failed"]
    return newest, refused[-1] if refused else None


def repaired(api: Api, day: date, flights: Path, progress: Progress, check: Callable[[], object]) -> list[Run]:
    """Repair the landing zone, bring its flights again, and wait for all that follows; the newest runs of *day*."""
    targets = of_day(day)
    mistake.repair(flights, day)
    newest = _newest(api, targets)
    if any(run.state != "success" for run in newest):
        quarter = quarter_with(mistake.hour_of(flights, day))
        backfill.clear(api, backfill.runs(api, FLIGHTS, quarter)[-1])
    with progress(f"after the repair of {day}", sum(len(each.keys) for each in targets)) as tell:
        return _settle(api, targets, {run.id for run in newest if run.state == "failed"}, tell, check)


def _settle(
    api: Api,
    targets: Sequence[Target],
    failed_before: set[str],
    tell: Callable[[int, str], object],
    check: Callable[[], object],
) -> list[Run]:
    """Wait until all has succeeded, or something has failed once more, and nothing is under way."""
    total = sum(len(each.keys) for each in targets)
    before, changed = list[Run](), time.monotonic()
    while True:
        check()
        newest = _newest(api, targets)
        succeeded = sum(run.state == "success" for run in newest)
        if newest != before:
            tell(succeeded, "")
        if newest != before or any(backfill.under_way(api, asset) for asset in ASSETS):
            before, changed = newest, time.monotonic()
        failed = any(run.state == "failed" and run.id not in failed_before for run in newest)
        quiet = time.monotonic() - changed
        if quiet > SETTLED and (succeeded == total or failed):
            return newest
        if quiet > STUCK_AFTER:
            raise DemoError(f"nothing has moved for {STUCK_AFTER / 60:.0f} minutes: {succeeded} of {total} partitions")
        time.sleep(PAUSE)


def _newest(api: Api, targets: Sequence[Target]) -> list[Run]:
    return [run for each in targets for run in backfill.latest(api, each)]
