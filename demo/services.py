"""Airflow's services: started, watched and ended by the ids kept in one file."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

import attrs
import httpx

from demo.errors import DemoError
from demo.home import Home
from demo.processes import Service, Spawn, end, free_port, spawn, tail

COMMANDS = {
    "api-server": ("api-server", "--host", "127.0.0.1", "--workers", "1", "--port"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
    "scheduler": ("scheduler", "--skip-serve-logs"),  # after the others: its tasks need the api-server
    "upkeep": ("asset-partitions", "upkeep", "--loop"),
    "spark-server": ("asset-partitions", "spark-server", "--start", "--output", "json", "--port"),
}
AIRFLOW = ("api-server", "dag-processor", "triggerer", "scheduler")
FIRST = ("api-server", "dag-processor", "scheduler")  # enough to make partitions
COLD = tuple(name for name in COMMANDS if name != "spark-server")  # all that a driver for each job needs
PARTS = ("scheduler", "triggerer", "dag_processor")  # whose health Airflow tells, beside its database's
PORT = 8080
SPARK_PORT = 15002
PATIENCE = 180.0  # seconds until all services must be healthy


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
        return self.home.log(name)

    def save(self) -> None:
        """Remember the processes."""
        self.home.processes.write_text(
            json.dumps({"port": self.port, "members": [attrs.asdict(member) for member in self.members]}, indent=1)
        )


def start(
    home: Home,
    port: int | None,
    tell: Callable[[str], object],
    names: Collection[str] = AIRFLOW,
    migrate: Callable[[Home, dict[str, str]], None] | None = None,
    spawn: Spawn = spawn,
) -> Services:
    """Start what does not run yet and wait until all are healthy.

    :param port: of the UI; 8080 or a free one if not given.
    :param tell: is told each step.
    :param names: the services to have; others that run go on.
    :param migrate: makes the tables of a database, in an environment; ``airflow db migrate`` if not given.
    :param spawn: starts a service; as a program of its own if not given.
    """
    services = Services.of(home)
    if services and (services.dead or port not in (None, services.port)):
        stop(home)
        services = _prepared(home, port, services.port, tell, migrate or _migrate)
    elif services:
        tell(f"Airflow runs already at {services.address}")
    else:
        services = _prepared(home, port, PORT, tell, migrate or _migrate)
    environment = home.environment(dict(os.environ), services.port)
    for name in names:
        if services.has([name]):
            continue
        if name == "scheduler":
            _wait(services, ())
        services = attrs.evolve(services, members=(*services.members, _spawn(services, name, environment, spawn)))
        services.save()
    _wait(services, [part for part in PARTS if services.has([_service_of(part)])])
    return services


def stop(home: Home) -> list[str]:
    """End the services and all they have started; return the names of those that ran."""
    services = Services.of(home)
    if services is None:
        return []
    names = end(services.members)
    home.processes.unlink(missing_ok=True)
    return names


def _prepared(
    home: Home,
    port: int | None,
    preferred: int,
    tell: Callable[[str], object],
    migrate: Callable[[Home, dict[str, str]], None],
) -> Services:
    """A home with a database, a port, and no service yet."""
    home.create()
    home.write_password()
    tell("making Airflow's database")
    migrate(home, home.environment(dict(os.environ)))
    services = Services(home, free_port(port, preferred))
    tell(f"starting Airflow at {services.address}")
    return services


def _service_of(part: str) -> str:
    return part.replace("_", "-")


def _migrate(home: Home, environment: dict[str, str]) -> None:
    log = home.logs / "migrate.log"
    with log.open("w") as out:
        process = subprocess.run(
            ["airflow", "db", "migrate"], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
        )
    if process.returncode:
        raise DemoError(f"airflow db migrate failed; the end of {log}:\n{tail(log)}")


def _spawn(services: Services, name: str, environment: dict[str, str], spawn: Spawn) -> Service:
    words = ["airflow", *COMMANDS[name]]
    if words[-1] == "--port":
        words.append(str(services.port if name == "api-server" else free_port(None, SPARK_PORT)))
    patience = _patience(services.home, name)
    services.log(name).unlink(missing_ok=True)
    return spawn(name, words, environment | patience, services.home.root, services.log(name))


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
