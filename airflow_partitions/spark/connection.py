"""The connection that says where jobs run."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from airflow_partitions.core.errors import StorageError

_log = logging.getLogger(__name__)
#: The connection where nobody names one, and none of its name is there: as the local loop runs Spark.
DEFAULT_CONNECTION = "spark_default"
_LOCAL = '{"conn_type": "spark", "host": "local[2]"}'
#: Types of connections: a driver for each job by spark-submit; a running server, by Spark Connect.
SUBMIT = "spark"
CONNECT = "spark_connect"


def connection_of(conn_id: str) -> Connection:
    """Airflow's connection *conn_id*.

    :raises StorageError: if there is none, or it is not one to Spark.
    """
    try:
        connection = BaseHook.get_connection(conn_id)
    except AirflowNotFoundException as error:
        variable = f"AIRFLOW_CONN_{conn_id.upper()}"
        if conn_id != DEFAULT_CONNECTION:
            raise StorageError(
                f"no connection {conn_id!r}, and Airflow would silently submit to YARN; expected one of type"
                f" {SUBMIT} or {CONNECT}: {variable}='{_LOCAL}'"
            ) from error
        _log.warning(
            "There is no connection %r, so the job runs on this machine, on two threads. To say so, or to name a"
            " cluster by its host (spark://…, yarn, k8s://…): %s='%s'",
            conn_id,
            variable,
            _LOCAL,
        )
        os.environ[variable] = _LOCAL  # of this task's process; Airflow's hook looks there, and else takes YARN
        connection = BaseHook.get_connection(conn_id)
    if connection.conn_type not in (SUBMIT, CONNECT):
        raise StorageError(
            f"connection {conn_id!r} is of type {connection.conn_type!r}; expected {SUBMIT} for a driver of its own by"
            f" spark-submit, or {CONNECT} for a running Spark Connect server"
        )
    return connection


def conf_of(connection: Connection) -> Mapping[str, Any]:
    """Spark properties that *connection* has for all jobs: ``conf`` in its extra.

    :raises StorageError: if they are no object of JSON.
    """
    properties = connection.extra_dejson.get("conf", {})
    if not isinstance(properties, Mapping):
        raise StorageError(
            f"connection {connection.conn_id!r} has conf={properties!r} in its extra; expected Spark properties by"
            ' name: {"conf": {"spark.driver.memory": "2g"}}'
        )
    return properties
