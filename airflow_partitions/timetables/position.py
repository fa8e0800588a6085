"""Where a partitioned Dag stands in its schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import object_session

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun


def last_scheduled(run: DagRun) -> DagRun | None:
    """The newest scheduled run of *run*'s Dag by ``run_after``, read in the session *run* belongs to.

    A run outside any session speaks for itself.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.types import DagRunType

    session = object_session(run)
    if session is None:
        return run if run.run_type == DagRunType.SCHEDULED else None
    return session.scalar(
        select(DagRun)
        .where(DagRun.dag_id == run.dag_id, DagRun.run_type == DagRunType.SCHEDULED)
        .order_by(DagRun.run_after.desc())
        .limit(1)
    )
