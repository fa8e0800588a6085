"""``airflow`` on the command line: each command is a fork of a process that has loaded what all of them do.

A command that is started by itself takes four seconds of processor time for that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO


class CommandLine:
    """Runs commands, one after the other.

    :param environment: of all of them.
    :param folder: where their output goes, and where they run.
    :param python: of the environment with the Airflow.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path, python: str | Path = sys.executable) -> None:
        self._files = folder / "command.out", folder / "command.err"
        self._process = subprocess.Popen(
            [python, "-P", __file__, *map(str, self._files)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What ``airflow`` does with *words*, and with further environment *variables*."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps([words, variables])}\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(words, status, *(file.read_text() for file in self._files))

    def end(self) -> None:
        self._process.communicate(timeout=60)


def serve(requests: IO[str], answers: IO[str], *files: str) -> None:
    """Fork for each line of *requests*: a list of words, and further variables. Its output goes to two *files*."""
    from airflow.__main__ import main
    from airflow.models.serialized_dag import SerializedDagModel  # noqa: F401 - loaded for all
    from airflow.plugins_manager import ensure_plugins_loaded

    import airflow_partitions.operate.cli.materialize
    import airflow_partitions.operate.upkeep  # noqa: F401

    ensure_plugins_loaded()
    for line in requests:
        words, variables = json.loads(line)
        child = os.fork()
        if not child:
            os.environ.update(variables)
            for file, stream in zip(files, (1, 2), strict=True):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.argv = ["airflow", *words]
            main()
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout, *sys.argv[1:])
