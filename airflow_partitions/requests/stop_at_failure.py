"""Let a request begin no more runs once one has failed, where it says so.

Airflow calls this listener in the transaction that ends the run, in the scheduler and in the API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.listeners import hookimpl
from sqlalchemy import update
from sqlalchemy.orm import object_session

from airflow_partitions.errors import UnknownRequestError
from airflow_partitions.requests.request import home_of, request_of

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Pause the backfill of the request that the run belongs to."""
    from airflow.models.backfill import Backfill

    at, number = object_session(dag_run), dag_run.backfill_id
    if at is None or number is None:
        return
    try:
        request = request_of(at, number, home_of(at, number))
    except UnknownRequestError:  # a backfill that was asked of Airflow itself
        return
    if request.options.stop_at_failure:
        at.execute(update(Backfill).where(Backfill.id == number).values(is_paused=True))
