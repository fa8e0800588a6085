"""Hold a paused Dag, so that it works for a request and for nothing else, until that has ended."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from airflow.models.backfill import Backfill
from airflow.models.dag import DagModel
from airflow.models.dagbag import DagPriorityParsingRequest as ParsingRequest
from airflow.models.dagrun import DagRun
from airflow.utils.state import DagRunState
from sqlalchemy import delete, func, insert, or_, select, update

from airflow_partitions.core.errors import NotReadyError, PartitionError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Hold
from airflow_partitions.engine.ledger.scheduling_state import paused_values
from airflow_partitions.operate.requests.request_rows import IS_UNFINISHED, OWN_BACKFILL, Row, lock_dag

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.core.versions import Report
    from airflow_partitions.operate.requests.request import Request

# Otherwise the scheduler makes the run that it has noted, without asking the timetable again.
_NOTHING_DUE = {"next_dagrun": None, "next_dagrun_create_after": None}
_AT_WORK = DagRun.state.in_([DagRunState.QUEUED, DagRunState.RUNNING])


def hold(session: Session, request: Request, *, goes_on: bool = False, dry_run: bool = False) -> None:
    """Hold the Dag of a *request* that is to work while it is paused; a Dag that is held works for any request.

    Whoever calls it has locked the Dag, unless in a dry run.

    :param goes_on: whether it was begun before: all requests with runs that have not ended go on with it then.
    :param dry_run: only refuse what is refused: a request that is not kept can hold nothing.
    :raises NotReadyError: if the Dag is paused, and has other runs that would go on, too.
    """
    # What parses the Dag has its row too: whoever comes later sees the hold, and finds nothing due.
    dag_id, while_paused = request.dag_id, request.options.while_paused
    own_row = select(DagModel.is_paused).where(DagModel.dag_id == dag_id).with_for_update()
    is_paused = while_paused and session.scalar(own_row)
    held_for = set(session.scalars(select(Hold.request_id).where(Hold.dag_id == dag_id)))
    numbers = held_for | {request.id}
    if is_paused:
        if goes_on:
            numbers |= _at_work(session, dag_id)
        _check_runs(session, dag_id, numbers)
    if dry_run:
        return
    if is_paused:
        session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(_NOTHING_DUE | {"is_paused": False}))
    elif not held_for:
        return
    if new := sorted(numbers - held_for):
        session.execute(insert(Hold), [{"dag_id": dag_id, "request_id": number} for number in new])


def release_ended(report: Report) -> int:
    """Pause the Dags again whose requests have all ended; returns how many.

    :param report: is told of those for which that fails.
    """
    released = 0
    with open_session() as session:
        for dag_id in session.scalars(select(Hold.dag_id).distinct().order_by(Hold.dag_id)).all():
            try:
                lock_dag(session, dag_id)
                own = Hold.dag_id == dag_id
                at_work = _at_work(session, dag_id)
                ended = set(session.scalars(select(Hold.request_id).where(own))) - at_work
                released += release(session, dag_id, ended)
                session.commit()
            except PartitionError as error:
                session.rollback()
                report(f"Dag {dag_id}: {error}")
    return released


def release(session: Session, dag_id: str, numbers: Collection[int]) -> bool:
    """Let requests of those *numbers* hold a Dag no more; whether it was held, and nothing else holds it.

    Whoever calls it has locked the Dag, which is paused again then.
    """
    own = Hold.dag_id == dag_id
    released = session.connection().execute(delete(Hold).where(own, Hold.request_id.in_(numbers))).rowcount
    if not released or session.scalar(select(func.count()).select_from(Hold).where(own)):
        return False
    _pause(session, dag_id)
    return True


def _at_work(session: Session, dag_id: str) -> set[int]:
    """The numbers of a Dag's requests that have not ended, or still have a run that has not; none needs to be read."""
    with_runs = select(DagRun.backfill_id).where(DagRun.dag_id == dag_id, _AT_WORK)
    query = (
        select(Row.id)
        .join(Backfill, OWN_BACKFILL)
        .where(Row.dag_id == dag_id, or_(IS_UNFINISHED, Row.id.in_(with_runs)))
    )
    return set(session.scalars(query))


def _check_runs(session: Session, dag_id: str, numbers: Collection[int]) -> None:
    others = select(func.count(), func.min(DagRun.run_id)).where(
        DagRun.dag_id == dag_id, _AT_WORK, or_(DagRun.backfill_id.is_(None), DagRun.backfill_id.not_in(numbers))
    )
    number, run_id = session.execute(others).one()
    if number:
        raise NotReadyError(
            f"Dag {dag_id} is paused with {number} runs that have not ended, such as {run_id}; they would go on with"
            " those of the request. Delete them or set them to failed, or unpause the Dag"
        )


def _pause(session: Session, dag_id: str) -> None:
    """Pause a Dag, and let its file be parsed soon, so that what is due is there when it is unpaused."""
    session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(paused_values()))
    query = select(DagModel.bundle_name, DagModel.relative_fileloc).where(DagModel.dag_id == dag_id)
    for bundle, file in session.execute(query):
        same = select(ParsingRequest.id).where(
            ParsingRequest.bundle_name == bundle, ParsingRequest.relative_fileloc == file
        )
        if bundle is not None and file is not None and session.scalar(same) is None:
            session.add(ParsingRequest(bundle, file))
