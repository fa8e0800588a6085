"""What Airflow's scheduler does with runs in each of its loops, by its own code, with the package's listeners."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from tests.metadata import Metadata


def begin(metadata: Metadata, loops: int = 1) -> list[str]:
    """Let the queued runs begin that may; the keys of those at work then, in order."""
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.utils.sqlalchemy import prohibit_commit

    runner = SchedulerJobRunner(job=Job())
    for _ in range(loops):
        with Session(metadata.engine) as at, prohibit_commit(at) as guard:
            runner._start_queued_dagruns(at)
            guard.commit()
    return at_work(metadata)


def end(metadata: Metadata, key: str, state: str = "success", dag_id: str | None = None) -> None:
    """Let the run of a key that is at work end."""
    from airflow.models.dagbag import DBDagBag
    from airflow.models.dagrun import DagRun
    from airflow.utils.sqlalchemy import prohibit_commit

    with Session(metadata.engine) as at, prohibit_commit(at) as guard:
        query = select(DagRun).where(DagRun.partition_key == key, DagRun.state == "running")
        run = at.scalars(query if dag_id is None else query.where(DagRun.dag_id == dag_id)).one()
        run.dag = DBDagBag().get_latest_version_of_dag(run.dag_id, session=at)
        run.state = state
        run.notify_dagrun_state_changed("")
        guard.commit()


def at_work(metadata: Metadata) -> list[str]:
    """The keys of the runs at work."""
    return keys_in(metadata, "running")


def keys_in(metadata: Metadata, state: str) -> list[str]:
    """The keys of the runs in a state, in the order in which they were asked for."""
    with metadata.engine.connect() as at:
        query = text("select partition_key from dag_run where state = :state order by id")
        return list(at.scalars(query, {"state": state}))


def put_off(metadata: Metadata) -> list[str]:
    """The keys of the queued runs that the scheduler does not look at."""
    from datetime import UTC, datetime

    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        query = select(DagRun.partition_key).where(DagRun.state == "queued", DagRun.run_after > datetime.now(UTC))
        return list(at.scalars(query.order_by(DagRun.id)))


def run_afters(metadata: Metadata) -> dict[str, Any]:
    """When each run is due, by key."""
    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        return dict(map(tuple, at.execute(select(DagRun.partition_key, DagRun.run_after))))
