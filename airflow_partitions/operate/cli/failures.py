"""``airflow asset-partitions failures`` and ``changes``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.failures import ListFailures

_KINDS = "failed", "late", "stale", "missing"


def failures(args: Namespace) -> None:
    """Show the failed partitions by their errors."""
    try:
        answer = source_of(args).ask(asked(ListFailures, args))
    except PartitionError as error:
        sys.exit(str(error))
    rows = [
        [one["count"], asset["asset"], asset["count"], asset["partitions"], one["since"], one["error"]]
        for one in answer["failures"]
        for asset in one["assets"]
    ]
    rows += [[None, None, None, None, None, problem] for problem in answer["problems"]]
    show(args.output, answer, rows, lambda: _failures(answer))


def changes(args: Namespace) -> None:
    """Show what got worse since a time."""
    try:
        answer = source_of(args).ask(asked(ListChanges, args))
    except PartitionError as error:
        sys.exit(str(error))
    rows = [
        [one["asset"], kind, one[kind]["count"], one[kind]["partitions"]]
        for one in answer["assets"]
        for kind in _KINDS
        if one[kind] is not None
    ]
    rows += [[one["asset"], "unknown", None, one["error"]] for one in answer["assets"] if one["error"] is not None]
    show(args.output, answer, rows, lambda: _changes(answer))


def failure_lines(failures: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """For each error the partitions that have failed by it."""
    for one in failures:
        assets, count = one["assets"], one["count"]
        of = f" of {len(assets)} assets" if len(assets) > 1 else f" of {assets[0]['asset']}"
        since = "" if one["since"] is None else f", since {_time(one['since'])}"
        tasks = f" ({', '.join(one['tasks'])})" if one["tasks"] else ""
        yield Text(f"{count:,} partition{'s' * (count > 1)}{of}{since}{tasks}").append(
            f"\n  {one['error']}", style="red"
        )


def _failures(answer: Mapping[str, Any]) -> RenderableType:
    parts: list[RenderableType] = []
    for one, line in zip(answer["failures"], failure_lines(answer["failures"]), strict=True):
        parts.append(line)
        parts += (
            Text(f"  {asset['asset']}: {asset['count']:,}: {asset['partitions']}", style="dim")
            for asset in one["assets"]
        )
    if not parts:
        parts.append("nothing is failed")
    if answer["unread"]:
        parts.append(f"{answer['unread']:,} older ones were not looked at")
    parts += (Text(problem, style="yellow") for problem in answer["problems"])
    if answer["cursor"] is not None:
        parts.append(f"more: --after {answer['cursor']}")
    return Group(*parts)


def _changes(answer: Mapping[str, Any]) -> RenderableType:
    table = Table("asset", "since then", Column("number", justify="right"), "partitions", box=SIMPLE)
    for one in answer["assets"]:
        name = escape(one["asset"])
        for kind in _KINDS:
            if one[kind] is not None:
                table.add_row(name, kind, f"{one[kind]['count']:,}", escape(one[kind]["partitions"]))
                name = ""
        if one["error"] is not None:
            table.add_row(name, "unknown", "", escape(one["error"]))
    parts: list[RenderableType] = [table] if answer["assets"] else [f"nothing got worse since {answer['since']}"]
    if answer["cursor"] is not None:
        parts.append(f"more: --after {answer['cursor']}")
    return Group(*parts)


def _time(text: str) -> str:
    return f"{text[:19].replace('T', ' ')} UTC"
