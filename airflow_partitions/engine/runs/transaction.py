"""The transaction of Airflow's own in which its listeners are called."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.orm import object_session

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.database.connection import check_tables

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection

log = logging.getLogger(__name__)


@contextmanager
def within(dag_run: DagRun, failure: str) -> Iterator[Connection]:
    """The transaction that changes the state of a run; what fails here is undone and logged, and nothing besides.

    :param failure: what was not done then, in words.
    """
    session = object_session(dag_run)
    if session is None:
        raise RuntimeError(f"run {dag_run.run_id} of {dag_run.dag_id} is in no session")
    session.flush()  # what it has changed is not part of what may be undone
    at = session.connection()
    try:
        check_tables()
        # Not a savepoint of the session: the scheduler takes its end for a commit, which it refuses.
        with at.begin_nested():
            yield at
    except NotMigratedError as error:
        log.warning("Run %s of %s: %s: %s", dag_run.run_id, dag_run.dag_id, failure, error)
    except Exception:
        log.exception("Run %s of %s: %s", dag_run.run_id, dag_run.dag_id, failure)
