"""Hold a paused Dag, so that it works for a request and for nothing else, until that has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select, update

from airflow_partitions.errors import NotReadyError, PartitionError, UnknownRequestError
from airflow_partitions.history.database import session
from airflow_partitions.history.holds import homes_of_holds, lock_holds, write_holds
from airflow_partitions.requests.progress import progress_of
from airflow_partitions.requests.request import home_of, request_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.requests.request import Request
    from airflow_partitions.versions import Report

# Otherwise the scheduler makes the run that it has noted, without asking the timetable again.
_NOTHING_DUE = {"next_dagrun": None, "next_dagrun_create_after": None}


def hold(at: Session, home: int, request: Request) -> None:
    """Hold the Dag of a *request* that is to work while it is paused; a Dag that is held works for any request.

    :param home: id of the asset in whose cells the request is.
    :raises NotReadyError: if the Dag is paused, and has runs that would go on with those of the request.
    """
    from airflow.models.dag import DagModel

    # What parses the Dag has its row too: whoever comes later sees the hold, and finds nothing due.
    holds, dag_id = lock_holds(at, home), request.dag_id
    is_paused = at.scalar(select(DagModel.is_paused).where(DagModel.dag_id == dag_id).with_for_update())
    numbers = holds.requests.get(dag_id, ())
    if is_paused and request.options.while_paused:
        _check_runs(at, dag_id, (*numbers, request.id))
        at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(_NOTHING_DUE | {"is_paused": False}))
    elif not numbers:
        return
    write_holds(at, home, holds.with_requests(dag_id, (*numbers, request.id)))


def release_ended(report: Report) -> int:
    """Pause the Dags again whose requests have all ended; returns how many.

    :param report: is told of those for which that fails.
    """
    released = 0
    with session() as at:
        for home in homes_of_holds(at):
            try:
                before = holds = lock_holds(at, home)
                for dag_id, numbers in before.requests.items():
                    at_work = [number for number in numbers if _is_at_work(at, number)]
                    holds = holds.with_requests(dag_id, at_work)
                    if not at_work:
                        _pause(at, dag_id)
                        released += 1
                if holds != before:
                    write_holds(at, home, holds)
                at.commit()
            except PartitionError as error:
                at.rollback()
                report(str(error))
    return released


def _check_runs(at: Session, dag_id: str, numbers: tuple[int, ...]) -> None:
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    others = select(func.count(), func.min(DagRun.run_id)).where(
        DagRun.dag_id == dag_id,
        DagRun.state.in_([DagRunState.QUEUED, DagRunState.RUNNING]),
        or_(DagRun.backfill_id.is_(None), DagRun.backfill_id.not_in(numbers)),
    )
    number, run_id = at.execute(others).one()
    if number:
        raise NotReadyError(
            f"Dag {dag_id} is paused with {number} runs that have not ended, such as {run_id}; they would go on with"
            " those of the request. Delete them or set them to failed, or unpause the Dag"
        )


def _pause(at: Session, dag_id: str) -> None:
    """Pause a Dag, and let its file be parsed soon, so that what is due is there when it is unpaused."""
    from airflow.models.dag import DagModel
    from airflow.models.dagbag import DagPriorityParsingRequest as ParsingRequest

    at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=True))
    query = select(DagModel.bundle_name, DagModel.relative_fileloc).where(DagModel.dag_id == dag_id)
    for bundle, file in at.execute(query):
        same = select(ParsingRequest.id).where(
            ParsingRequest.bundle_name == bundle, ParsingRequest.relative_fileloc == file
        )
        if bundle is not None and file is not None and at.scalar(same) is None:
            at.add(ParsingRequest(bundle, file))


def _is_at_work(at: Session, number: int) -> bool:
    try:
        state = progress_of(at, request_of(at, number, home_of(at, number)))
    except UnknownRequestError:  # deleted with its backfill
        return False
    return not state.has_ended or bool(state.runs.get("queued") or state.runs.get("running"))
