"""The events of an asset, as a task reads them from Airflow's API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.core.errors import UnreadableEventsError

if TYPE_CHECKING:
    from airflow.sdk.execution_time.comms import AssetEventResult
    from airflow.sdk.execution_time.context import InletEventsAccessor

_SERVER_ERROR = 500


def read_events(events: InletEventsAccessor, asset: str) -> list[AssetEventResult]:
    """The *events* of an *asset*.

    :raises UnreadableEventsError: if Airflow can't tell them: up to 3.3 its answer has when each run began that one of
        them has started, and there is none while such a run is queued (``DagRunAssetReference.start_date``).
    """
    from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType

    try:
        return list(events)
    except AirflowRuntimeError as error:
        detail = error.error.detail or {}
        if error.error.error != ErrorType.API_SERVER_ERROR or detail.get("status_code") != _SERVER_ERROR:
            raise
        raise UnreadableEventsError(
            f"Airflow can't tell the events of asset {asset!r}: its API server fails as long as a run that one of them"
            " has started is queued. Try again once the Dags that wait for the asset have begun their runs; with"
            " 'airflow asset-partitions upkeep --loop' tasks read what that has kept"
        ) from error
