"""A job in the process of its Airflow task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_partitions.spark.connect.access import access_of
from airflow_partitions.spark.connect.client_process import run_in_process
from airflow_partitions.spark.connect.server_errors import translated
from airflow_partitions.spark.connect.session import connected, interrupt
from airflow_partitions.spark.driver import run_in_sessions

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

    @contextmanager
    def session() -> Iterator[Any]:
        with connected(access, handover.attempt.name, conf=conf, strict=handover.strict) as spark:
            began(partial(interrupt, spark))
            yield spark

    with translated(server, connection.conn_id):
        run_in_sessions(handover, session)
