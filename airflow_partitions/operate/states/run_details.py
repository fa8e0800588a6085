"""The runs of one partition, with their tries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.runs.run_errors import run_errors
from airflow_partitions.engine.runs.task_rows import is_live

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_MOST = 20


@attrs.frozen
class RunDetails:
    """A run of a partition.

    :ivar state: of the run, as Airflow has it.
    :ivar kind: scheduled, manual, backfill, asset_triggered or asset_materialization.
    :ivar task_id: the task that makes the asset; ``None`` if the run has none of it yet.
    :ivar tries: of this task, as far as it was begun.
    :ivar failed: ids of the tasks that failed.
    :ivar error: what made it fail, in one line; ``None`` if it has not.
    :ivar leader: id of the run in whose batch its partition is made, was made, or has failed; ``None`` if in none.
    :ivar note: what is noted of it; empty if nothing is.
    :ivar conf: what was given with it.
    """

    dag_id: str
    run_id: str
    state: str
    kind: str
    queued: datetime | None
    began: datetime | None
    ended: datetime | None
    task_id: str | None
    tries: int
    failed: tuple[str, ...]
    error: str | None
    leader: str | None
    note: str
    conf: Mapping[str, Any]
    backfill: int | None

    def to_json(self) -> dict[str, Any]:
        """JSON form: times with their UTC offset."""
        times = {name: getattr(self, name) for name in ("queued", "began", "ended")}
        return attrs.asdict(self) | {
            "failed": list(self.failed),
            **{name: None if time is None else time.isoformat() for name, time in times.items()},
        }


def run_details(text: str, tasks: Mapping[str, Collection[str]]) -> list[RunDetails]:
    """The runs of the partition *text*, the newest first, up to twenty.

    :param tasks: those that write the asset, by the id of their Dag.
    """
    from airflow.models.dagrun import DagRun, DagRunNote
    from airflow.models.taskinstance import TaskInstance as Task

    runs = (
        select(DagRun, DagRunNote.content)
        .join(DagRunNote, DagRunNote.dag_run_id == DagRun.id, isouter=True)
        .where(DagRun.dag_id.in_(list(tasks)), DagRun.partition_key == text)
        .order_by(DagRun.id.desc())
        .limit(_MOST)
    )
    details: list[RunDetails] = []
    with open_session() as session:
        rows_of_runs = session.execute(runs).all()
        errors = run_errors(session, [run.id for run, _ in rows_of_runs])
        batches = _batches(session, [run.id for run, _ in rows_of_runs])
        for run, note in rows_of_runs:
            rows = session.execute(
                select(Task.task_id, Task.state, Task.try_number).where(
                    Task.dag_id == run.dag_id, Task.run_id == run.run_id, is_live(Task)
                )
            ).all()
            own = [(number, task) for task, _, number in rows if task in tasks[run.dag_id]]
            tries, task_id = max(own, default=(0, None))
            details.append(
                RunDetails(
                    run.dag_id,
                    run.run_id,
                    str(run.state),
                    str(run.run_type),
                    run.queued_at,
                    run.start_date,
                    run.end_date,
                    task_id,
                    tries,
                    tuple(sorted({task for task, state, _ in rows if state == "failed"})),
                    errors[run.id].text if run.id in errors else batches[run.id].error if run.id in batches else None,
                    batches[run.id].leader if run.id in batches else None,
                    note or "",
                    run.conf or {},
                    run.backfill_id,
                )
            )
    return details


@attrs.frozen
class _Batch:
    """The batch that a run's partition is made in.

    :ivar error: what made it fail there, in one line; ``None`` if it has not.
    """

    leader: str
    error: str | None


def _batches(session: Session, run_ids: Collection[int]) -> dict[int, _Batch]:
    """The batches of those of some runs that are members of one, by their numbers."""
    from airflow.models.dagrun import DagRun

    query = (
        select(BatchMember.run_id, DagRun.run_id, BatchMember.error)
        .join(DagRun, DagRun.id == BatchMember.leader_id)
        .where(BatchMember.run_id.in_(run_ids))
    )
    return {number: _Batch(leader, error) for number, leader, error in session.execute(query)}
