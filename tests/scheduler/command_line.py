"""``airflow`` on the command line: each command is a fork of a process that has loaded what all of them do.

A command that is started by itself takes four seconds of processor time for that.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:  # this file is a program, too, which nothing of the checkout is beside
    from demo.processes import Service


class CommandLine:
    """Runs commands.

    :param environment: of all of them.
    :param folder: where their output goes, and where they run.
    :param python: of the environment with the Airflow.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path, python: str | Path = sys.executable) -> None:
        self.folder = folder
        self._environment = environment
        self._files = folder / "command.out", folder / "command.err"
        self._process = subprocess.Popen(
            [python, "-P", __file__],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What ``airflow`` does with *words*, and with further environment *variables*."""
        return self._run(words=words, variables=variables)

    def run_program(self, program: str) -> subprocess.CompletedProcess[str]:
        """What a program in Python does."""
        return self._run(program=program)

    def start(self, *words: str, file: Path, **variables: str) -> Command:
        """Let ``airflow`` begin with *words*, and with further environment *variables*; what it says goes to *file*."""
        return self._begin([file], words=words, variables=variables)

    def spawn(
        self, name: str, words: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path
    ) -> Service:
        """What :func:`demo.processes.spawn` does, for a service of Airflow that runs where commands do."""
        from demo.processes import Service

        assert (words[0], folder) == ("airflow", self.folder)
        variables = dict(environment.items() - self._environment.items())
        command = self.start(*words[1:], file=log, **variables)
        return Service(name, command.pid, psutil.Process(command.pid).create_time())

    def end(self) -> None:
        self._process.communicate(timeout=60)

    def _run(self, **what: Any) -> subprocess.CompletedProcess[str]:
        status = self._begin(self._files, **what).wait()
        return subprocess.CompletedProcess(what, status, *(file.read_text() for file in self._files))

    def _begin(self, files: Iterable[Path], **what: Any) -> Command:
        return Command(self, self._ask({"files": [str(file) for file in files], **what}))

    def _ask(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


class Command:
    """A command that has begun, in a process group of its own."""

    def __init__(self, line: CommandLine, pid: int) -> None:
        self._line = line
        self.pid = pid

    @property
    def is_running(self) -> bool:
        return bool(self._line._ask({"running": self.pid}))

    def wait(self) -> int:
        """Its status, when it has ended."""
        return self._line._ask({"wait": self.pid})

    def kill(self) -> None:
        """End what of its group is still there."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer each line of *requests*: the process id of a command that it says, or what became of one."""
    from airflow import settings
    from airflow.__main__ import main
    from airflow.cli.cli_parser import get_parser
    from airflow.models import import_all_models
    from airflow.plugins_manager import ensure_plugins_loaded
    from sqlalchemy.orm import configure_mappers

    import airflow_partitions.authoring.assets
    import airflow_partitions.operate.cli.materialize
    import airflow_partitions.operate.upkeep  # noqa: F401 - loaded for all

    ensure_plugins_loaded()
    get_parser()
    import_all_models()
    configure_mappers()
    gc.freeze()  # else each fork looks at all of that, and has a copy of it, to find out what may go

    statuses: dict[int, int] = {}

    def bury(*_: object) -> None:
        # At once: who waits for the end of a process that is not its child sees a dead one as one that runs.
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                statuses[pid] = os.waitstatus_to_exitcode(status)

    signal.signal(signal.SIGCHLD, bury)
    for line in requests:
        request = json.loads(line)
        if "running" in request:
            answer = int(request["running"] not in statuses)
        elif "wait" in request:
            while request["wait"] not in statuses:
                time.sleep(0.01)
            answer = statuses[request["wait"]]
        else:
            with ExitStack() as stack:
                streams = [stack.enter_context(Path(file).open("w")) for file in request["files"]]
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
                answer = os.fork()
                if answer:
                    statuses.pop(answer, None)  # of another one, long ago
                else:
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
                if not answer:
                    os.setsid()
                    if variables := request.get("variables"):
                        os.environ.update(variables)
                        settings.configure_vars()
                        settings.reconfigure_orm()
                    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                    os.dup2(streams[0].fileno(), 1)
                    os.dup2(streams[-1].fileno(), 2)
                    if "program" in request:
                        sys.path.insert(0, "")  # as for `python -c`
                        exec(request["program"], {})
                    else:
                        sys.argv = ["airflow", *request["words"]]
                        if preload := sys.modules.get("airflow_partitions.spark.connect.preload"):
                            importlib.reload(preload)  # what it loads depends on the command
                        main()
                    return
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
