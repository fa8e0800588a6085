"""What all tests share."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from airflow_partitions.core.definitions.runtime import KEY_LIST, LISTED
from airflow_partitions.storage.io.spark_packages import iceberg_package
from tests.processor_time import ProcessorTime

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession
    from sqlalchemy import Engine

    from tests.postgres import Postgres
    from tests.scheduler.command_line import CommandLine

#: What Spark 4.1 needs for S3, in the version of Hadoop that pyspark brings, for Avro: the newest of Maven Central, for
#: Iceberg, for the SQL catalogs of tests, and for :data:`FILE_SYSTEMS`.
PACKAGES = (
    "org.apache.hadoop:hadoop-aws:3.4.2",
    "org.apache.spark:spark-avro_2.13:4.1.1",
    iceberg_package("4.1"),
    "org.xerial:sqlite-jdbc:3.50.3.0",
    "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0",
)

#: Of sessions and servers that are kept. Hadoop's local files, but Java sets their permissions itself: Hadoop starts a
#: chmod for each file and folder, thirteen thousand in all. Jobs of their own have them as Hadoop makes them.
#: Tables name their files by s3:, which Hadoop knows as s3a: only.
FILE_SYSTEMS = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
}


@contextmanager
def packages_on_class_path() -> Iterator[None]:
    """Whatever Java begins meanwhile has the jars of :data:`PACKAGES`: by Spark's option for packages each driver makes
    a copy of them, of 700 MB.
    """
    from cluster.jars import fetch

    file = Path(sys.prefix) / f"spark-jars-{crc32(','.join(PACKAGES).encode()):08x}"
    path = fetch(PACKAGES, file, file.with_suffix(".log"), os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_DIST_CLASSPATH", path)
        yield


#: An archive of Spark's classes. The Makefile has it written; without it, Java is slower and says nothing.
CLASSES = Path(sys.prefix) / "spark-classes.jsa"

# Short jobs: a third less processor time than with Java's defaults, and once more that with the archive.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
    "-XX:ReservedCodeCacheSize=240m "  # the session of all tests fills less, and clears it again and again
    "-Djdk.lang.Process.launchMechanism=VFORK "  # Hadoop starts chmod for each of ten thousand files
    # No functions of MLlib, which no test calls: Scala's reflection on their types is a sixth of a short job.
    "-Dspark.sql.extensions.test.loadFromCp=false "
    f'"-XX:SharedArchiveFile={CLASSES}" -Xlog:cds=off -Xlog:cds+dynamic=off',
)
# Of the Java that puts together the command of another one.
os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")

# As tools/environment.sh has it for the processes that this one starts, and says why.
gc.set_threshold(50_000, 20, 100)

# Else each process that imports numpy has threads for all processors, which spin for a while before they sleep.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# How hard the laws are tried: quickly by default; ``--hypothesis-profile thorough`` tries longer.
settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=2_000)
settings.load_profile("quick")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime(os.environ.get("PART")))
    config.add_cleanup(gc.unfreeze)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    # pytest goes on to look for what only the collector finds, five times: once is enough for all of Airflow's objects.
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    # A thread that a test left behind must not keep the process for good: its stack tells which one it is.
    faulthandler.dump_traceback_later(120, exit=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("spark"):
            # pyspark leaves the sockets of its results to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(autouse=True)
def no_task_is_running() -> Iterator[None]:
    """What the hook of a task sets for its process is over with the test."""
    variables: tuple[ContextVar[Any], ...] = (KEY_LIST, LISTED)
    tokens = [variable.set(None) for variable in variables]
    yield
    for variable, token in zip(variables, tokens, strict=True):
        variable.reset(token)


@pytest.fixture(scope="session", autouse=True)
def quiet_gateway() -> None:
    # Its threads still log when pytest has closed the streams.
    logging.getLogger("py4j").setLevel(logging.WARNING)


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    """A PostgreSQL for all tests."""
    from tests.postgres import postgres

    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_engine(database_server: Postgres) -> Iterator[Engine]:
    """An engine of Airflow's tables, in which no test leaves rows: what is compiled for one is there for the next."""
    from tests.metadata import engine_with_tables

    with database_server.database("metadata") as url, engine_with_tables(url) as engine:
        yield engine


@pytest.fixture(scope="session")
def sqlite_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """As on PostgreSQL, in a file."""
    from sqlalchemy import URL

    from tests.metadata import engine_with_tables

    file = tmp_path_factory.mktemp("metadata") / "airflow.db"
    with engine_with_tables(URL.create("sqlite", database=str(file))) as engine:
        yield engine


@pytest.fixture(scope="session")
def command_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """Runs commands of an Airflow that has no database, in its home."""
    from tests.scheduler.command_line import CommandLine

    home = tmp_path_factory.mktemp("home")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    line = CommandLine({**os.environ, "AIRFLOW_HOME": str(home), "PATH": path}, home)
    yield line
    line.end()


@pytest.fixture(scope="session")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server of Spark Connect with the listener, of the packages of :func:`spark`."""
    from airflow_partitions.spark.server.connect_server import ConnectServer

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("connect")
    conf = {**FILE_SYSTEMS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
    with packages_on_class_path():
        server = ConnectServer(port=port, log=folder / "server.log", memory="1g", conf=conf)
        server.start()
    yield server.url
    server.stop()


#: A client that is collected while another works stops the threads that all share, and the other waits for ever.
_sessions: list[ConnectSession] = []


@pytest.fixture
def connect_sessions(connect_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], ConnectSession]]:
    """Makes sessions of the server, each another one; the functions of pyspark are those of Connect in the test."""
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    from pyspark.sql.connect.session import SparkSession

    first = len(_sessions)

    def session() -> ConnectSession:
        _sessions.append(SparkSession.builder.remote(connect_server).create())
        return _sessions[-1]

    yield session
    for one in _sessions[first:]:
        one.stop()  # else it asks a server that is gone when the process ends


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark session of a process: a second one would have the packages and options of the first."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")  # for what it remembers of all tests
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    if pyspark.__version__.startswith("4.1."):
        with packages_on_class_path():
            session = builder.config(map=FILE_SYSTEMS).getOrCreate()
    else:
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
