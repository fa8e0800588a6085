"""The same tests on a local disk and on an S3 store, which is moto's server on loopback."""

from __future__ import annotations

import logging
import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The version of Hadoop that pyspark brings.
HADOOP_AWS = "org.apache.hadoop:hadoop-aws:3.4.2"
#: The package by which Spark knows Avro: the newest for 4.1 that Maven Central has.
SPARK_AVRO = "org.apache.spark:spark-avro_2.13:4.1.1"
BUCKET = "lake"

_App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@attrs.frozen
class Server:
    """An S3 store.

    :ivar url: its endpoint.
    """

    url: str


class OneByOne:
    """Lets conditional writes through one at a time: moto looks for the object and stores it in two steps."""

    def __init__(self, app: _App) -> None:
        self._app = app
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if "HTTP_IF_NONE_MATCH" not in environ or environ["REQUEST_METHOD"] != "PUT":
            return self._app(environ, start)
        with self._lock:
            return self._app(environ, start)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    made = make_server("127.0.0.1", 0, OneByOne(DomainDispatcherApplication(create_backend_app)), threaded=True)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    known = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{made.server_port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in known}
    os.environ.update(known)
    import s3fs

    s3fs.S3FileSystem().mkdir(BUCKET)
    yield Server(known["AWS_ENDPOINT_URL"])
    made.shutdown()
    thread.join()
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(params=["local", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for a dataset."""
    if request.param == "local":
        return str(tmp_path / "lake")
    request.getfixturevalue("server")
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def spark(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session that reads and writes ``s3a:``."""
    from py4j.protocol import Py4JJavaError
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config("spark.jars.packages", f"{HADOOP_AWS},{SPARK_AVRO}")
        .config("spark.hadoop.fs.s3a.endpoint", server.url)
        .config("spark.hadoop.fs.s3a.endpoint.region", "us-east-1")
        .config("spark.hadoop.fs.s3a.path.style.access", "true")
        .config("spark.hadoop.fs.s3a.access.key", "test")
        .config("spark.hadoop.fs.s3a.secret.key", "test")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    jvm: Any = session._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass("org.apache.hadoop.fs.s3a.S3AFileSystem")
    except Py4JJavaError:
        pytest.skip(f"Spark runs without {HADOOP_AWS}: it was started before these tests, or could not resolve it")
    yield session
    session.stop()
