"""One partition made again, and the runs that follow from it by themselves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable

import attrs

from demo.api import Api
from demo.backfill import PAUSE, Run, clear, runs, under_way
from demo.errors import DemoError
from demo.plan import FOLLOWERS, HOURLY, Wanted

SETTLED = 15.0  # seconds without a run under way until no more is expected to start
LATE = 60.0  # the same where one is missing
PATIENCE = 600.0  # seconds until all must have ended


@attrs.frozen
class Firing:
    """Runs that started by themselves, beside those that should have: asset and key of each."""

    expected: tuple[tuple[str, str], ...]
    fired: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, wanted: Iterable[Wanted], found: Iterable[Run]) -> Firing:
        """The runs *found*, where one for each partition *wanted* should be."""
        expected = sorted((each.asset, key) for each in wanted for key in each.keys)
        return cls(tuple(expected), tuple(sorted((run.asset, run.key) for run in found)))

    @property
    def differences(self) -> list[str]:
        """Runs that are missing, and those too many."""
        expected, fired = Counter(self.expected), Counter(self.fired)
        words = [f"{asset} {key}: did not run" for asset, key in (expected - fired).elements()]
        return words + [f"{asset} {key}: ran, and should not have" for asset, key in (fired - expected).elements()]


def followers(api: Api) -> list[Run]:
    """All runs of the assets that are scheduled on assets."""
    return [run for asset in FOLLOWERS for run in runs(api, asset)]


def since(api: Api, before: Iterable[Run]) -> list[Run]:
    """The runs that have followed since those *before*."""
    known = {run.id for run in before}
    return [run for run in followers(api) if run.id not in known]


def settle(
    api: Api,
    before: Collection[Run],
    wanted: Iterable[Wanted],
    tell: Callable[[int, str], object],
    check: Callable[[], object],
) -> Firing:
    """Wait until no run is under way and none starts any more; what has followed since the runs *before*.

    :param wanted: what should have followed.
    :param tell: is told how many runs have ended, and the last one.
    :param check: raises if there is no sense in waiting on.
    """
    wanted = list(wanted)
    total = sum(len(each.keys) for each in wanted)
    started = quiet = time.monotonic()
    told = 0
    while True:
        check()
        found = since(api, before)
        now, ended = time.monotonic(), [run for run in found if run.ended]
        if len(ended) != told:
            tell(len(ended), f"{ended[-1].asset} {ended[-1].key}")
            told = len(ended)
        if len(ended) < len(found) or under_way(api, HOURLY):
            quiet = now
        if now - quiet > (SETTLED if len(found) >= total else LATE):
            return Firing.of(wanted, found)
        if now - started > PATIENCE:
            raise DemoError(f"runs still start after {PATIENCE / 60:.0f} minutes; the last: {found[-1:]}")
        time.sleep(PAUSE)


def again(
    api: Api,
    key: str,
    wanted: Iterable[Wanted],
    tell: Callable[[int, str], object],
    check: Callable[[], object],
) -> Firing:
    """Make the hour *key* of departures again; what follows from it, as :func:`settle` tells."""
    before = followers(api)
    clear(api, runs(api, HOURLY, key)[-1])
    return settle(api, before, wanted, tell, check)
