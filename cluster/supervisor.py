"""Starts services, each after those that it needs, and starts again what ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType

import attrs
import psutil

from cluster.home import ClusterHome
from cluster.services import Program
from cluster.state import State, Watched
from demo.processes import Service, end, spawn

PAUSE = 1.0  # seconds between two looks
BEAT = 5.0  # seconds between two looks at what was healthy
DELAYS = (1.0, 2.0, 5.0, 10.0, 30.0)  # seconds until what has ended is started again; the more often, the longer
TRIES = 5  # starts without having been healthy once
LAST = ("postgres", "s3", "spark-master")  # to end, after those that use them


@attrs.define
class _Watch:
    """One service while it is supervised."""

    program: Program
    process: Service | None = None
    starts: int = 0
    failures: int = 0
    code: int | None = None
    healthy: bool = False
    been_healthy: bool = False
    due: float | None = None
    looked: float = 0.0
    seconds: float = 0.0
    ended_seconds: float = 0.0

    @property
    def broken(self) -> bool:
        return not self.been_healthy and self.failures >= TRIES

    @property
    def state(self) -> Watched:
        return Watched(
            name=self.program.name,
            process=self.process,
            starts=self.starts,
            healthy=self.healthy,
            seconds=self.ended_seconds + self.seconds,
            broken=self.broken,
        )


class Supervisor:
    """Keeps services running until it is told to end.

    :param environment: of all of them.
    """

    def __init__(self, home: ClusterHome, programs: Sequence[Program], environment: dict[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._watches = {program.name: _Watch(program) for program in programs}
        self._me = Service("supervisor", os.getpid(), psutil.Process().create_time())
        self._leaving = False
        self._measured = 0.0
        self._saved: State | None = None

    def run(self) -> None:
        """Supervise until SIGTERM or SIGINT; then end all services."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._leave)
        self._save()
        try:
            while not self._leaving:
                for watch in self._watches.values():
                    self._look(watch)
                self._measure()
                self._save()
                time.sleep(PAUSE)
        finally:
            processes = [watch.process for watch in self._watches.values() if watch.process]
            end([process for process in processes if process.name not in LAST])
            end([process for process in processes if process.name in LAST])
            self._home.processes.unlink(missing_ok=True)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        self._leaving = True

    def _look(self, watch: _Watch) -> None:
        now = time.monotonic()
        process = watch.process
        if process and process.process:
            if now - watch.looked > (BEAT if watch.healthy else PAUSE):
                watch.healthy = not watch.program.once and watch.program.healthy()
                watch.looked = time.monotonic()
        elif process and watch.program.once and self._code(watch, process) == 0:
            watch.healthy = True
        elif process and watch.due is None:
            self._ended(watch, process)
        elif not watch.broken and now >= (watch.due or 0.0) and self._ready(watch):
            self._start(watch)
        if watch.healthy:
            watch.been_healthy, watch.failures = True, 0

    def _ready(self, watch: _Watch) -> bool:
        return all(self._watches[name].healthy for name in watch.program.after)

    def _start(self, watch: _Watch) -> None:
        program = watch.program
        if not watch.starts:
            self._home.log(program.name).unlink(missing_ok=True)
        watch.process = spawn(
            program.name,
            program.words,
            {**self._environment, **program.environment},
            program.folder,
            self._home.log(program.name),
            program.user,
        )
        watch.starts += 1
        watch.due = watch.code = None

    def _ended(self, watch: _Watch, process: Service) -> None:
        """Note it, and end what it has left behind, as a container does."""
        print(f"{process.name} has ended with {self._code(watch, process)}", flush=True)
        end([process])
        watch.healthy = False
        watch.ended_seconds += watch.seconds
        watch.seconds = 0.0
        watch.due = time.monotonic() + DELAYS[min(watch.failures, len(DELAYS) - 1)]
        watch.failures += 1

    def _code(self, watch: _Watch, process: Service) -> int | None:
        """The exit code of a process that has ended."""
        if watch.code is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(process.pid, os.WNOHANG)
                watch.code = os.waitstatus_to_exitcode(status) if pid else None
        return watch.code

    def _measure(self) -> None:
        """See how long each service, and all that it has started, has had a processor."""
        if time.monotonic() - self._measured < BEAT:
            return
        children: dict[int, list[psutil.Process]] = {}
        for each in psutil.process_iter(["ppid"]):
            children.setdefault(each.info["ppid"], []).append(each)
        for watch in self._watches.values():
            if watch.process and (process := watch.process.process):
                watch.seconds = _seconds(process, children)
        self._measured = time.monotonic()

    def _save(self) -> None:
        state = State(self._me, tuple(watch.state for watch in self._watches.values()))
        if state != self._saved:
            state.save(self._home)
            self._saved = state


def _seconds(process: psutil.Process, children: Mapping[int, Sequence[psutil.Process]]) -> float:
    """Of a processor, that a process and all that it has started have taken; also those that it has waited for."""
    total = sum(_seconds(child, children) for child in children.get(process.pid, ()))
    with suppress(psutil.Error):
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total
