"""A job in the process of its Airflow task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from airflow_partitions.core.errors import ReplacedError
from airflow_partitions.spark.connect.access import access_of
from airflow_partitions.spark.connect.client_process import run_in_process
from airflow_partitions.spark.connect.server_errors import translated
from airflow_partitions.spark.connect.session import connected, interrupt
from airflow_partitions.spark.driver import REPEATS, run
from airflow_partitions.spark.running_job import job

if TYPE_CHECKING:
    from airflow.sdk import Connection

    from airflow_partitions.spark.handover import Handover


def run_connected(
    handover: Handover, connection: Connection, conf: Mapping[str, str], began: Callable[[Callable[[], None]], None]
) -> None:
    """Run the function of *handover* on the server of *connection*; it leaves a result file.

    :param conf: Spark properties.
    :param began: is told what ends the job from outside, for each session anew.
    :raises SparkServerError: if the server does not answer, refuses, or was restarted meanwhile.
    :raises PartitionError: any other error of a job.
    """
    access = access_of(connection)
    server = urlsplit(access.url).netloc if access.url else str(connection.extra_dejson["session"])
    if access.python is not None:
        run_in_process(handover, access, (server, connection.conn_id), conf, began)
        return
    with translated(server, connection.conn_id):
        for repeat in range(REPEATS + 1):
            with connected(access, handover.attempt.name, conf=conf, strict=handover.strict) as spark:
                began(partial(interrupt, spark))
                try:
                    with job(handover, spark) as current:
                        run(current)
                except ReplacedError:
                    if repeat == REPEATS:
                        raise
                else:
                    return
