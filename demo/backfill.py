"""Partitions asked for through Airflow's backfill, and those that follow from them, waited for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import attrs
import httpx

from demo.api import Api
from demo.errors import DemoError
from demo.plan import Target

ENDED = ("success", "failed")
PARSED_WITHIN = 120.0  # seconds until the Dags must be there
STUCK_AFTER = 600.0  # seconds without any run changing its state
PAUSE = 3.0  # seconds between two looks
ACTIVE = 32  # runs of a backfill at a time: more than are worked on, and few to look after


@attrs.frozen
class Run:
    """A Dag run of a partition."""

    asset: str
    key: str
    id: str
    state: str

    @property
    def ended(self) -> bool:
        """Whether it will not change any more by itself."""
        return self.state in ENDED


def ready(api: Api, assets: Iterable[str]) -> None:
    """Wait until Airflow knows the Dags of *assets* and lets them run."""
    for asset in assets:
        _wait_until_parsed(api, asset)
        api.patch(f"dags/{asset}", {"is_paused": False})


def submit(api: Api, target: Target) -> bool:
    """Ask for what is missing or failed; ``False`` if a backfill of the asset is under way, of which there can be one.

    What comes by itself is only asked for again where it has failed.
    """
    newest = latest(api, target)
    failed = [run for run in newest if run.state == "failed"]
    if target.bounds is None:
        for run in failed:
            clear(api, run)
        return True
    if len(newest) - len(failed) == len(target.keys):
        return True
    body = {
        "dag_id": target.asset,
        "from_date": target.bounds[0].isoformat(),
        "to_date": target.bounds[1].isoformat(),
        "reprocess_behavior": "failed",
        "max_active_runs": min(len(target.keys), ACTIVE),
    }
    return api.post("backfills", body, known=(httpx.codes.CONFLICT,)) is not None


def trigger(api: Api, target: Target) -> None:
    """Ask for a run by hand of each partition that has none."""
    there = {run.key for run in latest(api, target)}
    for key in target.keys:
        if key not in there:
            api.post(f"dags/{target.asset}/dagRuns", {"logical_date": None, "partition_key": key})


def clear(api: Api, run: Run) -> None:
    """Make the partition again, as a new try of its run."""
    api.post(f"dags/{run.asset}/dagRuns/{run.id}/clear", {"dry_run": False})


def runs(api: Api, asset: str, prefix: str = "2013-") -> list[Run]:
    """All runs that make a partition of *asset* whose key starts with *prefix*, oldest first."""
    pages = api.pages(f"dags/{asset}/dagRuns", "dag_runs", partition_key_prefix_pattern=prefix)
    return [Run(asset, run["partition_key"], run["dag_run_id"], run["state"]) for run in pages]


def under_way(api: Api, asset: str) -> bool:
    """Whether a run of *asset* is queued or running."""
    page = api.get(f"dags/{asset}/dagRuns", state=["queued", "running"], limit=1)
    return bool(page["dag_runs"])


def latest(api: Api, target: Target) -> list[Run]:
    """The newest run of each partition of *target* that has one."""
    month = target.keys[0][:7]
    by_key = {run.key: run for run in runs(api, target.asset, month)}
    return [by_key[key] for key in target.keys if key in by_key]


def wait(
    api: Api,
    everything: Sequence[Target],
    tell: Callable[[int, str], object],
    check: Callable[[], object],
    pause: float = PAUSE,
) -> list[Run]:
    """Ask for what is to be asked for, and wait until every partition has a run that ended; return these runs.

    When a run has failed, what can't follow any more is not waited for.

    :param tell: is told how many have ended, and how many of them failed, whenever a state changes.
    :param check: raises if there is no sense in waiting on.
    """
    total = sum(len(target.keys) for target in everything)
    open_targets = list(everything)
    there: dict[Target, list[Run]] = {}
    before, changed = Counter[str](), time.monotonic()
    while True:
        check()
        _check_imports(api)
        open_targets = [target for target in open_targets if not submit(api, target)]
        there |= {target: latest(api, target) for target in everything if not _complete(there.get(target, ()), target)}
        newest = [run for target in everything for run in there[target]]
        states = Counter(run.state for run in newest)
        ended = sum(run.ended for run in newest)
        if states != before:
            tell(ended, f"{states['failed']} failed" if states["failed"] else "")
            before, changed = states, time.monotonic()
        if not open_targets and (ended == total or (states["failed"] and ended == len(newest))):
            return newest
        if time.monotonic() - changed > STUCK_AFTER:
            words = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "no run yet"
            raise DemoError(f"nothing has moved for {STUCK_AFTER / 60:.0f} minutes: {words}, of {total} partitions")
        time.sleep(pause)


def _complete(newest: Collection[Run], target: Target) -> bool:
    return len(newest) == len(target.keys) and all(run.state == "success" for run in newest)


def seconds(api: Api, run: Run) -> float:
    """How long the run's task took."""
    tasks = api.get(f"dags/{run.asset}/dagRuns/{run.id}/taskInstances")["task_instances"]
    return sum(task["duration"] or 0 for task in tasks)


def log_of(api: Api, run: Run, lines: int = 25) -> str:
    """The last lines of what the run's task logged."""
    entries = [entry if isinstance(entry, str) else _line(entry) for entry in _entries(api, run)]
    return "\n".join(f"  | {line}" for line in entries[-lines:]) or "  | (no log)"


def error_of(api: Api, run: Run) -> str:
    """The error that the run's task failed with; ``""`` if its log has none."""
    errors = [error for entry in _entries(api, run) if isinstance(entry, dict) for error in _errors(entry)]
    return errors[-1] if errors else ""


def _entries(api: Api, run: Run) -> list[Any]:
    """The log of the run's task."""
    path = f"dags/{run.asset}/dagRuns/{run.id}/taskInstances"
    for task in api.get(path)["task_instances"]:
        answer = api.get(f"{path}/{task['task_id']}/logs/{task['try_number']}", full_content=True)
        return list((answer or {}).get("content", []))
    return []


def _line(entry: dict[str, Any]) -> str:
    return " ".join([str(entry.get("event", "")), *_errors(entry)])


def _errors(entry: dict[str, Any]) -> list[str]:
    return [f"{error.get('exc_type')}: {error.get('exc_value')}" for error in entry.get("error_detail") or ()]


def _check_imports(api: Api) -> None:
    for error in api.get("importErrors")["import_errors"]:
        raise DemoError(f"{error['filename']} can't be imported:\n{error['stack_trace']}")


def _wait_until_parsed(api: Api, dag: str) -> None:
    deadline = time.monotonic() + PARSED_WITHIN
    while time.monotonic() < deadline:
        _check_imports(api)
        dag_form = api.get(f"dags/{dag}")
        if dag_form and not dag_form["is_stale"]:
            return
        time.sleep(1)
    raise DemoError(f"Airflow has not found the Dag {dag!r} within {PARSED_WITHIN:.0f} seconds; see dag-processor.log")
