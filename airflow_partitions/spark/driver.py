"""What a driver does for a decorated function. It needs no Airflow."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, MutableSequence
from contextlib import AbstractContextManager
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_partitions.spark.handover import Handover
    from airflow_partitions.spark.running_job import Job

#: How often an input is read again when its files are replaced while they are read.
REPEATS = 3


def run(current: Job) -> None:
    """Call the function of *current* with what its parameters ask for, and write what it returns."""
    from airflow_partitions.core.errors import PartitionError, ResultError
    from airflow_partitions.frames.input import PAST
    from airflow_partitions.frames.several import SEVERAL

    shipped = current.handover.function
    if shipped is None:
        raise ResultError("the handover has no function; expected a decorated one")
    function = shipped.load()
    own: dict[str, Any] = {"spark": current.spark, "partition": current.partition}
    if current.handover.several:
        own[SEVERAL] = list(current.handover.several)
    if PAST not in current.handover.inputs:  # of the first partition
        own[PAST] = None
    for repeat in range(REPEATS + 1):
        try:
            current.write(function(**{p: own[p] if p in own else current.read(p) for p in shipped.parameters}))
        except PartitionError:
            raise
        except Exception:
            # Whoever publishes an input's partition while we read it takes files from under the query. Nothing of this
            # job is visible yet, so it may start over with the new ones.
            if repeat == REPEATS or not current.start_over():
                raise
        else:
            return


def run_in_sessions(handover: Handover, session: Callable[[], AbstractContextManager[Any]]) -> None:
    """Run the function of *handover* in a *session*, and in another one where an input was replaced meanwhile and the
    first can't read it again.

    :raises PartitionError: what a job raises.
    """
    from airflow_partitions.core.errors import ReplacedError
    from airflow_partitions.spark.running_job import job

    for repeat in range(REPEATS + 1):
        with session() as spark:
            try:
                with job(handover, spark) as current:
                    run(current)
            except ReplacedError:
                if repeat == REPEATS:
                    raise
            else:
                return


def main() -> None:
    """Make what this program was started for: a partition, or several, one after the other.

    What fails of several is left for their task to read, and the next is made.
    """
    from airflow_partitions.spark.handover import received
    from airflow_partitions.spark.running_job import has_ended, job, own_session

    prefer_installed(sys.path, os.environ.get("SPARK_HOME"))
    session = own_session()
    sent = received(session)
    for each in sent:
        order = each()
        if order is None:
            continue
        try:
            with job(order, session) as current:
                run(current)
        except (Exception, SystemExit):
            if len(sent) == 1 or has_ended(session):
                raise
            traceback.print_exc()
        if len(sent) > 1:
            session.catalog.clearCache()  # what one has kept is of no use to the next
    session.stop()


def prefer_installed(path: MutableSequence[str], home: str | None) -> None:
    """Take the zip of pyspark in a Spark's *home* from Python's *path*, if Python finds the files of that home without.

    spark-submit puts the zip first. It has sources alone, some 370 of which Python would compile in each job; of those
    that pip has installed this is done once.
    """
    if home is None:
        return
    others = [place for place in path if place != f"{home}/python/lib/pyspark.zip"]
    spec = PathFinder.find_spec("pyspark", others)
    if spec and spec.origin and Path(spec.origin).resolve().parent == Path(home).resolve():
        path[:] = others
