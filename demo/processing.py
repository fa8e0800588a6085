"""The demo's course: ask for hours, see what follows, make one hour again, see what follows from that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import date

import attrs

from demo import backfill, firing, plan
from demo.api import Api
from demo.backfill import Run
from demo.firing import Firing
from demo.plan import Target

Progress = Callable[[str, int], AbstractContextManager[Callable[[int, str], None]]]


@attrs.frozen
class Course:
    """What happened.

    :ivar runs: the newest run of each partition.
    :ivar first: what followed from the hours; ``None`` if they were not asked for.
    :ivar again: what followed from making one hour again; ``None`` if that was not done.
    """

    runs: list[Run]
    first: Firing | None = None
    again: Firing | None = None

    @property
    def differences(self) -> list[str]:
        """Runs that are missing, and those too many."""
        return [words for each in (self.first, self.again) if each for words in each.differences]


def first(api: Api, day: date, progress: Progress, check: Callable[[], object]) -> Course:
    """Make an hour of *day*, and the day of one airport."""
    targets = plan.first(day)
    backfill.ready(api, (each.asset for each in targets))
    for each in targets:
        backfill.trigger(api, each)
    with progress("an hour and a day", _size(targets)) as tell:
        return Course(backfill.wait(api, targets, tell, check, pause=1))


def everything(api: Api, day: date, progress: Progress, check: Callable[[], object]) -> Course:
    """Make the partitions of *day* and those around the clock changes, then one hour again.

    :param progress: a context manager that is told of each step.
    :param check: raises if there is no sense in going on.
    """
    targets = plan.everything(day)
    backfill.ready(api, plan.FOLLOWERS)  # Airflow keeps no events for Dags that are paused
    before = firing.followers(api)
    newest = _make(api, targets, progress, check)
    due, follow = _due(targets, before), plan.after_again()
    if any(run.state == "failed" for run in newest):
        return Course(newest, Firing.of(due, firing.since(api, before)))
    with progress("followed by themselves", _size(due)) as tell:
        first = firing.settle(api, before, due, tell, check)
    with progress(f"{plan.AGAIN} again", _size(follow)) as tell:
        again = firing.again(api, plan.AGAIN, follow, tell, check)
    return Course([run for each in targets for run in backfill.latest(api, each)], first, again)


def _make(api: Api, targets: tuple[Target, ...], progress: Progress, check: Callable[[], object]) -> list[Run]:
    backfill.ready(api, dict.fromkeys(each.asset for each in targets))
    with progress("processing", _size(targets)) as tell:
        return backfill.wait(api, targets, tell, check)


def _due(targets: Iterable[Target], before: Iterable[Run]) -> list[Target]:
    """What should follow from the hours: of the partitions of *targets*, those without a run *before*."""
    there = {(run.asset, run.key) for run in before}
    return [
        Target(each.asset, tuple(key for key in each.keys if (each.asset, key) not in there))
        for each in targets
        if each.bounds is None
    ]


def _size(targets: Iterable[Target]) -> int:
    return sum(len(each.keys) for each in targets)
