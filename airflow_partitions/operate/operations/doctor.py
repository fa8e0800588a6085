"""Examination of an estate: what can't work, what is stuck, and what mends it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import attrs
from sqlalchemy import func, select

from airflow_partitions.core.dependencies import selection_text
from airflow_partitions.engine.database.connection import open_connection, open_session
from airflow_partitions.engine.graph.dag_details import DagDetails, read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, asset_dags, read_assets
from airflow_partitions.engine.graph.serialized_dags import SerializedDags, read_serialized_dags
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.doctor import Kind, ListProblems, RemedyKind
from airflow_partitions.operate.operations.late import late_partitions
from airflow_partitions.operate.operations.orphans import orphan_texts
from airflow_partitions.operate.operations.problem import Problem, Remedy
from airflow_partitions.operate.requests.progress import progress_of_all
from airflow_partitions.operate.requests.request_rows import requests_of
from airflow_partitions.operate.upkeep.cell_check import cell_problems
from airflow_partitions.operate.upkeep.leader import leader

#: Partitions that wait for others for so long are told of.
LONG = timedelta(days=1)
#: So many of the newest requests are looked at.
_REQUESTS = 100
#: Of the states of requests that need somebody: the problem, its remedy, and words with failed runs and what is left.
_REQUESTS_STUCK: Mapping[str, tuple[Kind, RemedyKind, str]] = {
    "failed": ("request-failed", "retry-request", "has ended, and {0:,} of its runs failed"),
    "stopped": (
        "request-stopped",
        "resume-request",
        "has stopped at a failure; {1:,} of its partitions are not there",
    ),
    "paused": ("request-paused", "resume-request", "is paused; {1:,} of its partitions are not there"),
}


def list_problems(asked: ListProblems, asker: Asker) -> dict[str, Any]:
    """What can't work, and what is stuck, each with what mends it.

    What belongs to the graph of all Dags is told only where each partitioned Dag is among those that one may read.
    """
    every = asset_dags()
    own = {name: each for name, each in every.items() if asker.sees(each)}
    may_start = set(asker.startable({dag_id for each in own.values() for dag_id in each.owners}))
    changeable = {name for name, each in own.items() if may_start.issuperset(each.owners)}
    complete = len(own) == len(every)
    graph = read_serialized_dags() if complete else None
    problems = [*errors(graph, own if asked.records else ()), *stuck(own)]
    if asked.records:
        problems += _orphans(own)
    may_edit = set(
        asker.editable({one.dag_id for one in problems if one.kind == "paused-dag" and one.dag_id is not None})
    )

    def offered(one: Problem) -> Problem:
        """The problem, with its remedy only where the asker may do it."""
        if one.remedy is None or one.remedy.kind == "command":
            return one
        if one.remedy.kind == "unpause-dag":
            may = one.dag_id in may_edit
        else:
            may = one.asset in changeable if one.request is None else one.dag_id in may_start
        return one if may else attrs.evolve(one, remedy=None)

    return {"problems": [offered(one).to_json() for one in problems], "complete": complete}


def errors(dags: SerializedDags | None, assets: Collection[str] | None = None) -> Iterator[Problem]:
    """What can't work as all Dags are now, and what is wrong in the assets' state stores.

    :param dags: as they are now; ``None`` to leave them out.
    :param assets: only the state stores of these; all if not given.
    """
    for text in () if dags is None else dags.problems:
        yield Problem(kind="graph", text=text, is_error=True)
    for cell in cell_problems(assets):
        remedy = Remedy("reconcile") if cell.is_rewritten else None
        yield Problem(kind="cell", text=cell.text, is_error=True, asset=cell.asset, remedy=remedy)


def stuck(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    """What of some *assets*, by name, does not go on by itself, or is late."""
    if leader() is None:
        text = "no upkeep process is alive: ledgers fall behind, and partitions wait longer than they must"
        command = "airflow asset-partitions upkeep --loop"
        yield Problem(kind="no-upkeep", text=text, remedy=Remedy("command", command=command))
    producers = sorted({dag_id for each in assets.values() for dag_id in each.producers})
    makes: dict[str, str] = {dag_id: each.asset for each in assets.values() for dag_id in each.producers}
    details = read_dag_details(producers)
    for dag_id in producers:
        if dag_id in details and details[dag_id].broken:
            text = f"the file of Dag {dag_id!r} can't be imported as it is now, so it works as it was before, if at all"
            yield Problem(kind="import-error", text=text, dag_id=dag_id, asset=makes[dag_id])
    yield from stuck_requests(producers)
    yield from _waiting(details, makes)
    for each in late_partitions(assets.values()):
        remedy = Remedy("materialize", select=selection_text(each.partitions))
        yield Problem(kind="late", text=str(each), dag_id=each.dag_id, asset=each.asset, remedy=remedy)


def _orphans(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    """The assets with partitions that their definitions have no more."""
    meanings = {asset.name: asset.meaning for asset in read_assets(list(assets.values()))}
    for name, text in orphan_texts(meanings).items():
        yield Problem(kind="orphans", text=text, asset=name)


def stuck_requests(dag_ids: Collection[str] | None = None) -> Iterator[Problem]:
    """The requests of Dags, of all if not given, that failed, wait for somebody, or can't be read."""
    unreadable: list[str] = []
    with open_session() as session:
        requests = progress_of_all(session, list(islice(requests_of(dag_ids, report=unreadable.append), _REQUESTS)))
    for text in unreadable:
        yield Problem(kind="cell", text=text, is_error=True)
    for one in requests:
        if one.state in _REQUESTS_STUCK:
            kind, remedy, words = _REQUESTS_STUCK[one.state]
            why = "" if one.error is None else f", the newest by: {one.error}"
            request, runs = one.request, one.runs
            left = request.partitions - runs.get("success", 0)
            yield Problem(
                kind=kind,
                text=f"request {request.id} for {request.asset!r} {words.format(runs.get('failed', 0), left)}{why}",
                dag_id=request.dag_id,
                asset=request.asset,
                request=request.id,
                remedy=Remedy(remedy),
            )


