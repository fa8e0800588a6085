"""What Spark needs for S3, fetched from Maven Central once, for all jobs and servers of a machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.home import ClusterHome
from demo.errors import DemoError
from demo.processes import tail

#: In the version of Hadoop that pyspark brings.
PACKAGE = "org.apache.hadoop:hadoop-aws:3.4.2"
#: Where Spark 4 keeps what it fetches, below the home.
_IVY = ".ivy2.5.2"


def class_path(home: ClusterHome) -> str:
    """The jars of :data:`PACKAGE` and of what it needs; fetched if they are not there."""
    environment = home.environment(dict(os.environ)) | {"SPARK_CONF_DIR": str(home.root)}  # without what is fetched
    return fetch([PACKAGE], home.root / "jars", home.logs / "jars.log", environment)


def fetch(packages: Sequence[str], file: Path, log: Path, environment: Mapping[str, str]) -> str:
    """The class path of *packages*, which is kept in a *file*; they are fetched if they are not there.

    :param log: of Spark's, which fetches them.
    """
    if file.exists() and all(map(os.path.exists, file.read_text().split(":"))):
        return file.read_text()
    words = _words(packages, file)
    with log.open("w") as out:
        process = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    if process.returncode or not file.exists():
        failed = f"spark-submit ended with {process.returncode}" if process.returncode else f"{file} was not written"
        names = ", ".join(packages)
        raise DemoError(f"Spark's packages {names} could not be fetched: {failed}; the end of {log}:\n{tail(log)}")
    return file.read_text()


def ivy_home() -> Path:
    """Where Spark is told to keep jars: Java does not look at HOME, and may know no home at all."""
    return Path.home() / _IVY


def package_options(packages: Sequence[str]) -> list[str]:
    """What spark-submit is told of *packages*."""
    return ["--conf", f"spark.jars.ivy={ivy_home()}", "--packages", ",".join(packages)]


def _words(packages: Sequence[str], file: Path) -> list[str]:
    """The command that writes the class path to *file*."""
    options = ["--master", "local[1]", *package_options(packages)]
    return ["spark-submit", *options, str(Path(__file__).with_name("submitted_jars.py")), str(file)]
