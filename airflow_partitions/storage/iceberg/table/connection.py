"""Catalogs of Airflow's connections."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.iceberg.default_catalog import DEFAULT_CATALOG

#: What Airflow's own provider takes for the kind of a catalog when nothing is said.
_REST = "rest"


@cache
def connected(conn_id: str) -> MappingProxyType[str, Any]:
    """pyiceberg's properties of the catalog that the connection *conn_id* describes; it is asked once in a process.

    The connection is filled in as for Airflow's provider for Iceberg, which itself is not needed:
    https://airflow.apache.org/docs/apache-airflow-providers-apache-iceberg/stable/connections.html

    :raises StorageError: if there is no Airflow, or no such connection.
    """
    try:
        from airflow.sdk import BaseHook
        from airflow.sdk.exceptions import AirflowNotFoundException
    except ImportError as error:
        raise StorageError(
            f"catalog {conn_id!r} can't be looked up where Airflow is not installed; expected credentials=, pyiceberg's"
            " properties of the catalog"
        ) from error
    try:
        connection = BaseHook.get_connection(conn_id)
    except AirflowNotFoundException as error:
        default = ", which Iceberg(…) takes where it says no catalog=" if conn_id == DEFAULT_CATALOG else ""
        raise StorageError(
            f"there is no connection {conn_id!r}{default}; expected one to a catalog of Iceberg, such as"
            f' AIRFLOW_CONN_{conn_id.upper()}=\'{{"conn_type": "iceberg", "host": "https://…"}}\''
        ) from error
    return MappingProxyType(properties_of(connection))


def properties_of(connection: Any) -> dict[str, Any]:
    """pyiceberg's properties of the catalog that a *connection* of Airflow describes."""
    properties: dict[str, Any] = {"type": _REST, **connection.extra_dejson}
    if connection.host:
        properties["uri"] = connection.host.rstrip("/")
    if properties["type"] == _REST and connection.login and connection.password:
        properties["credential"] = f"{connection.login}:{connection.password}"
    return properties