def _waiting(details: Mapping[str, DagDetails], makes: Mapping[str, str]) -> Iterator[Problem]:
    """The Dags that are paused while there is something to do, and those whose partitions have waited for long."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    before = datetime.now(UTC) - LONG
    rows = (
        select(Row.target_dag_id, func.count(), func.min(Row.created_at))
        .where(Row.target_dag_id.in_(list(details)), Row.created_dag_run_id.is_(None))
        .group_by(Row.target_dag_id)
    )
    queued = (
        select(DagRun.dag_id, func.count())
        .where(DagRun.dag_id.in_(list(details)), DagRun.state == DagRunState.QUEUED, DagRun.partition_key.is_not(None))
        .group_by(DagRun.dag_id)
    )
    with open_connection() as connection:
        pending = {dag_id: (count, since) for dag_id, count, since in connection.execute(rows)}
        old = dict(
            connection.execute(
                rows.where(Row.created_at < before).with_only_columns(Row.target_dag_id, func.count())
            ).all()
        )
        runs = dict(connection.execute(queued).all())
    for dag_id in sorted({*pending, *runs}):
        count, since = pending.get(dag_id, (0, None))
        asset = makes[dag_id]
        if details[dag_id].paused:
            parts = [(count, "waits for upstream partitions", "wait for upstream partitions"),
                     (runs.get(dag_id, 0), "is queued", "are queued")]  # fmt: skip
            words = " and ".join(
                f"{n:,} partition{'s' * (n > 1)} {many if n > 1 else one}" for n, one, many in parts if n
            )
            text = f"Dag {dag_id!r} is paused, so nothing of it begins: {words}"
            yield Problem(kind="paused-dag", text=text, dag_id=dag_id, asset=asset, remedy=Remedy("unpause-dag"))
        elif number := old.get(dag_id, 0):
            has = "has" if number == 1 else "have"
            text = (
                f"asset {asset!r}: {number:,} partition{'s' * (number > 1)} {has} waited for upstream partitions for"
                f" more than a day, the first since {since:%Y-%m-%d %H:%M} UTC"
            )
            yield Problem(kind="waiting", text=text, dag_id=dag_id, asset=asset)
