"""Services as processes of this machine: started, and ended with all that they have started."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import attrs
import psutil

from demo.errors import DemoError

GRACE = 20.0  # seconds to end by themselves


@attrs.frozen
class Service:
    """One process; its start time tells it from a later one that got the same id."""

    name: str
    pid: int
    started: float

    @property
    def process(self) -> psutil.Process | None:
        """The process, if it still runs."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            if self._is(process) and process.status() != psutil.STATUS_ZOMBIE:
                return process
        return None

    @property
    def family(self) -> set[psutil.Process]:
        """The process and all it has started; those of its group also after its own end."""
        with suppress(psutil.NoSuchProcess):
            if not self._is(psutil.Process(self.pid)):
                return set()
        processes = set()
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, ProcessLookupError, PermissionError):
                if os.getpgid(process.pid) == self.pid:
                    processes |= {process, *process.children(recursive=True)}
        return processes

    def listens(self, port: int) -> bool:
        """Whether it is this service that answers at *port*."""
        for process in self.family:
            with suppress(psutil.Error):
                if any(
                    end.status == psutil.CONN_LISTEN and end.laddr.port == port
                    for end in process.net_connections("tcp")
                ):
                    return True
        return False

    def _is(self, process: psutil.Process) -> bool:
        return bool(abs(process.create_time() - self.started) < 1)


#: Starts a service: its name, the words of its program, its environment, the folder it runs in, its log.
Spawn: TypeAlias = Callable[[str, Sequence[str], Mapping[str, str], Path, Path], Service]


def spawn(
    name: str, words: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path, user: str | None = None
) -> Service:
    """Start the program that *words* name, apart from the terminal.

    :param user: who it runs as, where that is not who starts it.
    """
    with log.open("a") as out:
        process = subprocess.Popen(
            words,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=[] if user else None,
        )
    return Service(name, process.pid, psutil.Process(process.pid).create_time())


def end(services: Sequence[Service]) -> list[str]:
    """End services, the last one first, and all they have started; return the names of those that ran."""
    running = {member.name: process for member in services if (process := member.process)}
    family = set[psutil.Process]().union(*(member.family for member in services))
    for process in reversed(running.values()):
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _wait(running.values())
    for relative in family:  # Spark's drivers outlive the process that submitted them
        with suppress(psutil.NoSuchProcess):
            relative.kill()
    _wait(family)
    return list(running)


def _wait(processes: Iterable[psutil.Process]) -> None:
    """Wait until all have ended, for some seconds at most."""
    deadline = time.monotonic() + GRACE
    for process in processes:
        # Linux may know a process no more, and not say so in the way that psutil expects.
        with suppress(psutil.Error, FileNotFoundError):
            process.wait(max(0.0, deadline - time.monotonic()))


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log."""
    return (
        "\n".join(f"  | {line}" for line in log.read_text(errors="replace").splitlines()[-lines:])
        if log.exists()
        else "  | (no log)"
    )


def free_port(chosen_port: int | None, preferred: int) -> int:
    """*chosen_port*, if there is one; else *preferred* where it is free, or any.

    :raises DemoError: if the chosen one is taken.
    """
    for port in (chosen_port,) if chosen_port else (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return int(probe.getsockname()[1])
    raise DemoError(f"port {chosen_port} is taken; leave --port out for a free one")
