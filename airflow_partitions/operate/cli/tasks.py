"""``airflow asset-partitions tasks``."""

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
from airflow_partitions.operate.cli.strip import Look
from airflow_partitions.operate.contract.tasks import ShowTasks

#: How Airflow's states of tasks look, what is worst first.
_LOOKS: Mapping[str | None, Look] = {
    "failed": Look("✗", "red"),
    "upstream_failed": Look("▲", "yellow"),
    "up_for_retry": Look("↻", "yellow"),
    "restarting": Look("↻", "magenta"),
    "running": Look("▶", "blue"),
    "awaiting_input": Look("?", "yellow"),
    "deferred": Look("○", "magenta"),
    "up_for_reschedule": Look("○", "cyan"),
    "queued": Look("◇", "cyan"),
    "scheduled": Look("◇", "bright_black"),
    None: Look("-", "bright_black"),
    "removed": Look("-", "bright_black"),
    "skipped": Look("~", "bright_black"),
    "success": Look("█", "green"),
}
_NO_RUN = Look("·", "bright_black")
_UNKNOWN = Look("?", "")


def tasks(args: Namespace) -> None:
    """Show the tasks that make an asset, partition by partition."""
    try:
        answer = source_of(args).ask(asked(ShowTasks, args))
    except PartitionError as error:
        sys.exit(str(error))
    show(args.output, answer, _rows(answer), lambda: _matrix(answer))


def _rows(answer: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Of each task in a run: Dag, task, partition, state, tries, and seconds."""
    for dag in answer["dags"]:
        for task in dag["tasks"]:
            for partition, cell in zip(answer["partitions"], task["cells"], strict=True):
                if cell is not None:
                    told = (cell[name] for name in ("state", "tries", "seconds"))
                    yield [dag["dag_id"], task["task_id"], partition["key"], *told]


def _matrix(answer: Mapping[str, Any]) -> RenderableType:
    partitions = answer["partitions"]
    if not partitions:
        return Text("there are no such partitions")
    ends = " to ".join(dict.fromkeys((partitions[0]["key"], partitions[-1]["key"])))
    table = Table(Column("task", overflow="fold"), Column(escape(ends), no_wrap=True), box=SIMPLE)
    numbers: dict[str | None, int] = {}
    for dag in answer["dags"]:
        if len(answer["dags"]) > 1:
            table.add_row(Text(dag["dag_id"], style="bold"))
        for task in dag["tasks"]:
            table.add_row(Text(task["task_id"]), _line(task["cells"]))
            for cell in filter(None, task["cells"]):
                numbers[cell["state"]] = numbers.get(cell["state"], 0) + 1
    parts: list[RenderableType] = [Text(answer["asset"], style="bold"), table, _legend(numbers)]
    if answer["cursor"] is not None:
        parts.append(Text(f"the {len(partitions):,} newest; those before them: --after '{answer['cursor']}'"))
    return Group(*parts)


def _line(cells: Sequence[Mapping[str, Any] | None]) -> Text:
    """A character for each partition."""
    line = Text()
    for cell in cells:
        shape, colour = _NO_RUN if cell is None else _LOOKS.get(cell["state"], _UNKNOWN)
        line.append(shape, style=colour)
    return line


def _legend(numbers: Mapping[str | None, int]) -> Text:
    """How many tasks are in each state, with its shape."""
    states = [*(state for state in _LOOKS if state in numbers), *(state for state in numbers if state not in _LOOKS)]
    looks = ((state, _LOOKS.get(state, _UNKNOWN)) for state in states)
    parts = [
        Text(f"{look.shape} {state or 'not begun'}", style=look.colour).append(f" {numbers[state]:,}", style="default")
        for state, look in looks
    ]
    return Text("   ").join([*parts, Text(f"{_NO_RUN.shape} no run", style=_NO_RUN.colour)])
