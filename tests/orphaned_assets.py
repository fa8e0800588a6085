"""What Airflow does while no Dag names an asset, because the Dag's file is away for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from tests.metadata import Metadata


@contextmanager
def orphaned_assets(metadata: Metadata) -> Iterator[None]:
    """All assets are in no Dag for this time; Airflow's own clean-up throws their cells away as it begins."""
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models.asset import AssetActive
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    with Session(metadata.engine) as at:
        active = [row._asdict() for row in at.execute(select(AssetActive.name, AssetActive.uri))]
        at.execute(delete(AssetActive))
        SchedulerJobRunner._cleanup_orphaned_asset_state_store(session=at)
        at.commit()
        assert at.scalar(select(func.count()).select_from(Cell)) == 0
    yield
    with metadata.engine.begin() as connection:
        connection.execute(insert(AssetActive), active)


def throw_cells_away(metadata: Metadata) -> None:
    """Let all assets be in no Dag, and be back at once."""
    with orphaned_assets(metadata):
        pass
