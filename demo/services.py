"""Airflow's services as processes of this machine: started, watched and ended by the ids kept in one file."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

import attrs
import httpx
import psutil

from demo.errors import DemoError
from demo.home import USER, Home

COMMANDS = {
    "api-server": ("api-server", "--host", "127.0.0.1", "--workers", "1", "--port"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
    "scheduler": ("scheduler", "--skip-serve-logs"),  # after the others: its tasks need the api-server
    "upkeep": ("asset-partitions", "upkeep", "--loop"),
}
AIRFLOW = ("api-server", "dag-processor", "triggerer", "scheduler")
FIRST = ("api-server", "dag-processor", "scheduler")  # enough to make partitions
PARTS = ("scheduler", "triggerer", "dag_processor")  # whose health Airflow tells, beside its database's
PORT = 8080
PATIENCE = 180.0  # seconds until all services must be healthy
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


@attrs.frozen
class Services:
    """The services of one home on one port."""

    home: Home
    port: int
    members: tuple[Service, ...] = ()

    @classmethod
    def of(cls, home: Home) -> Services | None:
        """What was started from *home* and not stopped since."""
        if not home.processes.exists():
            return None
        saved = json.loads(home.processes.read_text())
        return cls(home, saved["port"], tuple(Service(**member) for member in saved["members"]))

    @property
    def address(self) -> str:
        """Of the UI and the REST API."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def dead(self) -> list[str]:
        """Names of the services that were started and have ended."""
        return [member.name for member in self.members if not member.process]

    @property
    def running(self) -> bool:
        """Whether all of Airflow's are there, and nothing has ended."""
        return self.has(AIRFLOW) and not self.dead

    def has(self, names: Iterable[str]) -> bool:
        """Whether the services *names* were started."""
        return {member.name for member in self.members}.issuperset(names)

    def check(self) -> None:
        """Raise if a service has ended, with the last lines of its log."""
        if dead := self.dead:
            raise DemoError(f"{dead[0]} has ended; the end of {self.log(dead[0])}:\n{tail(self.log(dead[0]))}")

    def log(self, name: str) -> Path:
        """The log of the service *name*."""
        return self.home.logs / f"{name}.log"

    def save(self) -> None:
        """Remember the processes."""
        self.home.processes.write_text(
            json.dumps({"port": self.port, "members": [attrs.asdict(member) for member in self.members]}, indent=1)
        )


def start(home: Home, port: int | None, tell: Callable[[str], object], names: Collection[str] = AIRFLOW) -> Services:
    """Start what does not run yet and wait until all are healthy.

    :param port: of the UI; 8080 or a free one if not given.
    :param tell: is told each step.
    :param names: the services to have; others that run go on.
    """
    services = Services.of(home)
    if services and (services.dead or port not in (None, services.port)):
        stop(home)
        services = _prepared(home, port, services.port, tell)
    elif services:
        tell(f"Airflow runs already at {services.address}")
    else:
        services = _prepared(home, port, PORT, tell)
    environment = home.environment(dict(os.environ), services.port)
    for name in names:
        if services.has([name]):
            continue
        if name == "scheduler":
            _wait(services, ())
        services = attrs.evolve(services, members=(*services.members, _spawn(services, name, environment)))
        services.save()
    _wait(services, [part for part in PARTS if services.has([_service_of(part)])])
    return services


def stop(home: Home) -> list[str]:
    """End the services and all they have started; return the names of those that ran."""
    services = Services.of(home)
    if services is None:
        return []
    running = {member.name: process for member in services.members if (process := member.process)}
    family = set[psutil.Process]().union(*(member.family for member in services.members))
    for process in reversed(running.values()):
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(list(running.values()), timeout=GRACE)
    for relative in family:  # Spark's drivers outlive the process that submitted them
        with suppress(psutil.NoSuchProcess):
            relative.kill()
    psutil.wait_procs(family, timeout=GRACE)
    home.processes.unlink(missing_ok=True)
    return list(running)


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log."""
    return (
        "\n".join(f"  | {line}" for line in log.read_text(errors="replace").splitlines()[-lines:])
        if log.exists()
        else "  | (no log)"
    )


def _prepared(home: Home, port: int | None, preferred: int, tell: Callable[[str], object]) -> Services:
    """A home with a database, a port, and no service yet."""
    home.create()
    _write_password(home)
    tell("making Airflow's database")
    _migrate(home, home.environment(dict(os.environ)))
    services = Services(home, _free_port(port, preferred))
    tell(f"starting Airflow at {services.address}")
    return services


def _service_of(part: str) -> str:
    return part.replace("_", "-")


def _free_port(chosen_port: int | None, preferred: int) -> int:
    for port in (chosen_port,) if chosen_port else (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return int(probe.getsockname()[1])
    raise DemoError(f"port {chosen_port} is taken; leave --port out for a free one")


def _write_password(home: Home) -> None:
    file = home.root / "secrets" / "passwords.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps({USER: home.secret("password")}))


def _migrate(home: Home, environment: dict[str, str]) -> None:
    log = home.logs / "migrate.log"
    with log.open("w") as out:
        process = subprocess.run(
            ["airflow", "db", "migrate"], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
        )
    if process.returncode:
        raise DemoError(f"airflow db migrate failed; the end of {log}:\n{tail(log)}")


def _spawn(services: Services, name: str, environment: dict[str, str]) -> Service:
    words = ["airflow", *COMMANDS[name], *([str(services.port)] if name == "api-server" else [])]
    with services.log(name).open("w") as out:
        process = subprocess.Popen(
            words,
            env=environment | _patience(services.home, name),
            cwd=services.home.root,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    return Service(name, process.pid, psutil.Process(process.pid).create_time())


def _patience(home: Home, name: str) -> dict[str, str]:
    """Settings of one service: on SQLite, which has one writer, others wait for their turn longer than 5 seconds.

    The API server does not: its requests share a thread, and one that waits holds up the one that it waits for.
    """
    patient = home.database.startswith("sqlite") and name != "api-server"
    return {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"{home.database}?timeout=60"} if patient else {}


def _wait(services: Services, parts: Collection[str]) -> None:
    """Wait until Airflow says that its database and *parts* are healthy."""
    deadline = time.monotonic() + PATIENCE
    ill = ["api-server"]
    while time.monotonic() < deadline:
        services.check()
        with suppress(httpx.HTTPError):
            answer = httpx.get(f"{services.address}/api/v2/monitor/health", timeout=10, trust_env=False)
            health = answer.json() if answer.is_success else {}
            ill = [part for part in ("metadatabase", *parts) if health.get(part, {}).get("status") != "healthy"]
            if not ill and services.members[0].listens(services.port):
                return
        time.sleep(0.5)
    name = _service_of(ill[0]) if ill and ill[0] in PARTS else "api-server"
    log = services.log(name)
    raise DemoError(f"{name} is not healthy after {PATIENCE:.0f} seconds; the end of {log}:\n{tail(log)}")
