"""The course: part after part is asked for and waited for, with what it has taken."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import attrs

from cluster import ways
from cluster.home import ClusterHome
from cluster.measures import Measure, add
from cluster.plan import Part
from cluster.state import State
from cluster.supervisor import BEAT
from demo import backfill
from demo.api import Api
from demo.backfill import ENDED, Run
from demo.errors import DemoError
from demo.plan import Target
from demo.steps import Steps

PAUSE = 3.0  # seconds between two looks
AWAY = 300.0  # seconds that Airflow may not answer, while a service is started again
STUCK = 1200.0  # seconds without any run that ends

_T = TypeVar("_T")


@attrs.frozen
class Course:
    """Makes parts by one cluster.

    :ivar check: raises if there is no sense in going on.
    """

    home: ClusterHome
    api: Api
    steps: Steps
    check: Callable[[], object]

    def make(self, part: Part, watch: Callable[[float], object]) -> list[Run]:
        """Have all partitions of *part*; the newest run of each. What that takes is remembered.

        :param watch: is told at each look which share of the part is done.
        """
        # What follows from others has to listen before these are there.
        assets = [each.asset for each in reversed(part.targets)]
        self._patiently(lambda: backfill.ready(self.api, assets))
        base = self._patiently(lambda: self._counts(part))["success"]  # before `done`: rather too few than too many
        runs = self._patiently(lambda: self._runs(part))
        done = _successes(runs)
        if done == part.size:
            return runs
        self._patiently(lambda: ways.choose(self.api, self.home, part.way))
        started, processor = time.monotonic(), self._processor()

        def remember(seconds: float) -> None:
            made = _successes(self._runs(part)) - done
            add(self.home, part.name, Measure(made, seconds, self._processor() - processor))

        try:
            runs = self._wait(part, done - base, watch)
        except BaseException:  # somebody has left, or the cluster can't go on
            with suppress(DemoError):
                remember(time.monotonic() - started)
            raise
        seconds = time.monotonic() - started
        time.sleep(2 * BEAT)  # until what has ended is measured
        self._patiently(lambda: remember(seconds))
        return runs

    def _wait(self, part: Part, others: int, watch: Callable[[float], object]) -> list[Run]:
        """The newest runs of *part*, all of which have ended.

        :param others: what to add to the number of the Dags' runs that succeeded, to have that of the part.
        """
        open_targets = list(part.targets)
        last, moved = (-1, -1), time.monotonic()
        with self.steps.progress(part.name, part.size) as tell:
            while True:
                self.check()
                open_targets = self._patiently(partial(self._submit, open_targets))
                counts = self._patiently(lambda: self._counts(part))
                successes = min(counts["success"] + others, part.size)
                if (successes, counts["failed"]) != last:
                    last, moved = (successes, counts["failed"]), time.monotonic()
                    tell(successes, f"{counts['failed']} failed" if counts["failed"] else "")
                    watch(successes / part.size)
                under_way = counts["queued"] + counts["running"]
                if successes >= part.size or not (under_way or open_targets):
                    runs = self._patiently(lambda: self._runs(part))
                    if len(runs) == part.size and all(run.ended for run in runs):
                        return runs
                    if counts["failed"] and not under_way:
                        return runs
                if time.monotonic() - moved > STUCK:
                    raise DemoError(
                        f"nothing has ended for {STUCK / 60:.0f} minutes: {successes} of {part.size} partitions are"
                        f" there, {under_way} runs are under way; see {self.home.logs}"
                    )
                time.sleep(PAUSE)

    def _submit(self, targets: Iterable[Target]) -> list[Target]:
        """Ask for what is missing; the targets for which that has to wait."""
        return [target for target in targets if not backfill.submit(self.api, target)]

    def _runs(self, part: Part) -> list[Run]:
        return [run for target in part.targets for run in backfill.latest(self.api, target)]

    def _counts(self, part: Part) -> Counter[str]:
        """How many runs of the part's Dags are in which state, those of other parts, too."""
        dags = self.api.get("dagStats", dag_ids=[each.asset for each in part.targets])["dags"]
        return Counter({state: sum(_count(dag, state) for dag in dags) for state in (*ENDED, "queued", "running")})

    def _processor(self) -> float:
        state = State.of(self.home)
        return state.seconds if state else 0.0

    def _patiently(self, ask: Callable[[], _T]) -> _T:
        """The answer, also where Airflow is away for a while."""
        deadline = time.monotonic() + AWAY
        while True:
            try:
                return ask()
            except DemoError:
                self.check()
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE)


def _count(dag: dict[str, list[dict[str, int | str]]], state: str) -> int:
    return sum(int(each["count"]) for each in dag["stats"] if each["state"] == state)


def _successes(runs: Iterable[Run]) -> int:
    return sum(run.state == "success" for run in runs)
