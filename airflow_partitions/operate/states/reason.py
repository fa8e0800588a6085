"""Why a partition is what it is, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs
from sqlalchemy import select

from airflow_partitions.core.calendars.instants import utc
from airflow_partitions.core.definitions import WholeAsset
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.selection_words import selection_words
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.ledger.dag_runs import in_flight
from airflow_partitions.engine.ledger.holds import held_dags
from airflow_partitions.engine.ledger.last_times import LastTimes
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.marks import Adoption, Mark
from airflow_partitions.engine.ledger.materializations import forgetting_of
from airflow_partitions.engine.ledger.measures import Measures
from airflow_partitions.engine.ledger.scheduling_state import SchedulingState, is_active, scheduling_state
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.upstreams import Upstream, Upstreams
from airflow_partitions.operate.state import State, Status
from airflow_partitions.operate.states.run_details import RunDetails, run_details
from airflow_partitions.operate.states.slabs import selection_of
from airflow_partitions.operate.states.slot_words import slot_words

if TYPE_CHECKING:
    from airflow_partitions.operate.states.asset_states import AssetStates

_HIDDEN = "it needs an asset that you may not read"


@attrs.frozen(kw_only=True)
class Evidence:
    """What is known of one partition by itself.

    :ivar start: of its interval, aware, in the definition's zone; ``None`` without a time dimension.
    :ivar end: of its interval.
    :ivar events: its materializations, the newest first.
    :ivar runs: its runs, the newest first.
    :ivar now: as of when it is; aware.
    """

    asset: str
    key: Key
    status: Status
    start: datetime | None
    end: datetime | None
    events: tuple[LedgerRecord, ...]
    runs: tuple[RunDetails, ...]
    now: datetime


def reasons_of(of: AssetStates, evidence: Evidence) -> Iterator[str]:
    """Why a partition is what it is, each a sentence; the first tells the most."""
    state = evidence.status.state
    for absent in of.asset.dags.absent:
        yield f"{of.asset.name!r} is made by {absent.why}"
    newest = evidence.runs[0] if evidence.runs else None
    if state is State.RUNNING:
        yield from _past(of, evidence)
        yield from _at_work(evidence)
    elif state is State.QUEUED:
        yield from _past(of, evidence)
        yield from _queued(of, evidence)
    elif state is State.FAILED:
        failed = next((run for run in evidence.runs if run.state == "failed"), newest)
        yield from _failed(failed) if failed is not None else ["its newest run failed"]
    elif state is State.STALE:
        yield from _stale(of, evidence)
    elif state is State.SKIPPED and newest is not None:
        yield f"{_run(newest)} succeeded at {_time(newest.ended)}, but the task that makes it skipped itself"
        if newest.note:
            yield f"the note of the run says: {newest.note}"
    elif state in (State.WAITING, State.MISSING):
        yield from _lacking(of, evidence)
    if evidence.events:
        yield _made(evidence.events[0])
        if (unproven := Measures.of(evidence.events[0].extra).unproven) is not None:
            yield f"what it read of {unproven} is not proven: nothing counted it where its job ran"
    if evidence.status.provisional:
        yield f"that was before its interval was over, at {_time(evidence.end)}: it is provisional"


def _at_work(evidence: Evidence) -> Iterator[str]:
    for run in evidence.runs:
        if run.state == "running":
            tries = f", try {run.tries}" if run.tries > 1 else ""
            yield f"{_run(run)} has been at work since {_time(run.began)}{tries}"
        elif run.state == "queued" and run.leader is not None and run.error is None:
            yield f"run {run.leader} of {run.dag_id} makes it in its batch; {_run(run)} ends with that"


def _queued(of: AssetStates, evidence: Evidence) -> Iterator[str]:
    inactive = _inactive(of.asset.dags.producers)
    for run in evidence.runs:
        if run.state == "queued":
            is_paused = inactive.get(run.dag_id) == "paused"  # one that is draining begins what is queued
            why = f", and Dag {run.dag_id} is paused, so it does not begin" if is_paused else ""
            yield f"{_run(run)} has been queued since {_time(run.queued)}{why}"
            if (waits := slot_words(run.dag_id, run.run_id)) is not None:
                yield waits
            if run.leader is not None and run.error is not None:
                yield f"it failed in the batch of run {run.leader}, and is tried alone now: {run.error}"


def _failed(run: RunDetails) -> Iterator[str]:
    """What made it fail, before which run that was."""
    tasks = ", ".join(run.failed)
    if run.error is not None:
        tries = f" after {run.tries} tries" if run.tries > 1 and tasks == run.task_id else ""
        yield f"{f'task {tasks}' if tasks else 'it'} failed{tries}: {run.error}"
    of_tasks = f": {tasks}" if tasks and run.error is None else ""
    yield f"{_run(run)} failed at {_time(run.ended or run.began)}{of_tasks}; nothing has materialized it since it began"


def _made(event: LedgerRecord) -> str:
    mark, adoption = Mark.of(event.extra), Adoption.of(event.extra)
    if adoption is not None:
        return f"{adoption.by} took it over from {adoption.source}; it was materialized at {_time(event.last)}"
    if mark is not None:
        why = f": {mark.reason}" if mark.reason else ""
        return f"{mark.by} marked it as materialized at {_time(event.last)}{why}"
    by = "an event from outside" if event.run_id is None else f"run {event.run_id} of {event.dag_id}"
    return f"{by} materialized it at {_time(event.last)}"


def _stale(of: AssetStates, evidence: Evidence) -> Iterator[str]:
    for dag_id, upstreams in of.asset.upstreams.items():
        for name in upstreams.leaves:
            if of.tells(name):
                yield from _later(upstreams.member(name), of.upstream_times[name], evidence)
            else:
                yield "a partition of an asset that you may not read was perhaps materialized after it"
        policy = upstreams.run_policy
        if policy.is_past(evidence.end, of.now):
            yield f"Dag {dag_id} does not make it again for that (rerun={policy.rerun!r})"
        elif state := _inactive([dag_id]).get(dag_id):
            yield f"Dag {dag_id} is {state}, so it is not made again"
        else:
            begins = policy.begins(of.asset.definition.interval_of(evidence.key))
            if begins is not None and begins > of.now:
                yield f"Dag {dag_id} makes it again at {_time(begins)} (at={str(policy.at)!r})"
    for past in of.own_past:
        yield from _later(past, of.times, evidence)


def _later(member: Upstream, times: LastTimes, evidence: Evidence) -> Iterator[str]:
    """The upstream partitions that were materialized after it was, of which the latest is named."""
    if member.dependency.needs_tick or isinstance(member.definition, WholeAsset) or not evidence.events:
        return
    materialized = evidence.events[0].last
    needed = times.of(member.dependency.upstream(evidence.key, now=materialized))
    later = sorted((at, place) for place, at in needed.items() if utc(at) > materialized)
    if later:
        at, place = later[-1]
        more = f", and {len(later) - 1} more of them since it was made" if len(later) > 1 else ""
        upstream = times.places.key(place)
        yield f"partition {upstream} of {member.name!r}, which it needs, was materialized at {_time(utc(at))}{more}"


def _lacking(of: AssetStates, evidence: Evidence) -> Iterator[str]:
    if (part := forgetting_of(of.asset.name, evidence.key)) is not None and not evidence.events:
        why = f": {part.reason}" if part.reason else ""
        yield f"{part.by} forgot it at {_time(part.at)}{why}"
    if evidence.end is not None and evidence.end > of.now:
        yield f"its interval is not over before {_time(evidence.end)}"
    complete = bool(of.asset.upstreams)
    for upstreams in of.asset.upstreams.values():
        for name in upstreams.leaves:
            needs = _needs(of, upstreams, name, evidence.key) if of.tells(name) else [_HIDDEN]
            for sentence in needs:
                complete = False
                yield sentence
    for sentence in _past(of, evidence):
        complete = False
        yield sentence
    if complete:
        for sentence in _early(of, evidence):
            complete = False
            yield sentence
    for dag_id, state in _inactive(of.asset.dags.producers).items():
        yield f"Dag {dag_id}, which makes it, is {state}"
    for dag_id, numbers in held_dags(of.asset.dags.producers).items():
        yield (
            f"Dag {dag_id}, which makes it, was paused: it works for request {', '.join(map(str, numbers))} alone until"
            " that has ended, and is paused again then"
        )
    if complete and evidence.status.state is State.MISSING:
        yield "all that it needs is there, but no run was made: history is not made by itself; ask for it"
    if not of.asset.upstreams and not evidence.runs and (evidence.end is None or evidence.end <= of.now):
        yield from _never_due(of)


def _needs(of: AssetStates, upstreams: Upstreams, name: str, key: Key) -> Iterator[str]:
    """What it lacks of an upstream asset, or waits for there."""
    member = upstreams.member(name)
    needed = member.dependency.upstream(key, now=of.now)
    if isinstance(member.definition, WholeAsset):
        if not of.upstream_times[name].of(needed):
            yield f"{name!r}, which has no partitions, has had no event yet"
        return
    times = of.upstream_times[name].of(needed)
    by_start: dict[int, list[tuple[str, ...]]] = {}
    for place in times:
        by_start.setdefault(place.start, []).append(place.segments)
    there = selection_of(member.definition, by_start)
    lacking = needed - there
    since = f", the last since {_time(utc(max(times.values())))}" if times else ""
    if not needed:
        yield f"{name!r} has no partitions that belong to it"
    elif lacking:
        number = f"{len(there)} of {len(needed)} partitions of {name!r} that it needs are there"
        yield f"{number}{since}; {_some(lacking)} lacking"
    flying = in_flight([name])[name]
    at_work = [(text, began) for one in needed for text in member.texts(one) if (began := flying.get(text)) is not None]
    if at_work:
        text, began = at_work[0]
        yield f"partition {text} of {name!r}, which it needs, has been in the making since {_time(began)}"


def _early(of: AssetStates, evidence: Evidence) -> Iterator[str]:
    """Until when a Dag does not make it by itself, though all that it needs is there."""
    interval = of.asset.definition.interval_of(evidence.key)
    for dag_id, upstreams in of.asset.upstreams.items():
        begins = upstreams.run_policy.begins(interval)
        if begins is not None and begins > of.now:
            at = str(upstreams.run_policy.at)
            yield f"all that it needs is there; Dag {dag_id} makes it at {_time(begins)} (at={at!r})"


def _past(of: AssetStates, evidence: Evidence) -> Iterator[str]:
    """What it lacks of the partitions before it, if it needs some."""
    for timetable in of.asset.timetables.values():
        if not isinstance(timetable, Partitioned) or timetable.own_past is None:
            continue
        needed = timetable.own_past.upstream(evidence.key)
        there = of.times.of(needed)
        for key in needed:
            if of.times.places.of(key) not in there:
                run = next(iter(run_details(str(key), of.tasks)), None)
                why = f": {_run(run)} is {run.state}" if run is not None else ""
                yield f"it needs partition {key} before it, which is not there{why}"


def _never_due(of: AssetStates) -> Iterator[str]:
    timetables = [of.asset.timetables.get(dag_id) for dag_id in of.asset.dags.producers]
    scheduled = [one for one in timetables if isinstance(one, Partitioned) and one.can_be_scheduled]
    if scheduled:
        yield "no run was made for it: its tick came before the Dag was unpaused, or is still to come; ask for it"
    elif timetables:
        yield "its Dag has no schedule: it runs when it is asked for"
    else:
        yield "no Dag makes it: events come from outside"


def _some(selection: Selection) -> str:
    return f"{selection_words(selection)} {'is' if len(selection) == 1 else 'are'}"


def _inactive(dag_ids: Collection[str]) -> dict[str, SchedulingState]:
    from airflow.models.dag import DagModel

    query = select(DagModel.dag_id, scheduling_state()).where(DagModel.dag_id.in_(dag_ids), ~is_active())
    with open_connection() as connection:
        return dict(connection.execute(query.order_by(DagModel.dag_id)).all())


def _run(run: RunDetails) -> str:
    return f"run {run.run_id} of {run.dag_id}"


def _time(at: datetime | None) -> str:
    return "an unknown time" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
