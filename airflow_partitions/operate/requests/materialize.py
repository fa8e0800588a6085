"""Requests for partitions: a run for each, created many at once, exactly once.

A request is first kept, with its backfill, and then its runs are created in portions, each in a transaction that also
notes how far it has come. Who is killed in between leaves a request that :func:`create_runs` goes on with: upkeep does,
and whoever resumes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import attrs
from sqlalchemy import select, update

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, NotReadyError, OverlapError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.requests.hold import hold
from airflow_partitions.operate.requests.producer import Producer, as_of_now
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.request_rows import (
    add_request,
    lock_dag,
    lock_request,
    requests_being_made,
    write_request,
)
from airflow_partitions.operate.requests.runs import make_runs

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.core.keys import Key
    from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
    from airflow_partitions.operate.requests.plan import Plan

#: Runs created in one transaction: a second's work, since SQLite has one writer at a time.
PORTION = 250
#: Instead of that of a backfill, in a dry run.
_NO_NUMBER = 0


def materialize(
    asset: PartitionedAsset, selection: Selection, options: RunOptions | None = None, *, by: str
) -> Request:
    """Ask for partitions of *asset*, each to be made by one run, whether it was made before or not.

    A partition with a finished run gets a new try of it. When it returns, all have their runs; errors are those of
    :func:`ask`.
    """
    return create_runs(ask(asset, selection, options, by=by))


def ask(asset: PartitionedAsset, selection: Selection, options: RunOptions | None = None, *, by: str) -> Request:
    """Keep a request for partitions of *asset*; :func:`create_runs` makes it work.

    :param by: who asks; the runs have it.
    :raises RequestSizeError: if nothing is selected, or too much.
    :raises InvalidKeyError: for a partition whose interval is not over.
    :raises OverlapError: if one of them is asked for already, or being made; then nothing is asked for.
    :raises NotReadyError: if the Dag is paused, has errors, does not take the conf, or can't make the newest first.
    """
    return _ask(Producer.of(asset), selection, options or RunOptions(), by)


def _ask(producer: Producer, selection: Selection, options: RunOptions, by: str, *, dry_run: bool = False) -> Request:
    now = datetime.now(UTC)
    producer.check_request(selection, now)
    producer.check_ready(options)
    if options.newest_first and producer.timetable.own_past is not None:
        raise NotReadyError(
            f"each partition of {producer.dag_id} needs the one before it, so the newest can't be made first; ask for"
            " them oldest first"
        )
    return _begin(producer, selection, options, by, now, dry_run=dry_run)


def carry_out(plan: Plan, options: RunOptions | None = None, *, by: str) -> tuple[Request, ...]:
    """Ask for all that begins at once in a *plan*, upstream first; the rest follows by events.

    :return: a request for each Dag of which something begins, without runs yet; errors are those of :func:`ask`.
    """
    return tuple(request for request, _ in begin(plan, options, by=by))


def begin(
    plan: Plan, options: RunOptions | None = None, *, by: str, dry_run: bool = False
) -> list[tuple[Request, Producer]]:
    """The requests of :func:`carry_out`, each with the Dag that makes its partitions, for :func:`create_runs`.

    :param dry_run: keep none of them, which have no numbers then; what is refused otherwise is refused.
    """
    options = options or RunOptions()
    begins = [(step.producer, step.begins) for step in plan.steps if step.begins and step.producer is not None]
    producers = as_of_now([producer for producer, _ in begins])
    for producer in producers:  # all of them, before any is asked
        producer.check_ready(options)
    selections = (selection for _, selection in begins)
    return [
        (_ask(each, some, options, by, dry_run=dry_run), each) for each, some in zip(producers, selections, strict=True)
    ]


def create_runs(request: Request, producer: Producer | None = None) -> Request:
    """Create the runs that a *request* has not got yet, unless it is paused. Several may do so at once, or be killed.

    :raises InvalidDefinitionError: if the Dag has other partitions by now, without those that are asked for.
    :raises NotReadyError: if the Dag is not there now, or makes other assets by now.
    """
    producer = producer or Producer.of_dag(request.dag_id, request.asset)
    place, rest = 0, _ordered(request)
    while request.is_making:
        with open_session() as session:
            request = lock_request(session, request.id)
            if not request.is_making or not _open(session, request):
                break
            for _ in islice(rest, request.created - place):
                pass
            keys = _current(request, producer, list(islice(rest, PORTION)))
            make_runs(session, request, producer, keys, request.created + 1)
            place = request.created + len(keys)
            request = attrs.evolve(request, created=place)
            write_request(session, request)
            session.commit()
    return request


def _begin(
    producer: Producer, selection: Selection, options: RunOptions, by: str, now: datetime, *, dry_run: bool
) -> Request:
    """Keep the request and its backfill, if nobody else asks for any of it or makes it."""
    from airflow.models.backfill import Backfill, ReprocessBehavior

    with open_session() as session:
        if not dry_run:
            lock_dag(session, producer.dag_id)
        for other in requests_being_made(session, producer.dag_id):
            check_overlap(selection, other)
        _check_runs(session, producer.dag_id, selection)
        if dry_run:
            request = Request(_NO_NUMBER, producer.asset, producer.dag_id, selection, options, now, by)
            hold(session, request, dry_run=True)
            session.rollback()
            return request
        first, last = _span(selection, now)
        backfill = Backfill(
            dag_id=producer.dag_id,
            from_date=first,
            to_date=last,
            # One run leads a batch; the others wait for it, and have no place of their own.
            max_active_runs=options.concurrency if producer.timetable.batch == 1 else 1,
            dag_run_conf=dict(options.conf),
            reprocess_behavior=ReprocessBehavior.COMPLETED,
            triggering_user_name=by or None,
        )
        session.add(backfill)
        session.flush()
        request = Request(backfill.id, producer.asset, producer.dag_id, selection, options, now, by)
        add_request(session, request)
        hold(session, request)
        session.commit()
    return request


def check_overlap(selection: Selection, other: Request) -> None:
    """Refuse a *selection* that the *other* request asks for, in part or wholly.

    :raises OverlapError: naming what both ask for.
    """
    if other.selection.definition == selection.definition and (common := other.selection & selection):
        raise OverlapError(
            f"{len(common)} of the {len(selection)} partitions are asked for by request {other.id} already"
            f" ({_shortened(common)}); wait for it, cancel it, or leave them out",
            request=other.id,
        )


def _check_runs(session: Session, dag_id: str, selection: Selection) -> None:
    """Refuse a *selection* with a partition that has a run at work."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    query = (
        select(DagRun.partition_key, DagRun.run_id, DagRun.backfill_id)
        .where(
            DagRun.dag_id == dag_id,
            DagRun.state.in_([DagRunState.QUEUED, DagRunState.RUNNING]),
            DagRun.partition_key.is_not(None),
        )
        .order_by(DagRun.id)
    )
    definition = selection.definition
    runs = [row for row in session.execute(query) if _selects(selection, row.partition_key)]
    if runs:
        first = runs[0]
        owner = "" if first.backfill_id is None else f" of request {first.backfill_id}"
        common = Selection.of(definition, *{row.partition_key for row in runs})
        raise OverlapError(
            f"{len(common)} of the {len(selection)} partitions are being made already ({_shortened(common)}), the first"
            f" one by run {first.run_id}{owner}; wait for it, cancel it, or leave them out",
            request=first.backfill_id,
        )


