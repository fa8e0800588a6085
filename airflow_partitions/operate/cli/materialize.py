"""``airflow asset-partitions materialize``."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text
from sqlalchemy.exc import DBAPIError

from airflow_partitions.core.errors import PartitionError, RemoteError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.keys_file import words_of
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.plan import plan_rows, plan_table
from airflow_partitions.operate.cli.requests import requests_table
from airflow_partitions.operate.cli.source import Source, source_of
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.requests import MaterializePartitions, ShowRequest

#: Exit status where a request that was waited for has ended or stands still otherwise than well.
FAILED, STANDS_STILL = 3, 4
_LOOK_AGAIN, _LONGEST_PAUSE = 2.0, 60.0
_ENDED = ("success", "skipped", "failed", "again", "elsewhere", "deleted")


def materialize(args: Namespace) -> None:
    """Ask for partitions, and wait for them if that is said."""
    ask_for(MaterializePartitions, args, shown)


def ask_for(operation: type[Operation], args: Namespace, as_shown: Callable[[dict[str, Any]], RenderableType]) -> None:
    """Ask for an *operation* whose answer has a plan and requests, and wait for these if that is said."""
    try:
        source = source_of(args)
        answer = source.ask(asked(operation, args))
        if args.wait and answer["requests"]:
            answer["requests"] = _wait(source, answer["requests"])
    except PartitionError as error:
        sys.exit(words_of(error, args))
    rows = plan_rows(answer["plan"]) if args.dry_run else [[r["id"], r["state"]] for r in answer["requests"]]
    show(args.output, answer, rows, lambda: as_shown(answer))
    if args.wait:
        sys.exit(_status({request["state"] for request in answer["requests"]}))


def _wait(source: Source, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requests as they are when none goes on any more; meanwhile a bar for each, on the error stream.

    They go on without whoever waits: so while the database or the API server is away it looks again, ever less often.
    """
    pause = _LOOK_AGAIN
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks = [
            bars.add_task(f"request {request['id']}, {request['asset']}", total=request["partitions"])
            for request in requests
        ]
        while True:
            for task, request in zip(tasks, requests, strict=True):
                runs = request["runs"]
                ended = sum(runs.get(name, 0) for name in _ENDED)
                failed = f", {runs['failed']} failed" if runs.get("failed") else ""
                description = f"request {request['id']}, {request['asset']}: {request['state']}{failed}"
                bars.update(task, completed=ended, description=description)
            if not any(request["state"] in ("creating", "running") for request in requests):
                return requests
            time.sleep(pause)
            try:
                requests = [source.ask(ShowRequest(request=request["id"])) for request in requests]
            except (DBAPIError, RemoteError) as error:
                if isinstance(error, RemoteError) and not error.may_pass:
                    raise
                pause = min(2 * pause, _LONGEST_PAUSE)
                reason = error.orig if isinstance(error, DBAPIError) else error
                bars.console.print(f"no answer, so it looks again in {pause:.0f} s: {reason}", markup=False)
            else:
                pause = _LOOK_AGAIN


def _status(states: set[str]) -> int:
    if states & {"cancelled", "paused", "stopped"}:
        return STANDS_STILL
    return FAILED if "failed" in states else 0


def shown(answer: dict[str, Any]) -> RenderableType:
    """A plan, and the requests that come of it."""
    parts: list[RenderableType] = [plan_table(answer["plan"])]
    if answer["requests"]:
        parts.append(requests_table(answer["requests"], "requests"))
    return Group(*parts, *map(Text, answer["notes"]))
