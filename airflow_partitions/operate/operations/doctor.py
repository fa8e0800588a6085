"""Examination of an estate: what can't work, what is stuck, and what mends it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import attrs
from sqlalchemy import func, select

from airflow_partitions.core.dependencies import selection_text
from airflow_partitions.core.errors import GoneError, InvalidDefinitionError, InvalidKeyError, NotMigratedError
from airflow_partitions.engine.database.connection import open_connection, open_session, portions
from airflow_partitions.engine.graph.absent_dags import Cause, import_failures
from airflow_partitions.engine.graph.dag_details import DagDetails, read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset, asset_dags, read_assets
from airflow_partitions.engine.graph.serialized_dags import SerializedDags, read_serialized_dags
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.limits import check_named
from airflow_partitions.engine.timetables.partitioned import Partitioned
from airflow_partitions.engine.timetables.serialized_dag import read_timetables
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.doctor import Kind, ListProblems, RemedyKind
from airflow_partitions.operate.operations.failed_partitions import failed_partitions
from airflow_partitions.operate.operations.late import late_partitions
from airflow_partitions.operate.operations.missed import Known, missed_words
from airflow_partitions.operate.operations.orphans import orphan_texts
from airflow_partitions.operate.operations.problem import Problem, Remedy, told_apart, untold
from airflow_partitions.operate.operations.work_check import (
    full_pools,
    missing_connections,
    missing_folders,
    missing_packages,
    wrong_address,
)
from airflow_partitions.operate.requests.concurrency import concurrency_note
from airflow_partitions.operate.requests.progress import progress_of_all
from airflow_partitions.operate.requests.request_rows import requests_of
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.upkeep.cell_check import Track, cell_problems
from airflow_partitions.operate.upkeep.consumers import looked_at
from airflow_partitions.operate.upkeep.leader import last_heartbeat, leader

#: Finds problems of one kind of thing.
Check = Callable[[], Iterable[Problem]]
log = logging.getLogger(__name__)
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
    checks = checks_of(own, complete=complete, records=asked.records, track=asker.track)
    problems = list(examined(checks))
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


def checks_of(
    assets: Mapping[str, AssetDags], *, complete: bool, records: bool, track: Track = iter
) -> dict[str, Check]:
    """What is looked at, by its name, of some *assets*, by name.

    :param complete: look at the graph of all Dags, and at what their tasks need.
    :param records: look at the state stores and ledgers, too.
    :param track: as for :func:`.cell_problems`.
    """
    graph = _Once(read_serialized_dags)
    producers = sorted({dag_id for each in assets.values() for dag_id in each.producers})
    makes: dict[str, str] = {dag_id: each.asset for each in assets.values() for dag_id in each.producers}
    checks: dict[str, Check] = {}
    if complete:
        checks |= {"the graph of Dags": lambda: _graph(graph())}
    checks |= {
        "cells": lambda: _cells(assets if records else (), track),
        "Dag files": lambda: _absent(assets, complete=complete),
        "upkeep": _upkeep,
        "requests": lambda: stuck_requests(producers),
        "what waits": lambda: _waiting(read_dag_details(producers), makes),
        "missed events": lambda: _missed(assets),
        "failed runs": lambda: failed_partitions(assets),
        "slots": lambda: full_pools(producers),
        "deadlines": lambda: _late(assets),
    }
    if complete:
        checks |= {
            "the API server's address": wrong_address,
            "connections": lambda: missing_connections(graph()),
            "folders": lambda: missing_folders(graph()),
            "packages": lambda: missing_packages(graph()),
        }
    if records:
        checks |= {"orphans": lambda: _orphans(assets)}
    return checks


def examined(checks: Mapping[str, Check]) -> Iterator[Problem]:
    """What *checks* find; one that fails is a problem itself, and keeps no other from being done.

    :raises NotMigratedError: if nothing can be looked at, since the database has not our tables.
    :raises GoneError: if the asker has gone.
    """
    for name, check in checks.items():
        try:
            yield from check()
        except (NotMigratedError, GoneError):
            raise
        except Exception as error:
            log.exception("The check of %s failed", name)
            text = f"the check of {name} failed, so nothing is known of that: {type(error).__name__}: {error}"
            yield Problem(kind="check", text=text, is_error=True)


class _Once:
    """The Dags, read by the first check that needs them."""

    def __init__(self, read: Callable[[], SerializedDags]) -> None:
        self._read = read
        self._dags: SerializedDags | None = None

    def __call__(self) -> SerializedDags:
        if self._dags is None:
            self._dags = self._read()
        return self._dags


def _graph(dags: SerializedDags) -> Iterator[Problem]:
    """What can't work as all Dags are now."""
    for text in dags.problems:
        yield Problem(kind="graph", text=text, is_error=True)
    timetables = [one for each in dags.producers.values() for one in each if isinstance(one, PartitionTimetable)]
    for dag_id, limits in sorted({one.dag_id: one.limits for one in timetables if one.limits}.items(), key=str):
        try:
            check_named(limits)
        except InvalidDefinitionError as error:
            text = f"Dag {dag_id!r} begins no runs: {error}; restart the scheduler once it is there"
            yield Problem(kind="graph", text=text, is_error=True, dag_id=dag_id)


