"""Progress of a request: how many of its runs have come how far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import and_, case, func, select

from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.runs.request_state import ENDED
from airflow_partitions.engine.runs.run_errors import run_errors
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.request_rows import Row, request_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


@attrs.frozen
class Progress:
    """Progress of a *request*.

    :ivar state: ``creating`` runs, ``running``, ``paused``, ``stopped`` at a failure, ``cancelled``, or ended as
        ``done`` or ``failed``.
    :ivar runs: number of runs by Airflow's state of them; ``skipped`` are those that succeeded while the task that
        makes the asset skipped itself, ``again`` are those that a later request has taken over,
        ``elsewhere`` partitions that another run was making.
    :ivar error: what made the newest of the failed ones fail, in one line; ``None`` if none has.
    """

    request: Request
    state: str
    runs: Mapping[str, int]
    dag_is_paused: bool = False
    error: str | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing happens any more, unless somebody asks for it."""
        return self.state in ENDED

    @property
    def finished(self) -> int:
        """Number of runs that have ended."""
        return sum(self.runs.get(name, 0) for name in ("success", "skipped", "failed"))

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return self.request.to_json() | {
            "state": self.state,
            "runs": dict(self.runs),
            "dag_is_paused": self.dag_is_paused,
            "error": self.error,
        }


def progress(number: int, *, damaged: bool = False) -> Progress:
    """How far the request of that *number* has come; two questions to the database, however many runs there are.

    :param damaged: as for :func:`.request_of`.
    :raises UnknownRequestError: if there is none, or it can't be read.
    """
    with open_session() as session:
        return progress_of(session, request_of(session, number, damaged=damaged))


def progress_of(session: Session, request: Request) -> Progress:
    """How far a *request* has come."""
    (one,) = progress_of_all(session, [request])
    return one


def progress_of_all(session: Session, requests: Sequence[Request]) -> list[Progress]:
    """How far each of these *requests* has come; a few questions to the database, however many they are."""
    from airflow.models.backfill import Backfill, BackfillDagRun
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun

    # A later request for the same partitions clears their runs, and takes them over.
    outcome = case(
        (DagRun.backfill_id != BackfillDagRun.backfill_id, "again"),
        else_=func.coalesce(DagRun.state, BackfillDagRun.exception_reason, "deleted"),
    ).label("outcome")
    numbers = [request.id for request in requests]
    counted = (
        select(BackfillDagRun.backfill_id, outcome, func.count())
        .select_from(BackfillDagRun)
        .join(DagRun, DagRun.id == BackfillDagRun.dag_run_id, isouter=True)
        .where(BackfillDagRun.backfill_id.in_(numbers))
        .group_by(BackfillDagRun.backfill_id, "outcome")
    )
    runs: dict[int, dict[str, int]] = {number: {} for number in numbers}
    for number, state, count in session.execute(counted):
        runs[number]["elsewhere" if state == "in flight" else str(state)] = count
    succeeded = [number for number, counts in runs.items() if counts.get("success")]
    for number, count in _skipped(session, succeeded).items():
        made = runs[number].pop("success") - count
        runs[number] |= {"skipped": count} | ({"success": made} if made else {})
    query = (
        select(Backfill.id, Backfill.is_paused, DagModel.is_paused)
        .join(DagModel, DagModel.dag_id == Backfill.dag_id, isouter=True)
        .where(Backfill.id.in_(numbers))
    )
    paused = {
        number: (bool(is_paused), bool(dag_is_paused)) for number, is_paused, dag_is_paused in session.execute(query)
    }
    errors = _errors(session, [number for number, counts in runs.items() if counts.get("failed")])
    return [
        Progress(
            request,
            _state(request, runs[request.id], is_paused=is_paused),
            runs[request.id],
            dag_is_paused,
            errors.get(request.id),
        )
        for request in requests
        for is_paused, dag_is_paused in [paused.get(request.id, (False, False))]
    ]


def _skipped(session: Session, numbers: Collection[int]) -> dict[int, int]:
    """Of each of these requests with such runs: in how many the task that makes the asset skipped itself."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import DagRunState, TaskInstanceState

    if not numbers:
        return {}
    outlet = (
        select(TaskOutletAssetReference.task_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .where(
            TaskOutletAssetReference.dag_id == TaskInstance.dag_id,
            TaskOutletAssetReference.task_id == TaskInstance.task_id,
            AssetModel.name == Row.asset,
        )
    )
    query = (
        select(DagRun.backfill_id, func.count(DagRun.id.distinct()))
        .join(TaskInstance, and_(TaskInstance.dag_id == DagRun.dag_id, TaskInstance.run_id == DagRun.run_id))
        .join(Row, Row.id == DagRun.backfill_id)
        .where(
            DagRun.backfill_id.in_(numbers),
            DagRun.state == DagRunState.SUCCESS,
            TaskInstance.state == TaskInstanceState.SKIPPED,
            is_live(TaskInstance),
            outlet.exists(),
        )
        .group_by(DagRun.backfill_id)
    )
    return {number: count for number, count in session.execute(query) if number is not None}


def _errors(session: Session, numbers: Collection[int]) -> dict[int, str]:
    """What made the newest failed run of each of these requests fail."""
    from airflow.models.backfill import BackfillDagRun
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    if not numbers:
        return {}
    newest = (
        select(BackfillDagRun.backfill_id, func.max(DagRun.id))
        .join(DagRun, DagRun.id == BackfillDagRun.dag_run_id)
        .where(
            BackfillDagRun.backfill_id.in_(numbers),
            DagRun.backfill_id == BackfillDagRun.backfill_id,
            DagRun.state == DagRunState.FAILED,
            DagRun.start_date.is_not(None),  # else it was cancelled before it began
        )
        .group_by(BackfillDagRun.backfill_id)
    )
    failed = dict(session.execute(newest).all())
    errors = run_errors(session, failed.values())
    return {number: errors[run].text for number, run in failed.items() if run in errors}


def _state(request: Request, runs: Mapping[str, int], *, is_paused: bool) -> str:
    at_work = runs.get("queued", 0) + runs.get("running", 0)
    if request.cancelled is not None:
        return "cancelled"
    if is_paused and (request.is_unfinished or runs.get("queued")):
        return "stopped" if request.options.stop_at_failure and runs.get("failed") else "paused"
    if request.is_unfinished:
        return "creating"
    if at_work:
        return "running"
    return "failed" if runs.get("failed") else "done"
