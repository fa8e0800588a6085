"""What Spark needs for S3, fetched from Maven Central once, for all jobs and servers of a machine.

``python -m cluster.jars FILE`` writes the class path to a file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cluster.home import ClusterHome
from demo.errors import DemoError
from demo.processes import tail

#: In the version of Hadoop that pyspark brings.
PACKAGE = "org.apache.hadoop:hadoop-aws:3.4.2"


def class_path(home: ClusterHome) -> str:
    """The jars of :data:`PACKAGE` and of what it needs; fetched if they are not there."""
    file = home.root / "jars"
    if file.exists() and all(map(os.path.exists, file.read_text().split(":"))):
        return file.read_text()
    log = home.logs / "jars.log"
    environment = home.environment(dict(os.environ)) | {"SPARK_CONF_DIR": str(home.root)}  # without what is fetched
    words = ["spark-submit", "--master", "local[1]", "--packages", PACKAGE, __file__, str(file)]
    with log.open("w") as out:
        process = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    if process.returncode or not file.exists():
        raise DemoError(f"Spark's package {PACKAGE} could not be fetched; the end of {log}:\n{tail(log)}")
    return file.read_text()


def _write(file: Path) -> None:
    """Write the class path of the packages that this program was submitted with."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
    jars = spark.conf.get("spark.jars") or ""
    file.write_text(":".join(jar.removeprefix("file://") for jar in jars.split(",")))
    spark.stop()


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
