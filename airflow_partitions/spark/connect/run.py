"""A job in the process of its Airflow task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_partitions.core.errors import ReplacedError
from airflow_partitions.spark.connect.access import access_of
from airflow_partitions.spark.connect.server_errors import translated
from airflow_partitions.spark.connect.session import connected
from airflow_partitions.spark.driver import REPEATS, run
from airflow_partitions.spark.running_job import job

if TYPE_CHECKING:
    from airflow.sdk import Connection

    from airflow_partitions.spark.handover import Handover


def run_connected(
    handover: Handover, connection: Connection, conf: Mapping[str, str], began: Callable[[Any], None]
) -> None:
    """Run the function of *handover* on the server of *connection*; it leaves a result file.

    :param conf: Spark properties.
    :param began: is told each session, to end it from outside.
    :raises SparkServerError: if the server does not answer, refuses, or was restarted meanwhile.
    :raises PartitionError: any other error of a job.
    """
    access = access_of(connection)
    server = urlsplit(access.url).netloc if access.url else str(connection.extra_dejson["session"])
    with translated(server, connection.conn_id):
        for repeat in range(REPEATS + 1):
            with connected(access, handover.attempt.name, conf=conf, strict=handover.strict) as spark:
                began(spark)
                try:
                    with job(handover, spark) as current:
                        run(current)
                except ReplacedError:
                    if repeat == REPEATS:
                        raise
                else:
                    return
