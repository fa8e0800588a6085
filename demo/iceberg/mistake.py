"""A day of a landing zone with a mistake in it: one delay is told in seconds, as another system might do."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from demo.landing import NEW_YORK, hours_of, partition_of, source, write

AIRPORT = "JFK"
RIGHT = ".right.parquet"  # the file as it should be; readers skip names that start with a dot


def land(flights: Path, day: date) -> int:
    """Make the hours of *day* that are not there, without the mistake; return how many files the landing zone has."""
    hours = [hour for hour in hours_of(day) if not _file(flights, hour).exists()]
    flights.mkdir(parents=True, exist_ok=True)
    if hours:
        with TemporaryDirectory(dir=flights.parent) as folder:
            write(source()["flights"], hours, Path(folder, "flights"))
            for partition in Path(folder, "flights").iterdir():  # each of them all or nothing
                partition.rename(flights / partition.name)
    return sum(1 for _ in flights.iterdir())


def make(flights: Path, day: date) -> None:
    """Tell the longest delay of *day* at the airport in seconds; the hour's file stays beside the wrong one."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    _, hour = _longest(flights, day)
    file = _file(flights, hour)
    rows = pq.read_table(file, partitioning=None)
    file.rename(file.with_name(RIGHT))
    here = pc.equal(rows["origin"], AIRPORT)
    longest = pc.max(pc.filter(rows["dep_delay"], here))
    wrong = pc.if_else(
        pc.and_kleene(here, pc.equal(rows["dep_delay"], longest)), pc.multiply(longest, 60), rows["dep_delay"]
    )
    column = rows.schema.get_field_index("dep_delay")
    pq.write_table(rows.set_column(column, "dep_delay", wrong), file)


def hour_of(flights: Path, day: date) -> datetime:
    """The hour of *day* with the mistake, repaired or not."""
    return _longest(flights, day)[1]


def repair(flights: Path, day: date) -> None:
    """Put back the file as it should be, if that is not done."""
    for hour in hours_of(day):
        file = _file(flights, hour)
        if (right := file.with_name(RIGHT)).exists():
            right.replace(file)


def _longest(flights: Path, day: date) -> tuple[float, datetime]:
    """The longest delay of *day* at the airport, and its hour."""
    import pandas as pd

    delays = []
    for hour in hours_of(day):
        rows = pd.read_parquet(_file(flights, hour), columns=["origin", "dep_delay"], partitioning=None)
        delay = rows.loc[rows["origin"] == AIRPORT, "dep_delay"].max()
        delays.append((0.0 if pd.isna(delay) else float(delay), hour.astimezone(NEW_YORK)))
    return max(delays)


def _file(flights: Path, hour: datetime) -> Path:
    return flights / partition_of(hour) / "part-0.parquet"
