"""What was made: a row per partition, and the tables that show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any

import attrs
from rich import box
from rich.console import Console
from rich.table import Table

from demo.api import Api
from demo.backfill import Run, seconds
from demo.firing import Firing
from demo.plan import HOURLY
from demo.published import rows_of

MOST = 300  # columns of a terminal
COLUMNS = (
    "carrier",
    "flight",
    "origin",
    "dest",
    "dep_delay",
    "wind_speed",
    "visib",
    "flights",
    "cancelled",
    "mean_delay",
)
SHOWN = 6  # rows of a partition
VALUES = ("hours", "flights", "cancelled", "delay")  # shown of departures

Stored = Callable[[str], int]  # name of an input -> how many files it has
Totals = Callable[[str, str], dict[str, float]]  # asset and key -> totals of what is published


@attrs.frozen(kw_only=True)
class Row:
    """One partition: its run, the counts in its asset event, and the totals of what is published.

    :ivar files_there: all files in the storage of the inputs.
    """

    asset: str
    partition: str
    state: str
    seconds: float
    rows_in: dict[str, int]
    rows_out: int | None
    files_read: int
    files_there: int
    published: dict[str, float]

    @classmethod
    def of(cls, run: Run, extra: dict[str, Any], seconds: float, stored: Stored, totals: Totals) -> Row:
        """The row of *run*, whose asset event has *extra*."""
        reads = extra.get("reads", {})
        return cls(
            asset=run.asset,
            partition=run.key,
            state=run.state,
            seconds=seconds,
            rows_in={name: counts["rows"] for name, counts in reads.items()},
            rows_out=extra.get("rows"),
            files_read=sum(counts["files"] for counts in reads.values()),
            files_there=sum(map(stored, reads)),
            published=totals(run.asset, run.key),
        )


def collect(api: Api, runs: Iterable[Run], stored: Stored, totals: Totals) -> list[Row]:
    """One row per run, from the asset events, the task instances and what is published."""
    rows = []
    for run in runs:
        events = api.get("assets/events", source_dag_id=run.asset, source_run_id=run.id, order_by="-timestamp", limit=1)
        extra = next((event["extra"] for event in events["asset_events"] if event["partition_key"] == run.key), None)
        rows.append(Row.of(run, extra or {}, seconds(api, run), stored, totals))
    return rows


def show_partition(run: Run, lake: Path, console: Console) -> None:
    """Print the first rows of the partition that *run* has made."""
    rows = rows_of(lake, run.asset, run.key)
    columns = [name for name in COLUMNS if name in rows]
    title = f"{run.asset} {run.key}: {len(rows)} rows" + (f", {SHOWN} of them" if len(rows) > SHOWN else "")
    console.print(title, markup=False, highlight=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    for name in columns:
        table.add_column(name, justify="left" if rows[name].dtype.kind not in "iuf" else "right", no_wrap=True)
    for values in rows[columns].head(SHOWN).itertuples(index=False):
        table.add_row(*map(_cell, values))
    print_table(table, console)


def show(rows: Iterable[Row], console: Console) -> None:
    """Print one table of the day, and one of what was made around the clock changes: its hours summed up by day."""
    rows = list(rows)
    departures = [row for row in rows if row.asset.endswith("_departures")]
    print_table(_table((row for row in rows if row not in departures), ()), console)
    if departures:
        hourly = [row for row in departures if row.asset == HOURLY]
        days = [_day(day, list(hours)) for day, hours in groupby(hourly, lambda row: row.partition[:10])]
        show_with_values([*days, *(row for row in departures if row.asset != HOURLY)], VALUES, console)


def show_with_values(rows: Iterable[Row], values: Iterable[str], console: Console) -> None:
    """Print one table, with these *values* of what is published."""
    print_table(_table(rows, values), console)


def show_firing(again: str, firing: Firing, console: Console) -> None:
    """Print what followed from making the hour *again* once more."""
    console.print(f"{HOURLY} {again} was made again, and by themselves:", highlight=False)
    for asset, key in firing.fired:
        console.print(f"  {asset} {key}", highlight=False)


def show_readers(overview: Iterable[dict[str, str]], console: Console) -> None:
    """Print what each reader sees: a line of names and values for each of them."""
    table = Table(box=box.SIMPLE_HEAD)
    for number, cells in enumerate(overview):
        for name in () if number else cells:
            table.add_column(name, justify="left" if name == "reader" else "right", no_wrap=True)
        table.add_row(*cells.values())
    print_table(table, console)


def print_table(table: Table, console: Console) -> None:
    """Print a table as wide as it has to be: a line that wraps is better than one that is cut."""
    needed = console.measure(table, options=console.options.update_width(MOST)).maximum
    console.width = max(console.width, needed)
    console.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if isnan(value) else f"{value:.1f}"
    return str(value)


def _day(day: str, hours: list[Row]) -> Row:
    """The hours of a day as one row."""
    return Row(
        asset=HOURLY,
        partition=f"{day}, hour by hour",
        state=" and ".join(sorted({row.state for row in hours})),
        seconds=sum(row.seconds for row in hours),
        rows_in=dict(sum((Counter(row.rows_in) for row in hours), Counter[str]())),
        rows_out=sum(row.rows_out or 0 for row in hours),
        files_read=sum(row.files_read for row in hours),
        files_there=max(row.files_there for row in hours),
        published={
            "hours": len(hours),
            **{name: sum(row.published.get(name, 0) for row in hours) for name in VALUES[1:]},
        },
    )


def _table(rows: Iterable[Row], values: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("asset", "partition", "state"):
        table.add_column(name, no_wrap=True)
    for name in (*values, "rows in", "rows out", "files read", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        colour = "green" if row.state == "success" else "red"
        table.add_row(
            row.asset,
            row.partition,
            f"[{colour}]{row.state}[/]",
            *(f"{row.published[name]:,.0f}" if name in row.published else "-" for name in values),
            f"{sum(row.rows_in.values()):,}" if row.rows_in else "-",
            "-" if row.rows_out is None else f"{row.rows_out:,}",
            f"{row.files_read} of {row.files_there:,}" if row.files_there else "-",
            f"{row.seconds:.1f}",
        )
    return table
