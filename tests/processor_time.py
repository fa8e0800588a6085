"""What the files of tests take of the processor, beside their budgets and that of their part.

Processor time is that of pytest, and of all processes that it starts, whether they are still there or not.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

#: Seconds of processor time of each part of ``make test``, and of its files that have more than the others have, on the
#: machine that the benchmarks were taken on. They are told, never asserted.
BUDGETS = Path(__file__).with_name("budgets.json")
#: What other files have.
_OTHERS = 25
_SHOWN = 15


class ProcessorTime:
    """A plug-in that tells it at the end.

    :param part: name of the part, if it is one.
    """

    def __init__(self, part: str | None) -> None:
        self._part = part
        self._file = "(collecting)"
        self._last = 0.0
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        file = nodeid.partition("::")[0]
        if file != self._file:
            self._charge()
            self._file = file

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._charge()
        budgets: dict[str, int] = json.loads(BUDGETS.read_text()).get(self._part, {})
        told = f"; the budget of {self._part} is {budgets['all']} s" if budgets else ""
        terminalreporter.section("processor time")
        terminalreporter.line(f"{sum(self._seconds.values()):.0f} s in all{told}")
        for place, (file, seconds) in enumerate(self._seconds.most_common()):
            budget = budgets.get(file, _OTHERS)
            over = f"; its budget is {budget} s" if budgets and seconds > budget else ""
            if place < _SHOWN or over:
                terminalreporter.line(f"{seconds:6.0f} s  {file}{over}")

    def _charge(self) -> None:
        """Charge what was used since the last time to the file at work."""
        now = _processor_time()
        self._seconds[self._file] += max(0.0, now - self._last)
        self._last = max(now, self._last)


def _processor_time() -> float:
    """Seconds that this process has used, with all that it has started."""
    times = os.times()
    seconds = times.user + times.system + times.children_user + times.children_system
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            used = child.cpu_times()
            seconds += used.user + used.system + used.children_user + used.children_system
    return seconds
