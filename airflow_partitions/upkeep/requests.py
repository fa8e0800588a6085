"""Requests whose maker was killed before all of their runs were created."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from airflow_partitions.errors import PartitionError
from airflow_partitions.history.database import session
from airflow_partitions.history.state_store import form_of
from airflow_partitions.requests.materialise import create_runs
from airflow_partitions.requests.request import MAKING, cell_of, read_request
from airflow_partitions.versions import Report

#: Whoever creates runs writes down how far it is more often than that.
ABANDONED = timedelta(minutes=1)


def finish_requests(report: Report, abandoned: timedelta = ABANDONED) -> int:
    """Create the runs that requests lack; returns of how many requests.

    :param report: is told of those for which that fails.
    :param abandoned: time without a new run after which nobody is at work on a request any more.
    """
    finished = 0
    for number in _unfinished(datetime.now(UTC) - abandoned):
        try:
            request = create_runs(read_request(number))
        except PartitionError as error:
            report(f"request {number}: {error}")
        else:
            finished += not request.is_making
    return finished


def _unfinished(before: datetime) -> list[int]:
    """The requests that lack runs, and that nobody has written to since an instant."""
    from airflow.models.asset import TaskOutletAssetReference
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    making = select(Cell.asset_id, Cell.value).where(
        Cell.asset_id.in_(select(TaskOutletAssetReference.asset_id)), Cell.key == MAKING
    )
    numbers: list[int] = []
    with session() as at:
        for asset_id, text in at.execute(making):
            form: Any = form_of(text)
            cells = {cell_of(number): number for number in (form or {}).get("requests", ())}
            if cells:
                old = select(Cell.key).where(Cell.asset_id == asset_id, Cell.key.in_(cells), Cell.updated_at < before)
                numbers += (cells[cell] for cell in at.scalars(old))
    return sorted(numbers)