def _selects(selection: Selection, text: str) -> bool:
    try:
        return selection.definition.parse(text) in selection
    except InvalidKeyError:  # of an older definition
        return False


def _current(request: Request, producer: Producer, keys: list[Key]) -> list[Key]:
    """The *keys* as the Dag has them now."""
    if producer.definition == request.selection.definition:
        return keys
    try:
        return [producer.definition.parse(str(key)) for key in keys]
    except InvalidKeyError as error:
        raise InvalidDefinitionError(
            f"Dag {producer.dag_id} has other partitions now than when request {request.id} was made: {error}; cancel"
            " the request, and ask again"
        ) from None


def _open(session: Session, request: Request) -> bool:
    """Let the backfill be open, unless a person, or a failure, has paused it; whether it is.

    Airflow may have taken one for complete whose first runs were quick.
    """
    from airflow.models.backfill import Backfill

    own = update(Backfill).where(Backfill.id == request.id, Backfill.is_paused.is_(False))
    return bool(session.connection().execute(own.values(completed_at=None)).rowcount)


def _ordered(request: Request) -> Iterator[Key]:
    """The keys of a request in the order in which they are to be made."""
    return iter(list(request.selection)[::-1]) if request.options.newest_first else iter(request.selection)


def _span(selection: Selection, now: datetime) -> Sequence[datetime]:
    """From when to when the partitions are, for Airflow's page of the backfill; without time, when it was asked."""
    boxes = selection.canonical
    time = selection.definition.time
    if time is None:
        return now, now
    low = min(box.time_range[0] for box in boxes if box.time_range is not None)
    high = max(box.time_range[1] for box in boxes if box.time_range is not None)
    return time.clock.datetime(low), time.clock.datetime(high)


def _shortened(selection: Selection) -> str:
    text = selection_text(selection)
    return text if len(text) <= 100 else f"{text[:100]}…"
