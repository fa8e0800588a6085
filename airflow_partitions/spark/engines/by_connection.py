"""The engine that the type of a connection names."""

from __future__ import annotations

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.spark.connection import SUBMIT, connection_of
from airflow_partitions.spark.engines.engine import Engine


def engine_of(conn_id: str, *, deferrable: bool = False) -> Engine:
    """The engine of Airflow's connection *conn_id*.

    :param deferrable: whether its tasks may wait without a worker.
    :raises StorageError: if there is no such connection, or it is not one to Spark.
    :raises InvalidDefinitionError: if no task can wait for its jobs without a worker.
    """
    connection = connection_of(conn_id)
    if connection.conn_type == SUBMIT:  # whose operator takes a second to import: reading a Dag file does without
        if deferrable:
            from airflow_partitions.spark.engines.tracked_submit import TrackedSubmit

            return TrackedSubmit(connection)
        from airflow_partitions.spark.engines.submit import SparkSubmit

        return SparkSubmit(connection)
    if deferrable:
        raise InvalidDefinitionError(
            f"deferrable=True, and connection {conn_id!r} is of type {connection.conn_type!r}, whose functions run in"
            " the task itself; expected a connection of type spark to YARN or Kubernetes, in cluster mode, or no"
            " deferrable="
        )
    from airflow_partitions.spark.engines.spark_connect import Connect

    return Connect(connection)
