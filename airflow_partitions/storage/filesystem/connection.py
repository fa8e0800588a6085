"""File systems of Airflow's connections."""

from __future__ import annotations

from functools import cache
from typing import Any

from airflow_partitions.core.errors import StorageError


@cache
def connected(protocol: str, conn_id: str) -> dict[str, Any]:
    """What Airflow makes the file system of a connection with; it is asked once in a process.

    :param protocol: the scheme of the file system, such as ``s3``.
    :raises StorageError: if there is no Airflow, no such connection, or no provider with the file system.
    """
    try:
        from airflow.sdk import BaseHook
        from airflow.sdk.exceptions import AirflowNotFoundException
        from airflow.sdk.io import get_fs
    except ImportError as error:
        raise StorageError(
            f"connection {conn_id!r} can't be looked up where Airflow is not installed; expected credentials=, a role"
            " or environment here"
        ) from error
    try:
        BaseHook.get_connection(conn_id)  # providers go on without one that is missing
        return dict(get_fs(protocol, conn_id).storage_options)
    except AirflowNotFoundException as error:
        raise StorageError(
            f"there is no connection {conn_id!r}; expected one for {protocol}:// files, such as"
            f' AIRFLOW_CONN_{conn_id.upper()}=\'{{"conn_type": "aws", …}}\''
        ) from error
    except (ImportError, ValueError) as error:
        raise StorageError(
            f"connection {conn_id!r} gives no file system for {protocol}:// ({error}); expected Airflow's provider of"
            " it, such as apache-airflow-providers-amazon[s3fs]"
        ) from error
