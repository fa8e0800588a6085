"""``airflow asset-partitions board``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.output import console, show
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.cli.strip import drawn, legend
from airflow_partitions.operate.contract.board import ShowBoard

#: Without a terminal strips are no wider.
_WIDEST = 100
#: Names longer than that are broken.
_LONGEST = 40


def board(args: Namespace) -> None:
    """Show all assets over one stretch of time."""
    try:
        answer = source_of(args).ask(asked(ShowBoard, args))
    except PartitionError as error:
        sys.exit(str(error))
    show(args.output, answer, _rows(answer), lambda: _table(answer))


def _rows(page: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Of each asset the states of its partitions, slot by slot: asset, segment, first and last key, state, number."""
    for strip in page["strips"]:
        if strip["error"] is not None:
            yield [strip["asset"], None, None, None, "unknown", strip["error"]]
        for value, runs in [(None, strip["runs"]), *((row["value"], row["runs"]) for row in strip["rows"])]:
            for slot, counts in _slots(page, strip, runs):
                for state, number in counts.items():
                    yield [strip["asset"], value, slot.get("first"), slot.get("last"), state, number]


def _slots(
    page: Mapping[str, Any], strip: Mapping[str, Any], runs: list[tuple[int, int]]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, int]]]:
    """The slots of a row, each with numbers by state; without time a single one."""
    slots = [{}] if strip["scale"] is None else page["scales"][strip["scale"]]["slots"]
    cells = (cell for length, cell in runs for _ in range(length))
    return ((slot, page["cells"][cell]["states"]) for slot, cell in zip(slots, cells, strict=False))


def _table(page: Mapping[str, Any]) -> RenderableType:
    columns, strips = page["columns"], page["strips"]
    label = min(_LONGEST, max((len(strip["asset"]) for strip in strips), default=0))
    width = max(20, min(console().width - label - 8, _WIDEST))
    first, last = (text[:16].replace("T", " ") for text in (columns[0]["start"], columns[-1]["end"]))
    head = f"{first} to {last}, {page['timezone']}"
    table = Table(Column("asset", overflow="fold", max_width=_LONGEST), Column(head, no_wrap=True), box=SIMPLE)
    total: dict[str, int] = {}
    for strip in strips:
        table.add_row(Text(strip["asset"], style="bold"), _line(page, strip, strip["runs"], len(columns), width))
        for row in strip["rows"]:
            table.add_row(Text(f"  {row['value']}"), _line(page, strip, row["runs"], len(columns), width))
        for state, number in strip["counts"].items():
            total[state] = total.get(state, 0) + number
    parts: list[RenderableType] = [table, legend(total)] if strips else ["no assets"]
    if page["hidden"]:
        parts.append(f"{page['hidden']:,} assets that you may not read are left out")
    if page["cursor"] is not None:
        parts.append(f"more: --after {page['cursor']}")
    return Group(*parts)


def _line(
    page: Mapping[str, Any], strip: Mapping[str, Any], runs: list[tuple[int, int]], columns: int, width: int
) -> Text:
    """A row of characters, or why there is none."""
    if strip["error"] is not None:
        return Text(strip["error"], style="red")
    spans: list[tuple[float, float, str]] = []
    for slot, counts in _slots(page, strip, runs):
        first = slot.get("column", 0)
        spans += ((first, first + slot.get("columns", columns), state) for state in counts)
    if strip["scale"] is None:
        return Text("no time: ", style="dim").append_text(legend(strip["counts"]))
    line = drawn(spans, width, (0, columns)) if spans else Text("no partitions here", style="dim")
    for dag in strip["absent"]:
        line.append(f"\n{dag['text']}", style="red")
    return line
