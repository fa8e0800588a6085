"""The engine that the type of a connection names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from airflow.sdk import Connection

from airflow_partitions.spark.connection import CONNECT, SUBMIT, connection_of
from airflow_partitions.spark.engines.engine import Engine
from airflow_partitions.spark.engines.spark_connect import Connect
from airflow_partitions.spark.engines.submit import SparkSubmit

_ENGINES: Mapping[str | None, Callable[[Connection], Engine]] = {SUBMIT: SparkSubmit, CONNECT: Connect}


def engine_of(conn_id: str) -> Engine:
    """The engine of Airflow's connection *conn_id*.

    :raises StorageError: if there is no such connection, or it is not one to Spark.
    """
    connection = connection_of(conn_id)
    return _ENGINES[connection.conn_type](connection)
