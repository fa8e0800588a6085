"""The demo's steps on a terminal or in a log: one line each, and a bar or a line now and then while one lasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

PAUSE = 30.0  # seconds between two lines about one step
ENOUGH = 5  # parts of a step, to judge the others by
PACE = 600.0  # seconds that an estimate looks back


@attrs.frozen
class Steps:
    """What is done, with the seconds since the start."""

    console: Console
    started: float = attrs.field(factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    def tell(self, words: str) -> None:
        """Print one line."""
        self.console.print(f"{self.seconds:4.0f} s  {words}", markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[[int, str], None]]:
        """A bar on a terminal; elsewhere a line at the end, and every half a minute until then."""
        if not self.console.is_terminal:
            yield self._lines(title, total)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[words]}"),
        )
        with Progress(*columns, console=self.console, transient=True, speed_estimate_period=PACE) as bar:
            task = bar.add_task(title, total=total, words="")
            yield lambda done, words: bar.update(task, completed=done, words=words)

    def _lines(self, title: str, total: int) -> Callable[[int, str], None]:
        first: tuple[float, int] | None = None
        last = self.seconds

        def tell(done: int, words: str) -> None:
            nonlocal first, last
            now = self.seconds
            first = first or (now, done)
            if done < total and now - last < PAUSE:
                return
            pace = (now - first[0]) / (done - first[1]) if done - first[1] >= ENOUGH else 0
            remaining = f"about {minutes(pace * (total - done))} left" if pace and done < total else ""
            self.tell(", ".join(filter(None, [f"{title}: {done} of {total}", words, remaining])))
            last = now

        return tell


def minutes(seconds: float) -> str:
    """A duration in words: ``1 minute``, ``7 minutes``."""
    count = max(1, round(seconds / 60))
    return "1 minute" if count == 1 else f"{count} minutes"
