"""Someone who has a folder with Airflow, the package and a Dag file, and nothing of the checkout."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.scheduler.command_line import Command, CommandLine

ROOT = Path(__file__).parents[2]
UNREACHABLE = ("client error (Connect)", "network was disabled")
PATIENCE = 600.0  # seconds until Airflow has done what it is to do


@attrs.define
class Stranger:
    """Someone who has a folder with Airflow, the package and a Dag file, and nothing of the checkout."""

    folder: Path
    _command_line: CommandLine | None = None

    @property
    def python_file(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def environment(self) -> dict[str, str]:
        prefixes = ("AIRFLOW", "PYTHON", "PYSPARK", "SPARK_HOME", "VIRTUAL_ENV")
        loopback = ",".join(filter(None, [os.environ.get("NO_PROXY"), "127.0.0.1", "localhost"]))
        return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)} | {
            "PATH": f"{self.folder / 'venv' / 'bin'}:{os.environ['PATH']}",
            "NO_PROXY": loopback,
            "no_proxy": loopback,
            "AIRFLOW_HOME": str(self.folder / "home"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.folder / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__API__WORKERS": "1",
            # The first task may begin before the API server, which it needs.
            "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "5",
            "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "5",
            # A task whose worker was killed is tried again after this, and not after five minutes.
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "20",
            "AIRFLOW_CONN_CATALOG": json.dumps(
                {
                    "conn_type": "iceberg",
                    "extra": {
                        "type": "sql",
                        "uri": f"sqlite:///{self.lake}/catalog.db",
                        "warehouse": f"file://{self.lake}/warehouse",
                    },
                }
            ),
            "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[2]"}',
        }

    def write_dag(self, text: str) -> None:
        for folder in ("dags", "lake"):
            (self.folder / folder).mkdir()
        (self.folder / "dags" / "stranger.py").write_text(text)

    def call(self, *words: str) -> str:
        """What a program of the environment prints."""
        process = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    @property
    def command_line(self) -> CommandLine:
        """What runs commands of Airflow."""
        if self._command_line is None:
            self._command_line = CommandLine(self.environment, self.folder, self.python_file)
        return self._command_line

    def airflow(self, *words: str) -> str:
        """What a command of Airflow prints."""
        process = self.command_line.run(*words)
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    def json_of(self, *words: str) -> Any:
        """The JSON on the last line of what a command of Airflow prints."""
        return json.loads(self.airflow(*words).strip().splitlines()[-1])

    def install(self, package: str | Path, *options: str) -> None:
        """Install a package; commands are of what is installed now."""
        self.end()
        uv("pip", "install", "--python", str(self.python_file), *options, str(package))

    def end(self) -> None:
        """End what runs commands."""
        if self._command_line is not None:
            self._command_line.end()
            self._command_line = None

    def python(self, program: str) -> str:
        return self.call("python", "-c", textwrap.dedent(program))

    @contextmanager
    def standalone(self) -> Iterator[Command]:
        """``airflow standalone``, ended with all that it started."""
        command = self.command_line.start("standalone", file=self.folder / "standalone.log", **self._address())
        try:
            yield command
        finally:
            _end(command, signal.SIGINT)

    @contextmanager
    def services(self) -> Iterator[list[Command]]:
        """What ``airflow standalone`` starts, but for the triggerer, with what all load loaded once."""
        address = self._address() | {"AIRFLOW__API_AUTH__JWT_SECRET": "of all services, which read no new airflow.cfg"}
        port = address["AIRFLOW__API__PORT"]  # the parser of commands is older than this setting
        server = ("api-server", "--host", "127.0.0.1", "--port", port)
        commands: list[Command] = []
        try:
            for words in (server, ("dag-processor",), ("scheduler",)):
                commands.append(self.command_line.start(*words, file=self.folder / f"{words[0]}.log", **address))
                if words == server:
                    self._wait_for(commands[0], int(port))
            yield commands
        finally:
            for command in reversed(commands):
                _end(command, signal.SIGTERM)

    def _wait_for(self, server: Command, port: int) -> None:
        """Wait until a server listens, which tasks need."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                return
            assert server.is_running, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.2)

    def _address(self) -> dict[str, str]:
        """Settings of services that share a free port."""
        with ExitStack() as stack:
            servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
            port, *log_ports = [server.getsockname()[1] for server in servers]
        return {
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(log_ports[0]),
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(log_ports[1]),
        }

    @property
    def log(self) -> str:
        """The end of what each service has said."""
        return "\n".join(file.read_text()[-20_000:] for file in sorted(self.folder.glob("*.log")))


def _end(command: Command, word: signal.Signals) -> None:
    """End a command, with all that it started."""
    with suppress(ProcessLookupError):  # it has ended
        os.kill(command.pid, word)
    deadline = time.monotonic() + 20
    while command.is_running and time.monotonic() < deadline:
        time.sleep(0.1)
    command.kill()
    command.wait()


def uv(*words: str, folder: Path = ROOT) -> None:
    process = _uv(*words, folder=folder)
    if process.returncode and any(cause in process.stderr for cause in UNREACHABLE):
        pytest.skip(f"the package index can't be reached: {process.stderr}")
    assert process.returncode == 0, process.stderr


def _uv(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uv", "--quiet", "--system-certs", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@contextmanager
def installed(folder: Path, package: str, versions: Path, dag_file: str, *cached: str) -> Iterator[Stranger]:
    """A stranger with the *package* and what it needs, of these *versions*.

    :param cached: what is taken as it is in uv's cache, if it is there: an index that does not tell how long its files
        stay as they are would have uv fetch and build the half gigabyte of Spark anew.
    """
    with _in_a_folder(folder, dag_file) as stranger:
        if cached:
            _uv("pip", "install", "--python", str(stranger.python_file), "--offline", "--no-deps", *cached)
        stranger.install(package, "--constraint", str(versions))
        yield stranger


@contextmanager
def beside(folder: Path, package: Path, dag_file: str) -> Iterator[Stranger]:
    """A stranger with the *package*, and with all else that this environment has: nothing is installed twice."""
    with _in_a_folder(folder, dag_file) as stranger:
        (own,) = (folder / "venv" / "lib").glob("python*/site-packages")
        for each in Path(sysconfig.get_path("purelib")).iterdir():
            if "airflow_partitions" not in each.name:
                (own / each.name).symlink_to(each)
        script = folder / "venv" / "bin" / "airflow"
        script.write_text(f"#!{stranger.python_file}\nfrom airflow.__main__ import main\nmain()\n")
        script.chmod(0o755)
        stranger.install(package, "--no-deps")
        yield stranger


@contextmanager
def _in_a_folder(folder: Path, dag_file: str) -> Iterator[Stranger]:
    venv = folder / "venv"
    uv("venv", "--python", sys.executable, str(venv))
    stranger = Stranger(folder)
    stranger.write_dag(dag_file)
    yield stranger
    stranger.end()
    shutil.rmtree(venv, ignore_errors=True)  # more than a gigabyte
