"""Dag files that are away for a while: what Airflow does then."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.metadata import Metadata


def take_away(metadata: Metadata) -> None:
    """All Dag files are gone: the Dag processor has seen it, and the scheduler has cleaned up."""
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models.asset import remove_references_to_deleted_dags
    from airflow.models.dag import DagModel

    with Session(metadata.engine) as at:
        assert DagModel.deactivate_deleted_dags("dags", [], session=at)
        remove_references_to_deleted_dags(session=at)
        at.flush()
        SchedulerJobRunner(Job())._update_asset_orphanage(session=at)
        at.commit()
    with metadata.engine.connect() as connection:
        from airflow.models.asset import AssetActive
        from airflow.models.asset_state_store import AssetStateStoreModel as Cell
        from sqlalchemy import func, select

        for table in (AssetActive, Cell):
            assert connection.scalar(select(func.count()).select_from(table.__table__)) == 0
