"""Requests for partitions: planned, made, watched and controlled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from getpass import getuser
from itertools import islice
from typing import Any

from airflow_partitions.core.dependencies import Selection, parse_selection
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.engine.database.connection import session
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.engine.runs.request_state import REQUEST_STATES
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.operations.page import USUAL, page
from airflow_partitions.operate.requests import control
from airflow_partitions.operate.requests.materialize import begin, create_runs
from airflow_partitions.operate.requests.plan import plan
from airflow_partitions.operate.requests.progress import Progress, progress, progress_of_all
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.request_rows import read_request, requests_of
from airflow_partitions.operate.states import State
from airflow_partitions.operate.states.asset_states import AssetStates

#: Digits of a number that is too great for a database.
_LONGEST = 10


def plan_partitions(
    asset: str,
    *,
    select: str | None = None,
    states: Collection[str] | None = None,
    upstream: bool = False,
    downstream: bool = False,
    dags: Collection[str] | None = None,
) -> dict[str, Any]:
    """Which partitions a request would make, in order, with usual seconds and bytes.

    :param select: of these, as text.
    :param states: only those in one of these states.
    :param upstream: what they need and is missing is made first.
    :param downstream: tell what events make again because of it.
    :param dags: the only other Dags that are looked at; all if not given.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read, or nothing says what is meant.
    :raises RequestSizeError: if nothing is selected, or too much.
    :raises InvalidKeyError: for what is no key, or an interval that is not over.
    :raises NotReadyError: if no Dag makes its partitions when it is asked.
    """
    own, now = partitioned_asset(asset), datetime.now(UTC)
    selection = _asked_for(own, select, states, now)
    chosen = frozenset(map(State.called, states or ()))
    return plan(
        own, selection, states=chosen, upstream=upstream, downstream=downstream, dags=dags, now=now
    ).to_json() | {"asset": asset}


def materialize_partitions(
    asset: str,
    *,
    select: str | None = None,
    states: Collection[str] | None = None,
    upstream: bool = False,
    concurrency: int = 16,
    newest_first: bool = False,
    stop_at_failure: bool = False,
    label: str = "",
    conf: Mapping[str, Any] | None = None,
    while_paused: bool = False,
    dry_run: bool = False,
    dags: Collection[str] | None = None,
    by: str | None = None,
    later: Callable[[Callable[[], object]], object] | None = None,
) -> dict[str, Any]:
    """Ask for partitions: a run for each; arguments and errors as for :func:`plan_partitions`, and:

    :param concurrency: the most runs at a time, of each Dag.
    :param newest_first: begin with the newest.
    :param stop_at_failure: begin no more once one has failed.
    :param label: in the note of every run.
    :param conf: of every run.
    :param while_paused: make them also if a Dag is paused; its schedule begins no run until all requests for it ended.
    :param dry_run: only plan.
    :param by: who asks; the user of this process if not given.
    :param later: is given what creates the runs of a request, to be called later; if it is not given, that is done now.
    :raises OverlapError: if one of them is asked for already, or being made.
    """
    own, now = partitioned_asset(asset), datetime.now(UTC)
    selection = _asked_for(own, select, states, now)
    chosen = frozenset(map(State.called, states or ()))
    own_plan = plan(own, selection, states=chosen, upstream=upstream, dags=dags, now=now)
    requests: list[Progress] = []
    if not dry_run:
        options = RunOptions(concurrency, newest_first, stop_at_failure, label, conf or {}, while_paused)
        for request, producer in begin(own_plan, options, by=getuser() if by is None else by):
            work = partial(create_runs, request, producer)
            if later is not None:
                later(work)
                requests.append(Progress(request, "creating", {}))
            else:
                requests += _progress(iter([work()]), 1)
    return {
        "asset": asset,
        "plan": own_plan.to_json(),
        "requests": [each.to_json() for each in requests],
        "dry_run": dry_run,
    }


def create_requested(request: int) -> None:
    """Create the runs that the request of that number has not got yet."""
    create_runs(read_request(request))


def list_requests(
    *,
    asset: Collection[str] | None = None,
    states: Collection[str] | None = None,
    limit: int = USUAL,
    cursor: str | None = None,
    dags: Collection[str] | None = None,
) -> dict[str, Any]:
    """The requests for partitions, the newest first.

    :param asset: only those for partitions that the Dags of these assets make.
    :param states: only those in one of these states.
    :param dags: only those of Dags among these; all if not given.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of the asset.
    :raises SelectionError: for a cursor that no page has, and for what is no state.
    """
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < _LONGEST):
        raise SelectionError(f"cursor {cursor!r} is not one of a page; expected the number of a request")
    if unknown := set(states or ()) - set(REQUEST_STATES):
        names = ", ".join(REQUEST_STATES)
        raise SelectionError(f"{', '.join(sorted(unknown))}: no state of a request; expected one of {names}")
    if asset:
        producers = {dag_id for name in asset for dag_id in partitioned_asset(name).dags.producers}
        dags = producers if dags is None else producers.intersection(dags)
    requests = requests_of(dags, before=None if cursor is None else int(cursor))
    chosen = (one for one in _progress(requests, limit + 1) if not states or one.state in states)
    return page("requests", chosen, limit, Progress.to_json)


def _progress(requests: Iterator[Request], at_once: int) -> Iterator[Progress]:
    """How far the *requests* have come; asks for some at once."""
    while portion := list(islice(requests, at_once)):
        with session() as at:
            yield from progress_of_all(at, portion)


def show_request(request: int) -> dict[str, Any]:
    """How far the request of that number has come.

    :raises UnknownRequestError: if there is none.
    """
    return progress(request).to_json()


def pause_request(request: int, *, dry_run: bool = False) -> dict[str, Any]:
    """Begin no more runs of a request, for now; errors as for :func:`show_request`, and:

    :param dry_run: only tell how far it has come.
    :raises NotReadyError: if it has ended.
    """
    return (progress if dry_run else control.pause)(request).to_json()


def resume_request(request: int, *, dry_run: bool = False, create: bool = True) -> dict[str, Any]:
    """Go on with a request; arguments and errors as for :func:`pause_request`, and:

    :param create: create the runs that are missing, too; else ``create_requested`` does.
    """
    return (progress(request) if dry_run else control.resume(request, create=create)).to_json()


def cancel_request(request: int, *, dry_run: bool = False) -> dict[str, Any]:
    """Begin no more runs of a request, for good, also of one that can't be read, whose selection is empty then;
    arguments and errors as for :func:`pause_request`.
    """
    return (progress(request, damaged=True) if dry_run else control.cancel(request)).to_json()


def retry_request(request: int, *, dry_run: bool = False, create: bool = True) -> dict[str, Any]:
    """Let what failed of a request work again; arguments as for :func:`resume_request`, errors as for
    :func:`show_request`, and:

    :raises OverlapError: if another request asks for its partitions by now.
    :raises NotReadyError: if nothing failed.
    """
    return (progress(request) if dry_run else control.retry(request, create=create)).to_json()


def _asked_for(asset: PartitionedAsset, select: str | None, states: Collection[str] | None, now: datetime) -> Selection:
    if select is None and not states:
        raise SelectionError(
            "nothing says which partitions are meant; expected a selection such as 2013-03-01..2013-03-10, states such"
            " as missing, or all"
        )
    if select is None or select.strip() == "all":
        return AssetStates(asset, now).everything()
    return parse_selection(asset.definition, select, closed_by=now)
