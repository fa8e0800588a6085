"""The engine that the type of a connection names."""

from __future__ import annotations

from airflow_partitions.spark.connection import SUBMIT, connection_of
from airflow_partitions.spark.engines.engine import Engine


def engine_of(conn_id: str) -> Engine:
    """The engine of Airflow's connection *conn_id*.

    :raises StorageError: if there is no such connection, or it is not one to Spark.
    """
    connection = connection_of(conn_id)
    if connection.conn_type == SUBMIT:  # whose operator takes a second to import: reading a Dag file does without
        from airflow_partitions.spark.engines.submit import SparkSubmit

        return SparkSubmit(connection)
    from airflow_partitions.spark.engines.spark_connect import Connect

    return Connect(connection)
