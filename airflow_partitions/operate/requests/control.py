"""Pause, go on with, cancel, retry and delete a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import delete as delete_rows
from sqlalchemy import or_, select, update

from airflow_partitions.core.errors import NotReadyError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.operate.requests.hold import hold, release
from airflow_partitions.operate.requests.materialize import check_overlap, create_runs
from airflow_partitions.operate.requests.progress import Progress, progress, progress_of
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.request_rows import (
    Row,
    dag_id_of,
    lock_dag,
    lock_request,
    read_request,
    requests_being_made,
    write_request,
)
from airflow_partitions.operate.requests.runs import clear_runs

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

#: Runs cleared in one transaction: Airflow asks the database several times for each of their tasks.
_PORTION = 50
#: Takes work that may be done after the answer, and says whether it does it.
Later = Callable[[Callable[[], object]], bool]


def _now(_: Callable[[], object]) -> bool:
    """Nothing is done later."""
    return False


def pause(number: int, *, dry_run: bool = False) -> Progress:
    """Begin no more runs of a request; those that run go on.

    :raises UnknownRequestError: if there is none of that *number*.
    :raises NotReadyError: if it has ended.
    """
    with _locked(number, dry_run=dry_run) as (session, request):
        before = _check_not_ended(session, request, "paused")
        if dry_run:
            return before
        _set_backfill(session, request, is_paused=True)
    return progress(number)


def resume(number: int, *, later: Later = _now, dry_run: bool = False) -> Progress:
    """Go on with a request: begin runs again, and create those that are missing because somebody was killed.

    :param later: takes what may be done after the answer, and says whether it does it.
    :raises UnknownRequestError: if there is none of that *number*.
    :raises NotReadyError: if it has ended.
    """
    with _locked(number, dry_run=dry_run) as (session, request):
        before = _check_not_ended(session, request, "gone on with")
        hold(session, request, goes_on=True)
        if dry_run:
            return before
        _set_backfill(session, request, is_paused=False, completed_at=None)
    if request.is_unfinished and not later(partial(finish, number)):
        finish(number)
    return progress(number)


def cancel(number: int, *, dry_run: bool = False) -> Progress:
    """Begin no more runs of a request, for good: as Airflow does it, those that have not begun fail. Others go on.

    One that can't be read is told of without its partitions.

    :raises UnknownRequestError: if there is none of that *number*.
    :raises NotReadyError: if it has ended.
    """
    from airflow.models.backfill import BackfillDagRun
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    with _locked(number, damaged=True, dry_run=dry_run) as (session, request):
        before = _check_not_ended(session, request, "cancelled")
        if dry_run:
            return before
        now = datetime.now(UTC)
        cancelled = attrs.evolve(request, cancelled=now, retried=None)
        write_request(session, cancelled)
        _set_backfill(session, request, is_paused=True)
        session.commit()  # from now on the scheduler begins none
        own = select(BackfillDagRun.dag_run_id).where(BackfillDagRun.backfill_id == number)
        queued = update(DagRun).where(DagRun.id.in_(own), DagRun.state == DagRunState.QUEUED)
        session.execute(
            queued.values(state=DagRunState.FAILED, end_date=now).execution_options(synchronize_session=False)
        )
        _set_backfill(session, request, completed_at=now)
        return progress_of(session, cancelled)


def delete(number: int, *, dry_run: bool = False) -> Progress:
    """Delete a request that is not at work, and its backfill; its runs stay. Returns what it was.

    One that can't be read is told of without its partitions.

    :raises UnknownRequestError: if there is none of that *number*.
    :raises NotReadyError: if it has not ended, or runs of it are at work.
    """
    from airflow.models.backfill import Backfill, BackfillDagRun
    from airflow.models.dagrun import DagRun

    with _locked(number, damaged=True, dry_run=dry_run) as (session, request):
        before = progress_of(session, request)
        if not before.has_ended:
            raise NotReadyError(
                f"request {number} is {before.state}, so it can't be deleted; cancel it first:"
                f" airflow asset-partitions cancel {number}"
            )
        if at_work := before.runs.get("running", 0) + before.runs.get("queued", 0):
            raise NotReadyError(
                f"request {number} is {before.state}, but {at_work:,} of its runs are at work, so it can't be deleted;"
                " wait for them, or set them to failed"
            )
        if not dry_run:
            own = update(DagRun).where(DagRun.backfill_id == number).values(backfill_id=None)
            session.execute(own.execution_options(synchronize_session=False))
            session.execute(delete_rows(BackfillDagRun).where(BackfillDagRun.backfill_id == number))
            release(session, request.dag_id, [number])
            session.execute(delete_rows(Row).where(Row.id == number))
            session.execute(delete_rows(Backfill).where(Backfill.id == number))
    return before


def retry(number: int, *, later: Later = _now, dry_run: bool = False) -> Progress:
    """Let the runs of a request that failed, or were cancelled, work again, and create those that are missing.

    Some do so at once. If who does it is killed before all do, upkeep goes on.

    :param later: takes what may be done after the answer, and says whether it does it.
    :raises UnknownRequestError: if there is none of that *number*.
    :raises OverlapError: if another request asks for its partitions by now.
    :raises NotReadyError: if none of them failed.
    """
    with _locked(number, dry_run=dry_run) as (session, request):
        before = progress_of(session, request)
        if not before.runs.get("failed") and not (request.cancelled and request.created < request.partitions):
            raise NotReadyError(f"no run of request {number} has failed; it is {before.state}")
        for other in requests_being_made(session, request.dag_id):
            if other.id != number:
                check_overlap(request.selection, other)
        hold(session, request, goes_on=True)
        if dry_run:
            return before
        again = attrs.evolve(request, cancelled=None, retried=datetime.now(UTC))
        write_request(session, again)
        _set_backfill(session, request, is_paused=False, completed_at=None)
    rest = _clear_failed(number)
    if (rest or again.is_making) and not later(partial(finish, number)):
        finish(number)
    return progress(number)


def finish(number: int) -> Request:
    """Clear the other runs of a request that had failed when it was retried, and create those it lacks.

    :raises UnknownRequestError: if there is none of that *number*.
    """
    # Who looks at one writes to it, and then nobody is to go on with it for a while.
    while read_request(number).retried is not None and _clear_failed(number):
        pass
    request = read_request(number)
    return create_runs(request) if request.is_making else request


def _clear_failed(number: int) -> bool:
    """Clear some of a request's runs that had failed when it was retried; whether there may be more."""
    from airflow.models.backfill import BackfillDagRun
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    with _locked(number) as (session, request):
        if request.retried is None:
            return False
        query = (
            select(DagRun)
            .join(BackfillDagRun, BackfillDagRun.dag_run_id == DagRun.id)
            .where(
                BackfillDagRun.backfill_id == number,
                DagRun.state == DagRunState.FAILED,
                or_(DagRun.end_date.is_(None), DagRun.end_date <= request.retried),
            )
            .order_by(BackfillDagRun.sort_ordinal)
            .limit(_PORTION)
        )
        runs = list(session.scalars(query))
        clear_runs(session, request, runs)
        has_more = len(runs) == _PORTION
        if not has_more:
            write_request(session, attrs.evolve(request, retried=None))
        return has_more


@contextmanager
def _locked(number: int, *, damaged: bool = False, dry_run: bool = False) -> Iterator[tuple[Session, Request]]:
    """A request that nobody else changes until the end, nor begins one of its Dag; then all is committed.

    :param damaged: as for :func:`.request_of`.
    :param dry_run: take back what was written.
    """
    with open_session() as session:
        lock_dag(session, dag_id_of(session, number))
        yield session, lock_request(session, number, damaged=damaged)
        if dry_run:
            session.rollback()
        else:
            session.commit()


def _check_not_ended(session: Session, request: Request, verb: str) -> Progress:
    if (before := progress_of(session, request)).has_ended:
        raise NotReadyError(
            f"request {request.id} is {before.state}, so it can't be {verb}; retry what failed, or ask again"
        )
    return before


def _set_backfill(session: Session, request: Request, **values: Any) -> None:
    from airflow.models.backfill import Backfill

    session.execute(update(Backfill).where(Backfill.id == request.id).values(values))
