"""What each reader sees of each partition, beside what pandas counts in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from demo.backfill import Run
from demo.comparison import Count, within
from demo.iceberg.plan import AIRPORT, CITY, FLIGHTS, hours_in
from demo.report import Row

if TYPE_CHECKING:
    from pandas import DataFrame

    from demo.iceberg.readers import Frames

TOTALS = {"flights": "sum", "cancelled": "sum", "delay": "sum", "latest": "max"}


def totals(frame: DataFrame, asset: str, key: str) -> dict[str, float]:
    """The rows of a partition in the whole table, and the total of each column that has one."""
    day, _, airport = key.partition("|")
    if asset == FLIGHTS:
        return _counts(within(_in_utc(frame), hours_in(key)))
    here = frame["date"].astype(str).str[:10] == day
    rows = frame[here & (frame["airport"] == airport)] if airport else frame[here]
    values = {name: rows[name].dropna() for name in TOTALS}
    return {"rows": len(rows)} | {name: float(each.agg(TOTALS[name])) for name, each in values.items() if len(each)}


def counts(rows: Iterable[Row], frames: Mapping[str, Frames], source: DataFrame) -> Iterator[tuple[Row, Count]]:
    """Every number of every run that succeeded, and of every reader of its partition."""
    for row in rows:
        if row.state != "success":
            continue
        expected = _expected(row, source)
        yield from ((row, count) for count in _event_counts(row, source))
        for reader, tables in frames.items():
            seen = totals(tables[row.asset], row.asset, row.partition) if row.asset in tables else {}
            for name, number in expected.items():
                yield row, Count.exact(f"{name} seen by {reader}", seen.get(name), number)


def published(frames: Frames, refused: Run) -> list[str]:
    """In words what is published of a partition that a check has refused, which should be nothing."""
    rows = totals(frames[refused.asset], refused.asset, refused.key)["rows"] if refused.asset in frames else 0
    return [f"{refused.asset} {refused.key}: was refused, and {rows:.0f} rows of it are published"] if rows else []


def overview(frames: Mapping[str, Frames]) -> Iterator[dict[str, str]]:
    """What each reader sees of all days: a line for each."""
    for reader, tables in frames.items():
        rows = {f"rows of {name}": f"{len(frame):,}" for name, frame in tables.items()}
        city = {name: f"{tables[CITY][name].agg(how):,.0f}" for name, how in TOTALS.items()} if CITY in tables else {}
        yield {"reader": reader, **rows, **city}


def _event_counts(row: Row, source: DataFrame) -> Iterator[Count]:
    """What the run itself tells in its event."""
    flights = _covered(row, source)
    yield Count.exact("rows out", row.rows_out, _expected(row, source)["rows"])
    if row.asset == FLIGHTS:
        yield Count.exact("rows read", sum(row.rows_in.values()), len(flights))
    elif row.asset == AIRPORT:
        of_day = within(source, hours_in(row.partition))
        # Polars may leave out rows of other airports. An hour without flights is no file of a table.
        yield Count("rows read", sum(row.rows_in.values()), len(flights), len(of_day))
        yield Count.exact("files read", row.files_read, of_day["time_hour"].nunique())
    else:
        yield Count.exact("rows read", sum(row.rows_in.values()), len(flights.groupby(["origin", "carrier"])))
        yield Count.exact("files read", row.files_read, flights["origin"].nunique())


def _expected(row: Row, source: DataFrame) -> dict[str, float]:
    flights = _covered(row, source)
    numbers = {"rows": 0.0, "flights": 0.0, "cancelled": 0.0, "delay": float("nan"), "latest": float("nan")}
    numbers |= _counts(flights)
    if row.asset != FLIGHTS:
        numbers["delay"] = float(flights["dep_delay"].sum())  # of a day on which nothing left polars says 0
    if row.asset == AIRPORT:
        numbers["rows"] = flights["carrier"].nunique()
    elif row.asset == CITY:
        numbers["rows"] = 1
    return numbers


def _counts(flights: DataFrame) -> dict[str, float]:
    """Of single flights what the tables have of days."""
    delays = flights["dep_delay"].dropna()
    counts = {"rows": len(flights), "flights": len(flights), "cancelled": len(flights) - len(delays)}
    return counts | ({"delay": float(delays.sum()), "latest": float(delays.max())} if len(delays) else {})


def _covered(row: Row, source: DataFrame) -> DataFrame:
    flights = within(source, hours_in(row.partition))
    _, _, airport = row.partition.partition("|")
    return flights[flights["origin"] == airport] if airport else flights


def _in_utc(frame: DataFrame) -> DataFrame:
    """*frame* with its times as pandas has those of the source: readers differ in the zone."""
    import pandas as pd

    return frame.assign(time_hour=pd.to_datetime(frame["time_hour"], utc=True))
