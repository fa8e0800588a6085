"""Storage of assets as a process beside the tasks reaches it: by connections of Airflow."""

from __future__ import annotations

from typing import TypeVar

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.table_dataset import TableDataset

D = TypeVar("D", bound=Dataset)


def connected(dataset: D) -> D:
    """The *dataset*, with the properties of its catalog if it is a table.

    :raises InvalidDefinitionError: if there is no connection to the catalog.
    """
    if not isinstance(dataset, TableDataset):
        return dataset
    from airflow.models.connection import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    from airflow_partitions.storage.iceberg.table.connection import properties_of

    try:
        properties = properties_of(Connection.get_connection_from_secrets(dataset.catalog))
    except AirflowNotFoundException as error:
        raise InvalidDefinitionError(
            f"there is no connection {dataset.catalog!r} to the catalog of table {dataset.path!r}; expected it where"
            " upkeep runs, too"
        ) from error
    return attrs.evolve(dataset, credentials=properties)
