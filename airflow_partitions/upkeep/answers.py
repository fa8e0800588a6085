"""Answers to what tasks ask for."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, select

from airflow_partitions.errors import OverlapError, PartitionError
from airflow_partitions.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.history.database import portions, session
from airflow_partitions.history.state_store import asset_id_of, form_of, read_cells, write_cells
from airflow_partitions.requests.materialise import materialise
from airflow_partitions.requests.progress import progress
from airflow_partitions.requests.request import Request, requests_of
from airflow_partitions.requests.task_request import ANSWER, TASK_REQUEST, Answer, TaskRequest
from airflow_partitions.versions import Report, read_form

log = logging.getLogger(__name__)

_KEEP = timedelta(days=7)


def answer_all(assets: Collection[str], report: Report = log.warning) -> None:
    """Answer what tasks ask of the *assets*.

    A request is made once, whoever is killed in between: it is known by who made it.

    :param report: is told of cells that can't be read, and of what was refused.
    """
    for task_request, answer in _open_task_requests(assets, report):
        now = _answer(task_request, answer)
        if now.state == "refused":
            report(f"asset {task_request.asset!r}: what {task_request.by} asks for is refused: {now.words}")
        with session() as at:
            if now != answer and (asset_id := asset_id_of(at, task_request.asset)) is not None:
                write_cells(at, asset_id, {ANSWER + task_request.id: json.dumps(now.to_json())})
                at.commit()


def _answer(task_request: TaskRequest, answer: Answer | None) -> Answer:
    try:
        number = None if answer is None else answer.request
        if number is None:
            asset = partitioned_asset(task_request.asset)
            request = _request_of(task_request, asset)
            if request is None:
                request = materialise(asset, task_request.selection, task_request.options, by=task_request.requester)
            number = request.id
        state = progress(number)
        return Answer(state.state, number, runs=state.runs)
    except OverlapError as error:
        return Answer("waiting", words=str(error))
    except PartitionError as error:
        return Answer("refused", words=str(error))


def _request_of(task_request: TaskRequest, asset: PartitionedAsset) -> Request | None:
    """The request that was made already, by an upkeep process that could not say so any more."""
    requests = requests_of(asset.dags.producers)
    return next((request for request in requests if request.by == task_request.requester), None)


def _open_task_requests(assets: Collection[str], report: Report) -> list[tuple[TaskRequest, Answer | None]]:
    """What is asked of the *assets* and has not ended, each with its answer so far; those of long ago are deleted."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    task_requests: list[tuple[TaskRequest, Answer | None]] = []
    with session() as at:
        rows: list[Any] = []
        for portion in portions(sorted(assets)):
            query = (
                select(Cell.asset_id, Cell.key, Cell.value)
                .join(AssetModel, AssetModel.id == Cell.asset_id)
                .where(AssetModel.name.in_(portion), AssetModel.active.has(), Cell.key.startswith(TASK_REQUEST))
            )
            rows += at.execute(query).all()
        for asset_id, cell, text in rows:
            task_request = read_form(form_of(text), TaskRequest.from_json, f"the cell {cell}", report)
            if task_request is None:
                continue
            form = read_cells(at, asset_id, [ANSWER + task_request.id]).get(ANSWER + task_request.id)
            answer = read_form(form, Answer.from_json, f"the cell {ANSWER}{task_request.id}", report)
            if answer is None or not answer.has_ended:
                task_requests.append((task_request, answer))
            elif datetime.now(UTC) - task_request.at > _KEEP:
                names = [TASK_REQUEST + task_request.id, ANSWER + task_request.id]
                at.execute(delete(Cell).where(Cell.asset_id == asset_id, Cell.key.in_(names)))
        at.commit()
    return task_requests
