"""The last scheduled run of a partitioned Dag."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, literal, select, type_coerce
from sqlalchemy.orm import object_session

from airflow_partitions.engine.database.models import LimitedRun

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun


class LastScheduled(NamedTuple):
    """The newest scheduled run, and the key that the next one follows.

    :ivar run_after: of the newest scheduled run.
    :ivar key: of that run; if the definition no longer has it, of the newest run of the same tick it does have.
    :ivar date: partition date that goes with the key.
    """

    run_after: datetime
    key: str | None
    date: datetime | None


def last_scheduled(
    run: DagRun, tick: Callable[[datetime], datetime | None], is_key: Callable[[str], bool], *, is_limited: bool = False
) -> LastScheduled | None:
    """The last scheduled run of *run*'s Dag, read in the session *run* belongs to; ``None`` before its first one.

    Airflow hands over the run with the greatest partition date, which may belong to a backfill or a refresh; the place
    in the schedule is that of the newest scheduled run by ``run_after``.

    :param tick: the tick a ``run_after`` belongs to.
    :param is_key: whether the definition has a key.
    :param is_limited: whether runs may wait for others of the same value, with a ``run_after`` put off.
    """
    newest = next(_scheduled(run, limit=1, is_limited=is_limited), None)
    if newest is None or newest.key is None or is_key(newest.key):
        return newest
    since = tick(newest.run_after)
    for other in _scheduled(run, since=since, is_limited=is_limited):
        if other.key is not None and is_key(other.key):
            return other._replace(run_after=newest.run_after)
    return newest


def _scheduled(
    run: DagRun, *, since: datetime | None = None, limit: int | None = None, is_limited: bool
) -> Iterator[LastScheduled]:
    """Scheduled runs of the Dag, newest first."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.types import DagRunType

    session = object_session(run)
    if session is None:  # a run that is in no database speaks for itself
        if run.run_type == DagRunType.SCHEDULED:
            yield LastScheduled(run.run_after, run.partition_key, run.partition_date)
        return
    own = func.coalesce(LimitedRun.run_after, DagRun.run_after) if is_limited else DagRun.run_after
    query = (
        select(type_coerce(own, DagRun.run_after.type), DagRun.partition_key, DagRun.partition_date)
        .where(DagRun.dag_id == run.dag_id, DagRun.run_type == DagRunType.SCHEDULED)
        .order_by(own.desc())
        .limit(limit)
    )
    if is_limited:
        query = query.join(
            LimitedRun, and_(LimitedRun.run_id == DagRun.id, LimitedRun.run_after.is_not(None)), isouter=True
        )
    if since is not None:
        query = query.where(own >= type_coerce(literal(since), DagRun.run_after.type))
    for row in session.execute(query):
        yield LastScheduled(*row)
