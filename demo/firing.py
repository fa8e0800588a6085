"""One partition made again, and the runs that follow from it by themselves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable

import attrs

from demo.api import Api
from demo.backfill import PAUSE, Run, clear, runs, under_way
from demo.errors import DemoError
from demo.plan import FOLLOWERS, HOURLY, Target

SETTLED = 15.0  # seconds without a run under way until no more is expected to start
LATE = 60.0  # the same where one is missing
PATIENCE = 600.0  # seconds until all must have ended


@attrs.frozen
class Firing:
    """Runs that started by themselves, beside those that should have: asset and key of each."""

    expected: tuple[tuple[str, str], ...]
    fired: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, targets: Iterable[Target], follow_ups: Iterable[Run]) -> Firing:
        """The runs that followed, beside one for each partition of *targets*."""
        expected = sorted((each.asset, key) for each in targets for key in each.keys)
        return cls(tuple(expected), tuple(sorted((run.asset, run.key) for run in follow_ups)))

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
    ids = {run.id for run in before}
    return [run for run in followers(api) if run.id not in ids]


def settle(
    api: Api,
    before: Collection[Run],
    targets: Iterable[Target],
    tell: Callable[[int, str], object],
    check: Callable[[], object],
) -> Firing:
    """Wait until no run is under way and none starts any more; what has followed since the runs *before*.

    :param targets: what should have followed.
    :param tell: is told how many runs have ended, and the last one.
    :param check: raises if there is no sense in waiting on.
    """
    targets = list(targets)
    total = sum(len(each.keys) for each in targets)
    started = quiet = time.monotonic()
    last_count = 0
    while True:
        check()
        follow_ups = since(api, before)
        now, complete = time.monotonic(), [run for run in follow_ups if run.ended]
        if len(complete) != last_count:
            tell(len(complete), f"{complete[-1].asset} {complete[-1].key}")
            last_count = len(complete)
        if len(complete) < len(follow_ups) or under_way(api, HOURLY):
            quiet = now
        if now - quiet > (SETTLED if len(follow_ups) >= total else LATE):
            return Firing.of(targets, follow_ups)
        if now - started > PATIENCE:
            raise DemoError(f"runs still start after {PATIENCE / 60:.0f} minutes; the last: {follow_ups[-1:]}")
        time.sleep(PAUSE)


def again(
    api: Api,
    key: str,
    targets: Iterable[Target],
    tell: Callable[[int, str], object],
    check: Callable[[], object],
) -> Firing:
    """Make the hour *key* of departures again; what follows from it, as :func:`settle` tells."""
    before = followers(api)
    clear(api, runs(api, HOURLY, key)[-1])
    return settle(api, before, targets, tell, check)
