"""A program of the author's own, submitted on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import ResultError

if TYPE_CHECKING:
    from airflow_partitions.spark.handover import Handover

_LAST_LINES = 30


def submit_locally(application: str, handover: Handover) -> None:
    """Run *application* by spark-submit on ``local[2]`` and wait for its end.

    :raises MissingSparkError: if Spark is not installed here.
    :raises ResultError: if it fails, with the last lines of its output.
    """
    from airflow_partitions.spark.handover import PROPERTY, pack
    from airflow_partitions.spark.installed import check_installed

    check_installed()
    import pyspark

    words = [
        str(Path(sys.executable).with_name("spark-submit")),
        "--master",
        "local[2]",
        "--conf",
        f"{PROPERTY}={pack([handover])}",
        application,
    ]
    home = {"SPARK_HOME": str(Path(pyspark.__file__).parent), "PYSPARK_PYTHON": sys.executable}
    environment = os.environ | home
    process = subprocess.run(
        words, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if process.returncode:
        output = "\n".join(process.stderr.splitlines()[-_LAST_LINES:])
        raise ResultError(f"{application} ended with {process.returncode}; the end of its output:\n{output}")
