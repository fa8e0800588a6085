"""What was made: a table for both ways, and what differs from what pandas counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import attrs
from rich import box
from rich.console import Console
from rich.table import Table

from cluster.measures import Measure
from cluster.plan import Part
from demo import comparison
from demo.api import Api
from demo.backfill import Run
from demo.report import Row, Totals, print_table


@attrs.frozen(kw_only=True)
class Line:
    """The partitions of one asset that were made in one part.

    :ivar seconds: of the task of a partition, the median.
    :ivar numbers: that were compared with those of pandas, and of these the ones that are right.
    """

    part: str
    way: str
    asset: str
    partitions: int
    seconds: float
    rows_in: int
    rows_out: int
    files_read: int
    numbers: int
    right: int


def rows(api: Api, runs: Sequence[Run], totals: Totals) -> tuple[list[Row], list[str]]:
    """A row per run, and the partitions that were made more than once."""
    assets = tuple(dict.fromkeys(run.asset for run in runs))
    events = {asset: list(_events(api, asset)) for asset in assets}
    seconds = {asset: _seconds(api, asset) for asset in assets}
    extras = {(asset, event["partition_key"]): event["extra"] for asset in assets for event in events[asset]}
    collected = [
        Row.of(
            run,
            extras.get((run.asset, run.key), {}),
            seconds[run.asset].get(run.id, 0.0),
            lambda _: 0,
            totals,
        )
        for run in runs
    ]
    keys = Counter((asset, event["partition_key"]) for asset in assets for event in events[asset])
    return collected, [f"{asset} {key}: was made {count} times" for (asset, key), count in keys.items() if count > 1]


def lines(parts: Iterable[Part], rows: Iterable[Row], source: Mapping[str, Any]) -> Iterator[Line]:
    """One line for each asset of each part."""
    by_key = {(row.asset, row.partition): row for row in rows}
    for part in parts:
        for target in part.targets:
            own = [by_key[target.asset, key] for key in target.keys if (target.asset, key) in by_key]
            counts = [count for _, count in comparison.counts(own, dict(source))]
            yield Line(
                part=part.name,
                way=part.way,
                asset=target.asset,
                partitions=len(own),
                seconds=median(row.seconds for row in own) if own else 0.0,
                rows_in=sum(sum(row.rows_in.values()) for row in own),
                rows_out=sum(row.rows_out or 0 for row in own),
                files_read=sum(row.files_read for row in own),
                numbers=len(counts),
                right=sum(count.right for count in counts),
            )


def show(lines: Iterable[Line], measures: Mapping[str, Measure], console: Console) -> None:
    """Print both tables: of the assets, and of the parts."""
    table = _table("part", "way", "asset", right=("partitions", "seconds", "rows in", "rows out", "as pandas counts"))
    for line in lines:
        numbers = f"{line.right:,} of {line.numbers:,}"
        figures = (f"{line.partitions:,}", f"{line.seconds:.1f}", f"{line.rows_in:,}", f"{line.rows_out:,}", numbers)
        table.add_row(line.part, line.way, line.asset, *figures)
    print_table(table, console)
    table = _table("part", right=("partitions made", "seconds", "seconds each", "processor seconds each"))
    for name, measure in measures.items():
        each = max(measure.partitions, 1)
        cells = (f"{measure.partitions:,}", f"{measure.seconds:,.0f}", f"{measure.seconds / each:.2f}")
        table.add_row(name, *cells, f"{measure.processor / each:.2f}")
    print_table(table, console)


def _table(*left: str, right: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _events(api: Api, asset: str) -> Iterator[dict[str, Any]]:
    """The asset events of *asset*."""
    return api.pages("assets/events", "asset_events", "timestamp", source_dag_id=asset)


def _seconds(api: Api, asset: str) -> dict[str, float]:
    """Run id to seconds of its task."""
    tasks = api.pages(f"dags/{asset}/dagRuns/~/taskInstances", "task_instances")
    return {task["dag_run_id"]: task["duration"] or 0.0 for task in tasks}
