"""Storage of assets as a process beside the tasks reaches it: by connections of Airflow."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.dataset import Dataset

D = TypeVar("D", bound=Dataset)


def connected(dataset: D) -> D:
    """The *dataset*, with the properties of its catalog if it is a table.

    :raises InvalidDefinitionError: if there is no connection to the catalog.
    """
    return open_backend(dataset).connected(partial(_properties, dataset.path))


def _properties(table: str, conn_id: str) -> dict[str, Any]:
    from airflow.models.connection import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    from airflow_partitions.storage.iceberg.table.connection import properties_of

    try:
        return properties_of(Connection.get_connection_from_secrets(conn_id))
    except AirflowNotFoundException as error:
        raise InvalidDefinitionError(
            f"there is no connection {conn_id!r} to the catalog of table {table!r}; expected it where upkeep runs, too"
        ) from error
