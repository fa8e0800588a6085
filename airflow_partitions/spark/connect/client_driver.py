"""What a process with a client of its own does for a decorated function. It needs no Airflow."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from airflow_partitions.core.errors import ResultError
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import save_error

#: What an event says of a client that nobody looks into.
UNWATCHED = "all that the session sends, by a client of another Python"


def main() -> None:
    """Make the partition that the task has written to the standard input; what fails is left for the task to read."""
    sent = json.load(sys.stdin)
    handover = Handover.from_text(sent["handover"])
    try:
        _make(handover, sent)
    except ModuleNotFoundError as error:
        missing = ResultError(
            f"the Python of connection {sent['connection']!r}, {sys.executable}, has no module {error.name!r}; expected"
            " the client of Spark Connect there, by pip install 'pyspark[connect]==…' of the server's version, and what"
            " the function imports"
        )
        save_error(handover.staging, missing)
        raise missing from error
    except Exception as error:
        save_error(handover.staging, error)
        raise


def _make(handover: Handover, sent: Mapping[str, Any]) -> None:
    # Who lacks a module of the client is told.
    from airflow_partitions.spark.connect.server_errors import translated
    from airflow_partitions.spark.driver import run_in_sessions

    with translated(sent["server"], sent["connection"]):
        run_in_sessions(handover, partial(_session, sent["url"], sent["conf"]))


@contextmanager
def _session(url: str, conf: Mapping[str, str]) -> Iterator[Any]:
    from pyspark.sql.connect.session import SparkSession

    from airflow_partitions.spark.connect.session import check_version, configure, try_again
    from airflow_partitions.spark.proof.requests import Requests, remember

    first: Any = SparkSession(url)
    try_again(first)  # the builder of Spark 3.5 asks a server that is away for ten minutes
    check_version(first)
    spark: Any = SparkSession.builder.remote(url).create()
    try_again(spark)
    first.stop()
    signal.signal(signal.SIGTERM, partial(_end, spark))
    remember(spark, Requests(strict=False, unwatched=(UNWATCHED,)))
    try:
        configure(spark, conf)
        yield spark
    finally:
        spark.stop()


def _end(spark: Any, *_: object) -> NoReturn:
    """End what the session runs, which the server would go on with, and this process."""
    from airflow_partitions.spark.connect.session import interrupt

    interrupt(spark)
    raise SystemExit(f"ended by signal {signal.SIGTERM.value}")
