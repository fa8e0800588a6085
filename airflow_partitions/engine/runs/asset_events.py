"""The events of an asset, as a task reads them from Airflow's API server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import UnreadableEventsError

if TYPE_CHECKING:
    from airflow.sdk.execution_time.comms import AssetEventResult
    from airflow.sdk.execution_time.context import InletEventsAccessor

_SERVER_ERROR = 500
_PAGE = 100


def newest_events(asset: str, since: datetime) -> Iterator[AssetEventResult]:
    """The events of an *asset* since an instant, the newest first; some of them twice.

    They are read in pages, as far as they are asked for: an asset may have very many.

    :raises UnreadableEventsError: as :func:`read_events` does.
    """
    from airflow.sdk.execution_time.context import InletEventsAccessor

    before: datetime | None = None
    while True:
        accessor = InletEventsAccessor(asset_name=asset).after(since.isoformat()).ascending(ascending=False)
        accessor = accessor.limit(_PAGE)
        page = read_events(accessor if before is None else accessor.before(before.isoformat()), asset)
        yield from page
        if len(page) < _PAGE:
            return
        oldest = page[-1].timestamp
        before = oldest if oldest != page[0].timestamp else oldest - timedelta(microseconds=1)


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
