"""The services of the cluster: what each runs, what it needs, and when it is healthy.

Their names, commands and settings are those of docker-compose.yaml.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import attrs
import httpx

from airflow_partitions.spark.server.listener import JAR, settings
from cluster.home import ClusterHome
from cluster.jars import class_path
from cluster.postgres import initialise, owner, programs

_CORES, _MEMORY = "2", "3g"  # of each worker
Health = Callable[[], bool]


@attrs.frozen(kw_only=True)
class Program:
    """What one service runs.

    :ivar environment: beside that of all.
    :ivar after: services that have to be healthy before it is started.
    :ivar healthy: whether it does its work; a process that runs is not enough.
    :ivar once: it ends by itself, and has then done its work.
    :ivar user: who it runs as, where that is not who starts it.
    """

    name: str
    words: tuple[str, ...]
    folder: Path
    healthy: Health
    environment: dict[str, str] = attrs.field(factory=dict)
    after: tuple[str, ...] = ()
    once: bool = False
    user: str | None = None


def services(home: ClusterHome) -> tuple[Program, ...]:
    """All services, those that others need first."""
    return (*_stores(home), *_spark(home), *_airflow(home))


def _stores(home: ClusterHome) -> tuple[Program, ...]:
    files = _postgres_files(home)
    return (
        Program(
            name="postgres",
            words=(str(programs() / "postgres"), "-D", str(files), "-p", str(home.ports["postgres"])),
            folder=files,
            healthy=_listens(home.ports["postgres"]),
            user=owner(),
        ),
        Program(
            name="s3",
            words=(sys.executable, "-m", "cluster", "s3", "--home", str(home.root)),
            folder=home.root,
            healthy=_listens(home.ports["s3"]),
        ),
        Program(
            name="init",
            words=(sys.executable, "-m", "cluster", "init", "--home", str(home.root)),
            folder=home.root,
            healthy=lambda: True,
            after=("postgres", "s3"),
            once=True,
        ),
    )


def _spark(home: ClusterHome) -> tuple[Program, ...]:
    def daemon(name: str, kind: str, *words: str, after: tuple[str, ...] = ()) -> Program:
        port = home.ports[f"{name}-ui"]
        return Program(
            name=name,
            words=("spark-class", f"org.apache.spark.deploy.{kind}", *words, "--webui-port", str(port)),
            folder=home.spark,
            healthy=_answers(f"http://127.0.0.1:{port}/json/"),
            environment={"SPARK_DAEMON_MEMORY": "256m"},
            after=after,
        )

    host = ("--host", "127.0.0.1")
    size = ("--cores", _CORES, "--memory", _MEMORY)
    workers = ("spark-worker-1", "spark-worker-2")
    return (
        daemon("spark-master", "master.Master", *host, "--port", str(home.ports["spark-master"])),
        *(
            daemon(
                name,
                "worker.Worker",
                *(*host, *size, "--work-dir", str(home.spark / name), home.master),
                after=("spark-master",),
            )
            for name in workers
        ),
        Program(
            name="spark-connect",
            words=(
                "spark-submit",
                *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", home.master),
                *(word for name, value in _connect_settings(home).items() for word in ("--conf", f"{name}={value}")),
                "spark-internal",
            ),
            folder=home.spark,
            healthy=_listens(home.ports["spark-connect"]),
            environment={"SPARK_DAEMON_MEMORY": "1g", "SPARK_CONNECT_AUTHENTICATE_TOKEN": home.secret("connect")},
            after=(*workers, "s3"),
        ),
    )


def _connect_settings(home: ClusterHome) -> dict[str, str]:
    return {
        **settings(version("pyspark"), f"{JAR}:{class_path(home)}"),
        "spark.cores.max": _CORES,
        "spark.scheduler.mode": "FAIR",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(home.ports["spark-connect"]),
    }


def _airflow(home: ClusterHome) -> tuple[Program, ...]:
    url = f"{home.address}/api/v2/monitor/health"

    def service(name: str, *words: str, healthy: Health, after: tuple[str, ...] = ("api-server",)) -> Program:
        return Program(
            name=name,
            words=("airflow", *words),
            folder=home.root,
            healthy=healthy,
            after=("init", *after),
        )

    port = ("--host", "127.0.0.1", "--port", str(home.ports["api-server"]))
    upkeep = ("asset-partitions", "upkeep", "--loop")
    return (
        service("api-server", "api-server", *port, healthy=_answers(url), after=()),
        service("dag-processor", "dag-processor", healthy=_part(url, "dag_processor")),
        service("triggerer", "triggerer", "--skip-serve-logs", healthy=_part(url, "triggerer")),
        *(
            service(
                f"scheduler-{number}",
                *("scheduler", "--skip-serve-logs"),
                healthy=_part(url, "scheduler"),
                after=("api-server", "spark-worker-1", "spark-worker-2"),
            )
            for number in (1, 2)
        ),
        *(service(f"upkeep-{number}", *upkeep, healthy=lambda: True) for number in (1, 2)),
    )


def _postgres_files(home: ClusterHome) -> Path:
    """The files of PostgreSQL, made if they are not there.

    Where root starts the cluster, they are outside of its folder, which nobody else may enter.
    """
    if home.postgres.exists():
        return home.postgres.resolve()
    files = home.postgres
    if user := owner():
        place = Path(f"~{user}").expanduser()
        files = place / f"airflow-partitions{str(home.root).replace('/', '-')}"
        shutil.rmtree(files, ignore_errors=True)  # of a folder of this name that is gone
    draft = files.with_name(f"{files.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    initialise(draft, home.secret("postgres"), home.ports["postgres"], {"max_connections": "200"})
    draft.rename(files)
    if user:
        home.postgres.unlink(missing_ok=True)
        home.postgres.symlink_to(files)
    return files


def _listens(port: int) -> Health:
    def healthy() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
        return False

    return healthy


def _answers(url: str) -> Health:
    def healthy() -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(url, timeout=3, trust_env=False).is_success
        return False

    return healthy


def _part(url: str, name: str) -> Health:
    """Whether Airflow says that one of its parts is healthy."""

    def healthy() -> bool:
        with suppress(httpx.HTTPError, ValueError):
            answer = httpx.get(url, timeout=3, trust_env=False)
            return bool(answer.is_success and answer.json().get(name, {}).get("status") == "healthy")
        return False

    return healthy


def environment(home: ClusterHome) -> dict[str, str]:
    """The environment of all services."""
    return home.environment(dict(os.environ))
