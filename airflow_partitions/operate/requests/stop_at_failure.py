"""Let a request begin no more runs once one has failed, where it says so.

Airflow calls this listener in the transaction that ends the run, in the scheduler and in the API server.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from airflow.listeners import hookimpl
from sqlalchemy import select, update
from sqlalchemy.orm import object_session

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.database.connection import open_connection

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

log = logging.getLogger(__name__)


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Pause the backfill of the request that the run belongs to."""
    from airflow.models.backfill import Backfill

    from airflow_partitions.engine.database.models import Request

    at, number = object_session(dag_run), dag_run.backfill_id
    if at is None or number is None:
        return
    stops = select(Request.stop_at_failure).where(Request.id == number, Request.dag_id == dag_run.dag_id)
    try:
        with open_connection() as own:  # a question that fails would take Airflow's transaction with it
            if not own.scalar(stops):  # also for a backfill that was asked of Airflow itself
                return
    except NotMigratedError as error:
        log.warning("Whether a request stops at this failure is not looked at: %s", error)
        return
    at.execute(update(Backfill).where(Backfill.id == number).values(is_paused=True))
