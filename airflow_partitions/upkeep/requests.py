"""Requests whose maker was killed before all of their runs were created, and those of long ago."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, or_, select

from airflow_partitions.errors import PartitionError
from airflow_partitions.history.database import portions, session
from airflow_partitions.history.state_store import form_of
from airflow_partitions.requests.materialise import create_runs
from airflow_partitions.requests.request import MAKING, cell_of, read_request
from airflow_partitions.versions import Report

#: Whoever creates runs writes down how far it is more often than that.
ABANDONED = timedelta(minutes=1)
#: So long a request is kept after its end.
KEEP = timedelta(days=365)


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


def delete_old_requests(keep: timedelta = KEEP) -> int:
    """Delete the requests that ended long ago, or whose backfill is gone; returns how many.

    The backfill stays, on Airflow's pages, and so do its runs.

    :param keep: time after its end for which a request is kept.
    """
    from airflow.models.asset import TaskOutletAssetReference
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell
    from airflow.models.backfill import Backfill

    prefix = cell_of("")
    cells = select(Cell.asset_id, Cell.key).where(
        Cell.asset_id.in_(select(TaskOutletAssetReference.asset_id)), Cell.key.startswith(prefix, autoescape=True)
    )
    deleted = 0
    with session() as at:
        numbers = ((home, cell, cell.removeprefix(prefix)) for home, cell in at.execute(cells))
        requests = {(home, cell): int(number) for home, cell, number in numbers if number.isdecimal()}
        kept: set[int] = set()
        for portion in portions(sorted(set(requests.values()))):
            recent = or_(Backfill.completed_at.is_(None), Backfill.completed_at >= datetime.now(UTC) - keep)
            kept.update(at.scalars(select(Backfill.id).where(Backfill.id.in_(portion), recent)))
        for (home, cell), number in requests.items():
            if number not in kept:
                at.execute(delete(Cell).where(Cell.asset_id == home, Cell.key == cell))
                deleted += 1
        at.commit()
    return deleted


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