def _cells(assets: Collection[str], track: Track) -> Iterator[Problem]:
    """What is wrong in the state stores and ledgers of some *assets*."""
    for cell in cell_problems(assets, track):
        remedy = Remedy("reconcile") if cell.is_rewritten else None
        yield Problem(kind="cell", text=cell.text, is_error=True, asset=cell.asset, remedy=remedy)


def _upkeep() -> Iterator[Problem]:
    """Whether upkeep has stopped, or has never begun."""
    if leader() is None:
        last = last_heartbeat()
        since = "" if last is None else f" since {last:%Y-%m-%d %H:%M:%S} UTC"
        text = f"no upkeep process is alive{since}: ledgers fall behind, and partitions wait longer than they must"
        command = "airflow asset-partitions upkeep --loop"
        yield Problem(kind="no-upkeep", text=text, remedy=Remedy("command", command=command))


def _absent(assets: Mapping[str, AssetDags], *, complete: bool) -> Iterator[Problem]:
    """The Dags of *assets* that Airflow can't run as they are, and files of which no Dag is known."""
    told: set[str] = set()
    for name, each in assets.items():
        for dag in each.absent:
            told.add(dag.file)
            if dag.cause is Cause.IMPORT_ERROR:
                text = f"asset {name!r} is made by {dag.why}; mend the file: its assets are back once it is read"
                yield Problem(kind="import-error", text=text, is_error=True, dag_id=dag.dag_id, asset=name)
            elif dag.cause is Cause.MISSING:
                text = (
                    f"asset {name!r} is made by {dag.why}: nothing makes it any more; bring the file back, or if it is"
                    f" meant to be gone: airflow dags delete {dag.dag_id}"
                )
                yield Problem(kind="missing-dag", text=text, dag_id=dag.dag_id, asset=name)
    makes: dict[str, str] = {dag_id: each.asset for each in assets.values() for dag_id in each.owners}
    for failure in import_failures():
        own = sorted(failure.dag_ids & makes.keys())
        if failure.file not in told and (own or (complete and not failure.dag_ids)):
            text = f"{failure.file} can't be imported, so Airflow knows nothing of what is in it now: {failure.error}"
            dag_id = own[0] if own else None
            yield Problem(
                kind="import-error", text=text, is_error=True, dag_id=dag_id, asset=makes[dag_id] if dag_id else None
            )


