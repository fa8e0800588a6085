"""A server of Spark Connect on this machine, with the listener, reachable from this machine only."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import attrs

from airflow_partitions.core.errors import MissingSparkError, StorageError, UnreachableError
from airflow_partitions.spark.java import JAVA, java_version
from airflow_partitions.spark.parent_process import end_with_parent
from airflow_partitions.spark.server.distribution import Distribution
from airflow_partitions.spark.server.listener import JAR, settings

DEFAULT_PORT = 15002
#: Spark sends a token without TLS to a host of this name only.
_HOST = "localhost"
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_WARM_UP = (
    "from pyspark.sql import SparkSession; SparkSession.builder.getOrCreate().range(2).groupBy('id').count().collect()"
)
_CLASS_PATH = "spark.driver.extraClassPath"
#: The variable with what Spark puts at the end of its class path.
_END_OF_CLASS_PATH = "SPARK_DIST_CLASSPATH"
#: Settings to which what is asked for is added, by what stands between.
_LISTS = {
    _CLASS_PATH: os.pathsep,
    "spark.sql.extensions": ",",
    "spark.sql.queryExecutionListeners": ",",
    "spark.jars.packages": ",",
    "spark.jars": ",",
}
#: Fair also among queries of one pool, which all those of clients are.
_POOLS = Path(__file__).with_name("fair.xml")


@attrs.define
class ConnectServer:
    """One server. As a context manager it is started, and ended with its block.

    :ivar spark: what serves; by default the pyspark of this environment.
    :ivar port: where it listens, on the loopback interface.
    :ivar log: the file its output is added to; ``None`` for standard error.
    :ivar token: what clients have to show; without one anybody on this machine may run code by it.
    :ivar memory: of its JVM, as Spark writes it: ``2g``.
    :ivar conf: settings of Spark, over those that suit small partitions.
    """

    spark: Distribution = attrs.field(factory=Distribution.here)
    port: int = DEFAULT_PORT
    log: Path | None = None
    token: str | None = None
    memory: str | None = None
    conf: Mapping[str, str] = attrs.field(factory=dict)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What clients connect to, with the token."""
        return f"sc://{_HOST}:{self.port}" + (f"/;token={self.token}" if self.token else "")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, patience: float = 300) -> None:
        """Start it, and wait until it has answered a first query, which takes longest.

        :param patience: seconds to wait, packages included.
        :raises MissingSparkError: if there is no Java, or no pyspark with a server, or no listener for it.
        :raises StorageError: if the port is in use.
        :raises UnreachableError: if it ends, or does not answer.
        """
        conf, environment = self._launch()
        _check_java()
        self._check_port()
        words = [str(self.spark.home / "bin" / "spark-submit"), "--class", _CLASS]
        for name, value in conf.items():
            words += ["--conf", f"{name}={value}"]
        output = sys.stderr.buffer if self.log is None else self.log.open("ab")
        try:
            self._process = subprocess.Popen(
                [*words, "spark-internal"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # so that Ctrl-C is first heard by this process, which then ends it
                preexec_fn=end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - one system call
            )
        finally:
            if self.log is not None:
                output.close()
        try:
            self._wait(time.monotonic() + patience)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int | None:
        """Its process, while it runs."""
        return None if self.returncode is not None or self._process is None else self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended; ``None`` if it hasn't."""
        return None if self._process is None else self._process.poll()

    def stop(self, patience: float = 10) -> None:
        """End it, by force after *patience* seconds."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _launch(self) -> tuple[dict[str, str], dict[str, str]]:
        """Settings and environment, with the listener at the end of the class path where it can be: Java takes an
        archive of Spark's classes only if nothing stands before Spark's own jars.
        """
        conf, environment = self._conf(), self._environment()
        script = Path(environment.get("SPARK_CONF_DIR") or self.spark.home / "conf") / "spark-env.sh"
        if conf.get(_CLASS_PATH) == str(JAR) and not script.exists():  # which may set the same variable
            parts = environment.get(_END_OF_CLASS_PATH), conf.pop(_CLASS_PATH)
            environment[_END_OF_CLASS_PATH] = os.pathsep.join(filter(None, parts))
        return conf, environment

    def _conf(self) -> dict[str, str]:
        cores = os.cpu_count() or 1
        conf = {
            "spark.master": f"local[{cores}]",
            "spark.app.name": "airflow_partitions",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "WARN",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": str(cores),
            "spark.scheduler.mode": "FAIR",
            "spark.scheduler.allocation.file": _POOLS.as_uri(),
            "spark.ui.enabled": "false",
            **({"spark.driver.memory": self.memory} if self.memory else {}),
            **settings(self.spark.version),
        }
        for name, value in self.conf.items():
            conf[name] = f"{conf[name]}{_LISTS[name]}{value}" if name in _LISTS and name in conf else value
        return conf

    def _environment(self) -> dict[str, str]:
        # Not as words of the command, which everybody on this machine can read.
        token = {"SPARK_CONNECT_AUTHENTICATE_TOKEN": self.token} if self.token else {}
        kept = {name: value for name, value in os.environ.items() if name not in _OF_CLIENTS}
        return {**kept, "SPARK_HOME": str(self.spark.home), "PYSPARK_PYTHON": sys.executable, **token}

    def _check_port(self) -> None:
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind(("127.0.0.1", self.port))
            except OSError as error:
                raise StorageError(f"port {self.port} is in use ({error}); expected a free one, by --port") from error

    def _wait(self, deadline: float) -> None:
        while not self._listens():
            self._check(deadline)
            time.sleep(0.1)
        environment = {**os.environ, "SPARK_REMOTE": self.url}
        warm_up = subprocess.Popen(
            [sys.executable, "-c", _WARM_UP], env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while warm_up.poll() is None:
                self._check(deadline)
                time.sleep(0.1)
        finally:
            warm_up.kill()
            warm_up.wait()
        if warm_up.returncode:
            raise UnreachableError(f"the server on port {self.port} does not answer queries; {self._see}")

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def _check(self, deadline: float) -> None:
        if self.returncode is not None:
            raise UnreachableError(f"the server on port {self.port} ended with status {self.returncode}; {self._see}")
        if time.monotonic() > deadline:
            raise UnreachableError(f"the server on port {self.port} was not ready in time; {self._see}")

    @property
    def _see(self) -> str:
        return "see what it said" + (f" in {self.log}" if self.log is not None else "")


#: Variables by which clients are told of servers: a server would take itself for a client.
_OF_CLIENTS = {"SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE", "SPARK_API_MODE"}


def _check_java() -> None:
    version = java_version()
    if version not in JAVA:
        there = "there is no Java" if version is None else f"there is Java {version}"
        raise MissingSparkError(
            f"{there} on this machine; expected {' or '.join(map(str, JAVA))}, by PATH or JAVA_HOME"
        )
