"""``airflow asset-partitions plan``."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.keys_file import words_of
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.contract.requests import PlanPartitions

_FIELDS = ("asset", "dag_id", "role", "partitions", "begin", "again", "seconds", "bytes", "selection")


def plan(args: Namespace) -> None:
    """Show which partitions a request would make."""
    try:
        answer = source_of(args).ask(asked(PlanPartitions, args))
    except PartitionError as error:
        sys.exit(words_of(error, args))
    show(args.output, answer, plan_rows(answer), lambda: plan_table(answer))


def plan_rows(answer: dict[str, Any]) -> list[list[Any]]:
    """A line for each step."""
    return [[step[field] for field in _FIELDS] for step in answer["steps"]]


def plan_table(answer: dict[str, Any]) -> RenderableType:
    """The steps, what they take, and what is lacking."""
    numbers = [Column(name, justify="right", no_wrap=True) for name in ("makes", "now", "again", "time", "size")]
    table = Table(Column("asset", overflow="ellipsis"), "", *numbers, box=SIMPLE)
    which = []
    for step in answer["steps"]:
        texts = [step["partitions"], step["begin"], step["again"], _time(step["seconds"]), _size(step["bytes"])]
        role = "" if step["role"] == "asked" else step["role"]
        name = step["asset"] or step["dag_id"]
        table.add_row(escape(name), role, *map(str, texts))
        which.append(f"{name}: {step['selection']}")
    notes = [
        f"{step['asset'] or step['dag_id']}: {step['tasks']:,} task{'s' * (step['tasks'] > 1)}, of up to"
        f" {step['batch']:,} partitions each"
        for step in answer["steps"]
        if step["batch"] > 1
    ]
    notes += [
        f"{step['asset'] or step['dag_id']}: at most {most:,} run{'s' * (most > 1)} of each {dimension} at a time"
        for step in answer["steps"]
        for dimension, most in step["limits"].items()
    ]
    notes += [f"stays stale: {step['stays']} of {step['asset']}" for step in answer["steps"] if step["stays"]]
    notes += [
        f"lacking, and made by no Dag here: {text} of {name}"
        + (", the end of a range not included" if ".." in text else "")
        for name, text in answer["lacking"].items()
    ]
    if any(step["begin"] < step["partitions"] for step in answer["steps"]):
        notes.append("what does not begin now follows by events, once what it needs is there")
    return Group(table, *map(Text, [*which, *notes]))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def _size(size: int | None) -> str:
    return "" if size is None else decimal(round(size))
