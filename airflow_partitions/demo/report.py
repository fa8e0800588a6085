"""What was made, beside what pandas counts in the same data."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from rich import box
from rich.console import Console
from rich.table import Table

from airflow_partitions.demo.api import Api
from airflow_partitions.demo.backfill import Run
from airflow_partitions.demo.landing import NEW_YORK, Landing, partition_of

if TYPE_CHECKING:
    from pandas import DataFrame


WIDTH = 100  # of the table at least: a line that wraps is better than one that is cut


@attrs.frozen(kw_only=True)
class Row:
    """One partition: its run, and the counts in its asset event."""

    asset: str
    partition: str
    state: str
    seconds: float | None
    rows_in: dict[str, int]
    rows_out: int | None
    files_read: int
    files_there: int

    @classmethod
    def of(cls, run: Run, extra: dict[str, Any], seconds: float | None, landing: Landing) -> Row:
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
            files_there=sum(landing.files[name] for name in reads),
        )


def collect(api: Api, found: Iterable[Run], landing: Landing) -> list[Row]:
    """One row per run, from the asset events and the task instances."""
    rows = []
    for run in found:
        events = api.get("assets/events", source_dag_id=run.asset, source_run_id=run.id, order_by="-timestamp", limit=1)
        extra = next((event["extra"] for event in events["asset_events"] if event["partition_key"] == run.key), None)
        tasks = api.get(f"dags/{run.asset}/dagRuns/{run.id}/taskInstances")["task_instances"]
        rows.append(Row.of(run, extra or {}, tasks[0]["duration"] if tasks else None, landing))
    return rows


def differences(rows: Iterable[Row], source: dict[str, DataFrame], lake: Path) -> list[str]:
    """What is not as pandas counts it: rows in, rows out, and what a reader finds in the published partitions."""
    return [f"{row.asset} {row.partition}: {words}" for row in rows for words in _compare(row, source, lake)]


def _compare(row: Row, source: dict[str, DataFrame], lake: Path) -> Iterable[str]:
    if row.state != "success":
        yield f"the run ended as {row.state}"
        return
    check = _compare_hour if row.asset == "hourly_flights" else _compare_airport_day
    for what, found, expected in check(row, source, lake):
        if found not in expected:
            yield f"{what}: {found}, pandas counts {' to '.join(str(n) for n in sorted({expected[0], expected[-1]}))}"


def _compare_hour(row: Row, source: dict[str, DataFrame], lake: Path) -> Iterable[tuple[str, int | None, range]]:
    """Every flight of the hour comes out once, with the weather of its airport."""
    hour = datetime.fromisoformat(row.partition)
    flights = int((source["flights"]["time_hour"] == hour).sum())
    weather = int((source["weather"]["time_hour"] == hour).sum())
    yield "flights read", row.rows_in.get("flights"), _exactly(flights)
    # Spark needn't read the weather of an hour in which nothing leaves.
    yield "weather read", row.rows_in.get("weather"), _exactly(weather) if flights else range(weather + 1)
    yield "rows out", row.rows_out, _exactly(flights)
    published = _published(lake / "hourly_flights" / partition_of(hour.astimezone(NEW_YORK)))
    yield "rows published", len(published), _exactly(flights)


def _compare_airport_day(row: Row, source: dict[str, DataFrame], lake: Path) -> Iterable[tuple[str, int | None, range]]:
    """One row per carrier that leaves from the airport on the day, with the number of its flights."""
    day, airport = row.partition.split("|")
    local = source["flights"]["time_hour"].dt.tz_convert(NEW_YORK)
    of_day = source["flights"][local.dt.date == datetime.fromisoformat(day).date()]
    flights = of_day[of_day["origin"] == airport]
    # Parquet skips files in which the airport can't occur.
    yield "flights read", row.rows_in.get("flights"), range(len(flights), len(of_day) + 1)
    yield "rows out", row.rows_out, _exactly(flights["carrier"].nunique())
    published = _published(lake / "airport_days" / f"date={day}" / f"airport={airport}")
    yield "rows published", len(published), _exactly(flights["carrier"].nunique())
    yield "flights published", int(published["flights"].sum()), _exactly(len(flights))


def _exactly(count: int) -> range:
    return range(count, count + 1)


def _published(folder: Path) -> DataFrame:
    """The partition as any other reader finds it."""
    import pandas as pd

    return pd.concat(
        [pd.read_parquet(file) for file in sorted(folder.glob("[!_.]*.parquet"))] or [pd.DataFrame({"flights": []})]
    )


def show(rows: Iterable[Row], console: Console) -> None:
    """Print the table."""
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("asset", "partition", "state"):
        table.add_column(name, no_wrap=True)
    for name in ("rows in", "rows out", "files read", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        colour = "green" if row.state == "success" else "red"
        table.add_row(
            row.asset,
            row.partition,
            f"[{colour}]{row.state}[/]",
            f"{sum(row.rows_in.values()):,}",
            "-" if row.rows_out is None else f"{row.rows_out:,}",
            f"{row.files_read} of {row.files_there:,}",
            "-" if row.seconds is None else f"{row.seconds:.1f}",
        )
    console.width = max(console.width, WIDTH)
    console.print(table)
