"""``airflow`` on the command line: each command is a fork of a process that has loaded what all of them do.

A command that is started by itself takes four seconds of processor time for that.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
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
        return self._run(words=words, variables=variables)

    def run_program(self, program: str) -> subprocess.CompletedProcess[str]:
        """What a program in Python does."""
        return self._run(program=program)

    def start(self, *words: str, file: Path, **variables: str) -> Command:
        """Let ``airflow`` begin with *words*, and with further environment *variables*; what it says goes to *file*."""
        return self._begin([file], words=words, variables=variables)

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
                    os.environ.update(request.get("variables", {}))
                    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                    os.dup2(streams[0].fileno(), 1)
                    os.dup2(streams[-1].fileno(), 2)
                    if "program" in request:
                        sys.path.insert(0, "")  # as for `python -c`
                        exec(request["program"], {})
                    else:
                        sys.argv = ["airflow", *request["words"]]
                        main()
                    return
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
