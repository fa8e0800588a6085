"""One day, asked for through Airflow's backfill and waited for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

import attrs
import httpx

from airflow_partitions.demo.api import Api
from airflow_partitions.demo.errors import DemoError
from airflow_partitions.demo.landing import hours_of

AIRPORTS = ("EWR", "JFK", "LGA")
ENDED = ("success", "failed")
PARSED_WITHIN = 120.0  # seconds until the Dags must be there
STUCK_AFTER = 600.0  # seconds without any run changing its state


@attrs.frozen
class Request:
    """The partitions of one asset that make up the day."""

    asset: str
    first: datetime
    last: datetime
    keys: tuple[str, ...]


def requests(day: date) -> tuple[Request, Request]:
    """The hours of *day* of the hourly asset, and the day of each airport."""
    hours = hours_of(day)
    return (
        Request("hourly_flights", hours[0], hours[-1], tuple(hour.isoformat(timespec="minutes") for hour in hours)),
        Request("airport_days", hours[0], hours[0], tuple(f"{day}|{airport}" for airport in AIRPORTS)),
    )


@attrs.frozen
class Run:
    """The newest Dag run of a partition."""

    asset: str
    key: str
    id: str
    state: str


def submit(api: Api, request: Request) -> None:
    """Ask for what is missing or failed; when that is under way already, nothing more is asked."""
    _wait_until_parsed(api, request.asset)
    api.patch(f"dags/{request.asset}", {"is_paused": False})
    done = {run.key for run in runs(api, request) if run.state != "failed"}
    if done.issuperset(request.keys):
        return
    body = {
        "dag_id": request.asset,
        "from_date": request.first.isoformat(),
        "to_date": request.last.isoformat(),
        "reprocess_behavior": "failed",
        "max_active_runs": len(request.keys),
    }
    api.post("backfills", body, known=(httpx.codes.CONFLICT,))  # one backfill of a Dag at a time: it is ours, cut off


def runs(api: Api, request: Request) -> list[Run]:
    """The newest run of each partition of the request that has one."""
    found: dict[str, Run] = {}
    for run in _pages(
        api, f"dags/{request.asset}/dagRuns", "dag_runs", partition_key_prefix_pattern=request.keys[0][:10]
    ):
        if run["partition_key"] in request.keys:
            found[run["partition_key"]] = Run(request.asset, run["partition_key"], run["dag_run_id"], run["state"])
    return [found[key] for key in request.keys if key in found]


def wait(
    api: Api, wanted: tuple[Request, ...], tell: Callable[[int, str], object], check: Callable[[], object]
) -> list[Run]:
    """Wait until every partition has a run that ended.

    :param tell: is told how many have ended, and the counts by state, whenever that changes.
    :param check: raises if there is no sense in waiting on.
    """
    total = sum(len(request.keys) for request in wanted)
    before, changed = "", time.monotonic()
    while True:
        check()
        _check_imports(api)
        found = [run for request in wanted for run in runs(api, request)]
        states = Counter(run.state for run in found)
        ended = sum(states[state] for state in ENDED)
        words = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "no run yet"
        if words != before:
            tell(ended, words)
            before, changed = words, time.monotonic()
        if ended == total:
            return found
        if time.monotonic() - changed > STUCK_AFTER:
            raise DemoError(f"nothing has moved for {STUCK_AFTER / 60:.0f} minutes: {words}, of {total} partitions")
        time.sleep(2)


def log_of(api: Api, run: Run, lines: int = 25) -> str:
    """The last lines of what the run's task logged."""
    path = f"dags/{run.asset}/dagRuns/{run.id}/taskInstances"
    for task in api.get(path)["task_instances"]:
        answer = api.get(f"{path}/{task['task_id']}/logs/{task['try_number']}", full_content=True)
        told = [entry if isinstance(entry, str) else _line(entry) for entry in (answer or {}).get("content", [])]
        return "\n".join(f"  | {line}" for line in told[-lines:])
    return "  | (no task)"


def _line(entry: dict[str, Any]) -> str:
    errors = [f"{error.get('exc_type')}: {error.get('exc_value')}" for error in entry.get("error_detail") or ()]
    return " ".join([str(entry.get("event", "")), *errors])


def _pages(api: Api, path: str, field: str, **query: Any) -> Iterator[dict[str, Any]]:
    """All items, oldest first, so that a later one takes the place of an earlier one."""
    offset = 0
    while True:
        page = api.get(path, limit=100, offset=offset, order_by="id", **query)
        yield from page[field]
        offset += len(page[field])
        if not page[field] or offset >= page["total_entries"]:
            return


def _check_imports(api: Api) -> None:
    for error in api.get("importErrors")["import_errors"]:
        raise DemoError(f"{error['filename']} can't be imported:\n{error['stack_trace']}")


def _wait_until_parsed(api: Api, dag: str) -> None:
    deadline = time.monotonic() + PARSED_WITHIN
    while time.monotonic() < deadline:
        _check_imports(api)
        found = api.get(f"dags/{dag}")
        if found and not found["is_stale"]:
            return
        time.sleep(1)
    raise DemoError(f"Airflow has not found the Dag {dag!r} within {PARSED_WITHIN:.0f} seconds; see dag-processor.log")
