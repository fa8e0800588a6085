"""An archive of the classes that a Spark job loads: Java starts a job with it in some 40% less processor time.

Java writes it at the end of a trial job. Jobs that name it with another Java, or another Spark, run without it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from airflow_partitions.core.errors import ResultError
from airflow_partitions.spark.engines.job import PROGRAM
from airflow_partitions.spark.engines.submit import OPTIONS

_LAST_LINES = 5


def property_for(archive: Path) -> tuple[str, str]:
    """The Spark property, and its value, by which a job starts with *archive*."""
    return "spark.driver.extraJavaOptions", f"-XX:SharedArchiveFile={archive}"


def write_class_archive(archive: Path) -> None:
    """Run a trial job by this environment's spark-submit, or else that on the path, and keep its classes in *archive*.

    :raises MissingSparkError: if there is no Spark here.
    :raises ResultError: if Java wrote none, with its words.
    """
    with TemporaryDirectory() as folder:
        partial = archive.with_name(f"{archive.name}.partial")
        words = [_program(), "--master", "local[1]", "--conf", "spark.ui.enabled=false", *_trial(Path(folder)), PROGRAM]
        outer = _without_archive(os.environ.get(OPTIONS, ""))
        # Classes are kept, not what is compiled of them: to optimize that would be half of the trial's work.
        archived = f'-XX:TieredStopAtLevel=1 "-XX:ArchiveClassesAtExit={partial}"'
        options = f"{outer} {archived} -Xlog:cds=error -Xlog:cds+dynamic=error"
        trial = subprocess.run(
            words,
            env=os.environ | {OPTIONS: options, "PYSPARK_DRIVER_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if not partial.exists():
        lines = "\n".join(trial.stdout.splitlines()[-_LAST_LINES:])
        raise ResultError(
            f"Java has written no archive of Spark's classes to {archive}; the end of the trial job's output:\n{lines}"
        )
    partial.replace(archive)


def _without_archive(options: str) -> str:
    """Java's *options* without an archive that jobs start with: Java adds to none."""
    return shlex.join(word for word in shlex.split(options) if not word.startswith("-XX:SharedArchiveFile="))


def _program() -> str:
    from airflow_partitions.spark.installed import check_installed

    own = Path(sys.executable).with_name("spark-submit")
    if not own.exists() and which("spark-submit") is None:
        check_installed()
    return str(own) if own.exists() else "spark-submit"


def _trial(folder: Path) -> list[str]:
    """The words of spark-submit that hand over a job in *folder*, much like those of assets."""
    from airflow_partitions.core.definitions import PartitionByInterval
    from airflow_partitions.core.partition import Partition
    from airflow_partitions.spark.handover import PROPERTY, Handover, pack
    from airflow_partitions.spark.shipping import ship
    from airflow_partitions.storage import Parquet
    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.stores.open import open_staging

    days = PartitionByInterval("@daily", name="date")
    storage = Parquet(str(folder / "trial"), partition_on={"date": "%Y-%m-%d"}).of(days)
    attempt = Attempt("trial", "trial", 1)
    handover = Handover(
        asset="trial",
        attempt=attempt,
        partition=Partition(days, "2013-01-01"),
        inputs={},
        output=storage,
        staging=open_staging(storage.path, attempt),
        function=ship(_typical),
    )
    return ["--conf", f"{PROPERTY}={pack([handover])}"]


def _typical(spark: Any) -> Any:
    """Write, read, join and count."""
    from tempfile import TemporaryDirectory

    from pyspark.sql import functions as f

    with TemporaryDirectory() as folder:
        rows = spark.range(100).select("id", (f.col("id") % 3).cast("string").alias("origin"))
        rows.write.partitionBy("origin").parquet(f"{folder}/rows")
        read = spark.read.schema("id bigint, origin string").parquet(f"{folder}/rows")
        counts = read.where("origin = '1'").groupBy("origin").agg(f.count("*").alias("rows"), f.avg("id").alias("mean"))
        return spark.createDataFrame(read.join(counts, "origin", "left").collect())
