"""A server of Spark Connect that is older than the client, in an environment of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.jars import package_options
from demo.processes import tail
from tests.spark.other_sparks import OtherSpark

_PATIENCE = 300
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
#: What Spark 3.5 does not bring along: the newest that was there, which works in later ones of the minor.
PACKAGES = {"3.5": "org.apache.spark:spark-connect_2.12:3.5.7"}


@contextmanager
def older_server(minor: str, log: Path) -> Iterator[str]:
    """Where the server of Spark *minor* listens, ``host:port``.

    :param log: the file that takes its output.
    """
    spark = OtherSpark.of(minor)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    conf = {
        "spark.master": "local[2]",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    words = [str(spark.home / "bin" / "spark-submit"), "--class", _CLASS]
    words += package_options([PACKAGES[minor]])
    for name, value in conf.items():
        words += ["--conf", f"{name}={value}"]
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK"))}
    environment = {**mine, "SPARK_HOME": str(spark.home), "PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*words, "spark-internal"], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        _wait(process, port, log)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"the server did not start; the end of {log}:\n{tail(log)}")