def _missed(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    """The paused Dags that missed events, with how many partitions follow."""
    details = read_dag_details({dag_id for each in assets.values() for dag_id in each.producers})
    paused = {dag_id: one.state for dag_id, one in details.items() if one.paused}
    known = Known(paused, looked_at(paused))

    def problems(asset: PartitionedAsset) -> Iterator[Problem]:
        for dag_id, text in missed_words(asset, known):
            remedy = Remedy("command", command=f"airflow asset-partitions skip-missed {asset.name}")
            yield Problem(kind="missed-events", text=text, dag_id=dag_id, asset=asset.name, remedy=remedy)

    some = read_assets([each for each in assets.values() if not paused.keys().isdisjoint(each.producers)])
    yield from told_apart(some, "what it has missed", problems)


def _late(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    unknown: list[Problem] = []
    for each in late_partitions(
        assets.values(), lambda asset, error: unknown.append(untold(asset.name, "what is late of it", error))
    ):
        remedy = Remedy("materialize", select=selection_text(each.partitions))
        yield Problem(kind="late", text=str(each), dag_id=each.dag_id, asset=each.asset, remedy=remedy)
    yield from unknown


def _orphans(assets: Mapping[str, AssetDags]) -> Iterator[Problem]:
    """The assets with partitions that their definitions have no more."""

    def problems(some: Sequence[PartitionedAsset]) -> dict[str, Problem]:
        texts = orphan_texts({asset.name: asset.meaning for asset in some})
        return {name: Problem(kind="orphans", text=text, asset=name) for name, text in texts.items()}

    yield from asked_apart(
        list(read_assets(list(assets.values()))),
        problems,
        lambda asset, error: untold(asset.name, "what its definition has no more", error),
    ).values()


def stuck_requests(dag_ids: Collection[str] | None = None) -> Iterator[Problem]:
    """The requests of Dags, of all if not given, that failed, wait for somebody, or can't be read."""
    unreadable: list[str] = []
    with open_session() as session:
        requests = progress_of_all(session, list(islice(requests_of(dag_ids, report=unreadable.append), _REQUESTS)))
    for text in unreadable:
        yield Problem(kind="cell", text=text, is_error=True)
    for one in requests:
        request, runs = one.request, one.runs
        note = concurrency_note(request.options.concurrency)
        if note is not None and one.state in ("creating", "running"):
            text = f"request {request.id} for {request.asset!r} has {note}"
            yield Problem(kind="concurrency", text=text, dag_id=request.dag_id, asset=request.asset, request=request.id)
        if one.state in _REQUESTS_STUCK:
            kind, remedy, words = _REQUESTS_STUCK[one.state]
            why = "" if one.error is None else f", the newest by: {one.error}"
            left = request.partitions - runs.get("success", 0) - runs.get("skipped", 0)
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
        old = {
            dag_id: (count, since) for dag_id, count, since in connection.execute(rows.where(Row.created_at < before))
        }
        runs = dict(connection.execute(queued).all())
    old |= _waiting_since_their_time(old, before)
    for dag_id in sorted({*pending, *runs}):
        count, _ = pending.get(dag_id, (0, None))
        number, since = old.get(dag_id, (0, None))
        asset = makes[dag_id]
        if details[dag_id].paused:
            parts = [(count, "waits for upstream partitions", "wait for upstream partitions"),
                     (runs.get(dag_id, 0), "is queued", "are queued")]  # fmt: skip
            words = " and ".join(
                f"{n:,} partition{'s' * (n > 1)} {many if n > 1 else one}" for n, one, many in parts if n
            )
            text = f"Dag {dag_id!r} is {details[dag_id].state}, so nothing of it begins: {words}"
            yield Problem(kind="paused-dag", text=text, dag_id=dag_id, asset=asset, remedy=Remedy("unpause-dag"))
        elif number:
            has = "has" if number == 1 else "have"
            text = (
                f"asset {asset!r}: {number:,} partition{'s' * (number > 1)} {has} waited for upstream partitions for"
                f" more than a day, the first since {since:%Y-%m-%d %H:%M} UTC"
            )
            yield Problem(kind="waiting", text=text, dag_id=dag_id, asset=asset)


def _waiting_since_their_time(dag_ids: Collection[str], before: datetime) -> dict[str, tuple[int, datetime]]:
    """Of those Dags whose partitions have a time (``at=``): how many it came for *before*, and when for the first.

    Until then a partition waits for no upstream. One whose key is none of the definition's counts from its row.
    """
    from airflow.models.asset import AssetPartitionDagRun as Row

    timetables, _ = read_timetables(dag_ids)
    timed = {
        dag_id: timetable
        for dag_id, timetable in timetables.items()
        if isinstance(timetable, Partitioned)
        and timetable.upstreams is not None
        and timetable.upstreams.run_policy.at is not None
    }
    since: dict[str, list[datetime]] = {dag_id: [] for dag_id in timed}
    with open_connection() as connection:
        for portion in portions(sorted(timed)):
            query = select(Row.target_dag_id, Row.partition_key, Row.created_at).where(
                Row.target_dag_id.in_(portion), Row.created_dag_run_id.is_(None), Row.created_at < before
            )
            for dag_id, key, created in connection.execute(query):
                try:
                    begins = timed[dag_id].early_until(key, created)
                except InvalidKeyError:
                    begins = None
                if begins is None or begins < before:
                    since[dag_id].append(begins or created)
    return {dag_id: (len(times), min(times, default=before)) for dag_id, times in since.items()}
