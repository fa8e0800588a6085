"""Iceberg's own REST catalog, of its test fixtures. It listens on all interfaces, so it gets a network of its own."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from airflow_partitions.spark.server.distribution import Distribution

#: Names the folder of the jars, for tests that run in such a network.
JARS = "AIRFLOW_PARTITIONS_TEST_REST_JARS"
_IVY = Path(__file__).with_suffix(".xml")
_SET_FLAGS = 0x8914  # SIOCSIFFLAGS of Linux
_UP = 1


def java() -> str:
    """The program."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def fetch(folder: Path) -> None:
    """Bring the server's jars into *folder*, by the Ivy that Spark brings."""
    ivy = [java(), "-cp", str(Distribution.here().jar("ivy-")), "org.apache.ivy.Main", "-ivy", str(_IVY)]
    pattern = str(folder / "[artifact]-[revision](-[classifier]).[ext]")
    subprocess.run([*ivy, "-retrieve", pattern], check=True, capture_output=True, text=True)


@contextmanager
def java_rest_server(folder: Path, jars: Path) -> Iterator[dict[str, str]]:
    """The server, in the network of this process, with its tables below *folder*.

    :return: how to reach it.
    """
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14s", b"lo", _UP, b""))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    settings = {
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_URI": f"jdbc:sqlite:{folder}/behind.db",
        "CATALOG_WAREHOUSE": f"file://{folder}/warehouse",
        "CATALOG_REST_PORT": str(port),
    }
    program = [
        java(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{jars}/*",
        "org.apache.iceberg.rest.RESTCatalogServer",
    ]
    server = subprocess.Popen(
        program, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 60
        while not _listens(port):
            assert server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        yield {"type": "rest", "uri": f"http://127.0.0.1:{port}"}
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
