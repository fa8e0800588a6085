"""A program of an author that waits at a chosen point of its job, to be killed there: ``spark-submit blocking.py``."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path


def reach(point: str) -> None:
    """Say that *point* is reached and wait for ever, or until told to go on, if it is the one that was chosen."""
    if point == os.environ["BLOCKING_POINT"]:
        folder = Path(os.environ["BLOCKING_FOLDER"])
        (folder / "reached").touch()
        while not (folder / "go").exists():
            time.sleep(0.05)


def main() -> None:
    """A job with two files, written one after the other."""
    from pyspark.sql import functions as f

    from airflow_partitions.spark import job

    note = Path(os.environ["BLOCKING_FOLDER"]) / "driver"
    note.write_text(json.dumps({"driver": os.getpid(), "submit": os.getppid()}))
    reach("started")
    with job() as j:
        number = j.handover.attempt.number

        def mark(part: int) -> int:
            reach("reading" if part == 0 else "writing")
            return number

        rows = j.read("flights").where(f.col("hour") == "2013-01-02T05:00-0500").select("origin")
        marked = rows.repartition(2).select(f.udf(mark, "int")(f.spark_partition_id()).alias("try"))
        j.write(marked)
        reach("written")
    reach("reported")
    j.spark.stop()


if __name__ == "__main__":
    main()
