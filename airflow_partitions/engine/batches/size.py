"""How many partitions a batch takes, if its author leaves that to us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.timetables.base import AUTO, MOST_IN_BATCH

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: So long a batch is to take: long beside the start of a task, and short enough for a retry.
SECONDS = 60.0
#: The first batch of a Dag, and how many times larger than the last one the next may be.
FIRST, GROWTH = 16, 4
_RECENT = 5


def size_of(at: Connection, dag_id: str, batch: int | str) -> int:
    """The most partitions of the next batch of a Dag.

    :param batch: what its author says: a number, or ``"auto"`` for as many as take a minute, by its last batches.
    """
    if batch != AUTO:
        return int(batch)
    recent = _recent(at, dag_id)
    if not recent:
        return FIRST
    seconds = sum(took for took, _ in recent) / sum(size for _, size in recent)
    fitting = MOST_IN_BATCH if seconds == 0 else int(SECONDS / seconds)
    return max(1, min(fitting, GROWTH * recent[0][1], MOST_IN_BATCH))


def _recent(at: Connection, dag_id: str) -> list[tuple[float, int]]:
    """The seconds of a Dag's last batches and their sizes, the newest first; of runs that began alone, too."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    members = select(func.count()).where(BatchMember.leader_id == DagRun.id, BatchMember.outcome.is_not(None))
    query = (
        select(DagRun.start_date, DagRun.end_date, members.scalar_subquery())
        .where(
            DagRun.dag_id == dag_id,
            DagRun.state == DagRunState.SUCCESS,
            ~select(BatchMember.run_id).where(BatchMember.run_id == DagRun.id).exists(),
        )
        .order_by(DagRun.end_date.desc())
        .limit(_RECENT)
    )
    return [((end - start).total_seconds(), count + 1) for start, end, count in at.execute(query) if start and end]
