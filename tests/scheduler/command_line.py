"""``airflow`` on the command line: each command is a fork of a process that has loaded what all of them do.

A command that is started by itself takes four seconds of processor time for that.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import psutil


class CommandLine:
    """Runs commands.

    :param environment: of all of them.
    :param folder: where their output goes, and where they run.
    :param python: of the environment with the Airflow.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path, python: str | Path = sys.executable) -> None:
        self.folder = folder
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
        status = self._begin(words, variables, *self._files).wait()
        return subprocess.CompletedProcess(words, status, *(file.read_text() for file in self._files))

    def start(self, *words: str, file: Path) -> Command:
        """Let ``airflow`` begin with *words*; what it says goes to *file*."""
        return self._begin(words, {}, file)

    def end(self) -> None:
        self._process.communicate(timeout=60)

    def _begin(self, words: tuple[str, ...], variables: dict[str, str], *files: Path) -> Command:
        pid = self._ask({"words": words, "variables": variables, "files": [str(file) for file in files]})
        return Command(self, pid)

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
        return psutil.Process(self.pid).status() != psutil.STATUS_ZOMBIE

    def wait(self) -> int:
        """Its status, when it has ended; to be asked for once."""
        return self._line._ask({"wait": self.pid})


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer each line of *requests*: the process id of a command that it says, or the status of one that has ended."""
    from airflow.__main__ import main
    from airflow.cli.cli_parser import get_parser
    from airflow.models import import_all_models
    from airflow.plugins_manager import ensure_plugins_loaded
    from sqlalchemy.orm import configure_mappers

    import airflow_partitions.operate.cli.materialize
    import airflow_partitions.operate.upkeep  # noqa: F401 - loaded for all

    ensure_plugins_loaded()
    get_parser()
    import_all_models()
    configure_mappers()
    gc.freeze()  # else each fork looks at all of that, and has a copy of it, to find out what may go
    for line in requests:
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            with ExitStack() as stack:
                streams = [stack.enter_context(Path(file).open("w")) for file in request["files"]]
                answer = os.fork()
                if not answer:
                    os.setsid()
                    os.environ.update(request["variables"])
                    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                    os.dup2(streams[0].fileno(), 1)
                    os.dup2(streams[-1].fileno(), 2)
                    sys.argv = ["airflow", *request["words"]]
                    main()
                    return
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
