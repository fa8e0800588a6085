"""Answers to what tasks ask for."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import attrs
from airflow.models.asset import AssetModel
from airflow.models.asset_state_store import AssetStateStoreModel as Cell
from sqlalchemy import delete, or_, select, update
from sqlalchemy.exc import OperationalError

from airflow_partitions.core.errors import NotMigratedError, OverlapError, PartitionError, UnknownVersionError
from airflow_partitions.core.versions import Report, read_form
from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.database.models import TaskRequest as Row
from airflow_partitions.engine.graph.partitioned_assets import asset_dags, partitioned_asset
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.state_store import form_of, write_cells
from airflow_partitions.engine.runs.task_request import ANSWER, TASK_REQUEST, TaskAnswer, TaskRequest
from airflow_partitions.operate.requests.materialize import materialize
from airflow_partitions.operate.requests.progress import progress
from airflow_partitions.operate.requests.request_rows import request_by

T = TypeVar("T")

log = logging.getLogger(__name__)

#: So long an answer is shown again where Airflow has thrown it away.
_SHOWN = timedelta(days=1)
_KEEP = timedelta(days=7)
#: So long the file of a Dag may be away before nobody makes what is asked for.
_AWAY = timedelta(hours=1)


def answer_all(report: Report = log.warning) -> None:
    """Answer what tasks ask for.

    A request is made once, whoever is killed in between: it is known by who made it.

    :param report: is told of what can't be read, and of what was refused.
    """
    _take_over(report)
    now = datetime.now(UTC)
    looked_at = or_(Row.ended.is_(None), Row.ended > now - _SHOWN, Row.ended < now - _KEEP)
    with open_session() as session:
        rows = session.scalars(select(Row).where(looked_at).order_by(Row.at)).all()
    old = [row.id for row in rows if row.ended is not None and row.ended < now - _KEEP]
    recent = [row for row in rows if row.id not in old]
    _delete(old)
    for row in recent:
        if row.ended is None:
            try:
                _go_on(row, report)
            except (OperationalError, NotMigratedError):  # nothing else would work either
                raise
            except Exception as error:
                log.exception("Task request %s could not be answered", row.id)
                report(f"asset {row.asset!r}: task request {row.id}: {type(error).__name__}: {error}")
    _show(recent)


def _take_over(report: Report) -> None:
    """Take what tasks have left in the state store into our table, once."""
    cells = (
        select(AssetModel.name, Cell.asset_id, Cell.key, Cell.value)
        .join(AssetModel, AssetModel.id == Cell.asset_id)
        .where(Cell.key.startswith(TASK_REQUEST, autoescape=True))
    )
    with open_session() as session:
        for asset, asset_id, cell, text in session.execute(cells).all():
            form = form_of(text)
            task_request = _read(form, TaskRequest.from_json, f"asset {asset!r}: the cell {cell}", report)
            if task_request is None:
                continue
            if session.get(Row, task_request.id) is None:
                session.add(Row(id=task_request.id, asset=task_request.asset, form=form, at=task_request.at))
                session.flush()
            session.execute(delete(Cell).where(Cell.asset_id == asset_id, Cell.key == cell))
        session.commit()


def _delete(old: Sequence[str]) -> None:
    """Delete what ended long ago."""
    if not old:
        return
    with open_session() as session:
        for portion in portions(old):
            session.execute(delete(Row).where(Row.id.in_(portion)))
            session.execute(delete(Cell).where(Cell.key.in_([ANSWER + each for each in portion])))
        session.commit()


def _go_on(row: Row, report: Report) -> None:
    """Find out what has become of a task's request, and keep that in its *row*."""
    name = f"asset {row.asset!r}: task request {row.id}"
    task_request = _read(row.form, TaskRequest.from_json, name, report)
    before = _read(row.answer, TaskAnswer.from_json, f"{name}: the answer", report)
    if task_request is None:
        return
    now = _answer(task_request, before)
    if now.state == "refused":
        report(f"asset {task_request.asset!r}: what {task_request.by} asks for is refused: {now.words}")
    if now != before:
        row.answer, row.ended = now.to_json(), datetime.now(UTC) if now.has_ended else None
        with open_session() as session:
            session.execute(update(Row).where(Row.id == row.id).values(answer=row.answer, ended=row.ended))
            session.commit()


def _answer(task_request: TaskRequest, answer: TaskAnswer | None) -> TaskAnswer:
    try:
        number = None if answer is None else answer.request
        if number is None:  # unless upkeep was killed before it could say so
            number = request_by(task_request.requester)
        if number is None:
            if _is_away(task_request):
                return TaskAnswer("waiting", words=f"no Dag makes {task_request.asset} just now")
            asset = partitioned_asset(task_request.asset)
            selection = task_request.selection
            if selection.definition == asset.definition.declared:  # the task's Dag file knows of no combinations
                selection = attrs.evolve(selection, definition=asset.definition)
            number = materialize(asset, selection, task_request.options, by=task_request.requester).id
        state = progress(number)
        return TaskAnswer(state.state, number, runs=state.runs)
    except OverlapError as error:
        return TaskAnswer("waiting", words=str(error))
    except PartitionError as error:
        return TaskAnswer("refused", words=str(error))


def _is_away(task_request: TaskRequest) -> bool:
    """Whether the file of the Dag may be away for a moment."""
    dags = asset_dags(task_request.asset).get(task_request.asset)
    return (dags is None or dags.is_absent) and datetime.now(UTC) - task_request.at < _AWAY


def _show(rows: Iterable[Row]) -> None:
    """Leave the answers where the tasks see them, also again if Airflow has thrown them away."""
    answers = defaultdict[str, dict[str, str]](dict)
    for row in rows:
        if isinstance(row.answer, Mapping):  # what can't be read was told of
            answers[row.asset][ANSWER + row.id] = json.dumps(row.answer)
    if not answers:
        return
    with open_session() as session:
        for asset, cells in answers.items():
            if (asset_id := asset_id_of(session, asset)) is not None:
                write_cells(session, asset_id, cells)
        session.commit()


def _read(form: Any, read: Callable[[Any], T], name: str, report: Report) -> T | None:
    """What *read* makes of a *form*; what another release wrote is reported, and keeps no other from being answered."""
    try:
        return read_form(form, read, name, report)
    except UnknownVersionError as error:
        report(f"{name}: {error}")
        return None
