"""Requests for partitions: planned, made, watched and controlled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, asset_dags, partitioned_asset
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.requests import (
    CancelRequest,
    DeleteRequest,
    ListRequests,
    MaterializePartitions,
    PauseRequest,
    PlanPartitions,
    ResumeRequest,
    RetryRequest,
    ShowRequest,
)
from airflow_partitions.operate.operations.asked_partitions import asked_partitions
from airflow_partitions.operate.operations.page import page
from airflow_partitions.operate.requests import control
from airflow_partitions.operate.requests.concurrency import concurrency_note
from airflow_partitions.operate.requests.materialize import begin, create_runs
from airflow_partitions.operate.requests.plan import plan
from airflow_partitions.operate.requests.producer import Producer
from airflow_partitions.operate.requests.progress import Progress, progress, progress_of_all
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.request_rows import read_request, requests_of
from airflow_partitions.operate.states.asset_states import AssetStates

#: Digits of a number that is too great for a database.
_LONGEST = 10


def plan_partitions(asked: PlanPartitions, asker: Asker) -> dict[str, Any]:
    """Which partitions a request would make, in order, with usual seconds and bytes."""
    asset, now = partitioned_asset(asked.asset), datetime.now(UTC)
    selection, states = _asked_for(asset, asked, now), frozenset(asked.states or ())
    options: dict[str, Any] = {"upstream": asked.upstream, "downstream": asked.downstream, "dags": asker.readable}
    steps = plan(asset, selection, states=states, **options, now=now)
    return visible(steps.to_json(), asker) | {"asset": asset.name}


def materialize_partitions(asked: MaterializePartitions, asker: Asker) -> dict[str, Any]:
    """What was asked for: a plan, and a request for each Dag of which something begins at once."""
    asset, now = partitioned_asset(asked.asset), datetime.now(UTC)
    selection, states = _asked_for(asset, asked, now), frozenset(asked.states or ())
    if asked.while_paused:
        asker.check_pausing(asset.dags.producers)
    dags = startable(asker, while_paused=asked.while_paused) if asked.upstream else None
    steps = plan(
        asset, selection, states=states, upstream=asked.upstream, downstream=asked.downstream, dags=dags, now=now
    )
    options = RunOptions(**{field.name: getattr(asked, field.name) for field in attrs.fields(RunOptions)})
    begun = begin(steps, options, by=asker.name, dry_run=asked.dry_run)
    return {
        "asset": asset.name,
        "plan": visible(steps.to_json(), asker),
        "requests": [] if asked.dry_run else begun_progress(begun, asker),
        "notes": [note] if (note := concurrency_note(asked.concurrency)) else [],
        "dry_run": asked.dry_run,
    }


def list_requests(asked: ListRequests, asker: Asker) -> dict[str, Any]:
    """The requests for partitions, the newest first.

    :raises SelectionError: for a cursor that no page has.
    """
    cursor, dags = asked.cursor, asker.readable
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < _LONGEST):
        raise SelectionError(f"cursor {cursor!r} is not one of a page; expected the number of a request")
    if asked.asset:
        for name in asked.asset:
            asker.check_reading(name)
        producers = {dag_id for name in asked.asset for dag_id in partitioned_asset(name).dags.producers}
        dags = producers if dags is None else producers.intersection(dags)
    requests = requests_of(dags, before=None if cursor is None else int(cursor), damaged=True)
    chosen = (one for one in _progress(requests, asked.limit + 1) if not asked.states or one.state in asked.states)
    return page("requests", chosen, asked.limit, Progress.to_json)


def show_request(asked: ShowRequest, _: Asker) -> dict[str, Any]:
    """How far a request has come."""
    return progress(asked.request, damaged=True).to_json()


def pause_request(asked: PauseRequest, _: Asker) -> dict[str, Any]:
    """The request, of which no more runs begin for now."""
    return control.pause(asked.request, dry_run=asked.dry_run).to_json()


def resume_request(asked: ResumeRequest, asker: Asker) -> dict[str, Any]:
    """The request, of which runs begin again."""
    return _begun_again(asked, asker, control.resume)


def cancel_request(asked: CancelRequest, _: Asker) -> dict[str, Any]:
    """The request, of which no more runs begin; also one that can't be read, whose selection is empty then."""
    return control.cancel(asked.request, dry_run=asked.dry_run).to_json()


def delete_request(asked: DeleteRequest, _: Asker) -> dict[str, Any]:
    """The request as it was; also one that can't be read."""
    return control.delete(asked.request, dry_run=asked.dry_run).to_json()


def retry_request(asked: RetryRequest, asker: Asker) -> dict[str, Any]:
    """The request, of which what failed works again."""
    return _begun_again(asked, asker, control.retry)


def _begun_again(asked: ResumeRequest | RetryRequest, asker: Asker, change: Callable[..., Progress]) -> dict[str, Any]:
    """A request after a *change* by which its runs begin again; those that are missing are created, too."""
    request = read_request(asked.request)
    if request.options.while_paused:
        asker.check_pausing([request.dag_id])
    changed = change(asked.request, later=asker.does_later, dry_run=asked.dry_run)
    return changed.to_json()


def startable(asker: Asker, *, while_paused: bool) -> Collection[str] | None:
    """The Dags that may be asked for something; ``None`` for all.

    :param while_paused: also while they are paused, which takes the right to unpause them.
    """
    if asker.readable is None:
        return None
    dags = set(asker.startable(asker.readable))
    return dags & set(asker.editable(dags)) if while_paused else dags


def begun_progress(begun: Iterable[tuple[Request, Producer]], asker: Asker) -> list[dict[str, Any]]:
    """How far requests that have just begun have come; their runs are created after the answer, if that can be."""
    requests: list[Progress] = []
    for request, producer in begun:
        work = partial(create_runs, request, producer)
        if asker.does_later(work):
            requests.append(Progress(request, "creating", {}))
        else:
            requests += _progress(iter([work()]), 1)
    return [each.to_json() for each in requests]


def visible(plan: dict[str, Any], asker: Asker) -> dict[str, Any]:
    """A *plan* without the assets that one may not read."""
    around = asset_dags() if plan["lacking"] and asker.readable is not None else {}
    if not around:
        return plan
    lacking = {name: text for name, text in plan["lacking"].items() if name in around and asker.sees(around[name])}
    return plan | {"lacking": lacking}


def _progress(requests: Iterator[Request], at_once: int) -> Iterator[Progress]:
    """How far the *requests* have come; asks for some at once."""
    while portion := list(islice(requests, at_once)):
        with open_session() as session:
            yield from progress_of_all(session, portion)


def _asked_for(asset: PartitionedAsset, asked: PlanPartitions | MaterializePartitions, now: datetime) -> Selection:
    everything = asked.select is not None and asked.select.strip() == "all" and asked.keys is None
    select = None if everything else asked.select
    selection = asked_partitions(asset.definition, select, asked.keys, now)
    if selection is not None:
        return selection
    if not everything and not asked.states:
        raise SelectionError(
            "nothing says which partitions are meant; expected a selection such as 2013-03-01..2013-03-10, states such"
            " as missing, keys, or all"
        )
    return AssetStates(asset, now).everything()
