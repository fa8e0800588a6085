"""The landing zone holds every row once, in the New York hour it belongs to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from demo import landing
from demo.landing import NEW_YORK, YEAR, hours_between, hours_of, partition_of

SPRING, STORM, AUTUMN = date(2013, 3, 10), date(2013, 2, 8), date(2013, 11, 3)
DAYS = {SPRING: 23, STORM: 24, AUTUMN: 25}
HOURS = [hour for day in DAYS for hour in hours_of(day)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake") / "landing"
    landing.ensure(folder, HOURS)
    return folder


@pytest.fixture(scope="module")
def source() -> dict[str, pd.DataFrame]:
    return landing.source()


def read(lake: Path, table: str, hour: datetime) -> pd.DataFrame:
    return pq.ParquetFile(lake / table / partition_of(hour) / "part-0.parquet").read().to_pandas()


def test_the_year_has_8760_hours() -> None:
    hours = list(hours_between(*YEAR))
    assert len(hours) == len({partition_of(hour) for hour in hours}) == 8760


@pytest.mark.parametrize(("day", "count"), DAYS.items())
def test_hours_of_a_day(day: date, count: int) -> None:
    hours = hours_of(day)
    assert len(hours) == count
    assert {hour.date() for hour in hours} == {day}


def test_both_hours_of_the_clock_change_have_a_partition(lake: Path) -> None:
    names = [partition_of(hour) for hour in hours_of(AUTUMN)][1:3]
    assert names == ["hour=2013-11-03T01%3A00-0400", "hour=2013-11-03T01%3A00-0500"]
    assert all((lake / "weather" / name).is_dir() for name in names)
    first, second = (read(lake, "weather", hour) for hour in hours_of(AUTUMN)[1:3])
    assert len(first) == len(second) == 3
    assert (second["time_hour"] - first["time_hour"]).unique().tolist() == [pd.Timedelta(hours=1)]


@pytest.mark.parametrize("table", ["flights", "weather"])
def test_counts_are_those_of_pandas(lake: Path, source: dict[str, pd.DataFrame], table: str) -> None:
    counts = source[table].groupby("time_hour").size()
    for hour in HOURS:
        rows = read(lake, table, hour)
        assert len(rows) == counts.get(hour, 0)
        assert (rows["time_hour"] == hour).all()


@pytest.mark.parametrize("table", ["flights", "weather"])
def test_time_hour_is_the_local_hour_of_the_source(source: dict[str, pd.DataFrame], table: str) -> None:
    rows = source[table]
    local = rows["time_hour"].dt.tz_convert(NEW_YORK).dt
    for part in ("year", "month", "day", "hour"):
        assert (getattr(local, part) == rows[part]).all()


def test_an_empty_hour_is_a_file_with_the_schema(lake: Path) -> None:
    empty, full = hours_of(STORM)[3], hours_of(STORM)[8]
    schemas = [pq.read_schema(lake / "flights" / partition_of(hour) / "part-0.parquet") for hour in (empty, full)]
    assert len(read(lake, "flights", empty)) == 0
    assert schemas[0] == schemas[1]


def test_it_is_made_once(lake: Path) -> None:
    manifest = landing.ensure(lake, HOURS)
    before = (lake / landing.MANIFEST).stat().st_mtime_ns
    assert manifest.files == {"flights": len(HOURS), "weather": len(HOURS)}
    assert landing.ensure(lake, HOURS) == manifest
    assert (lake / landing.MANIFEST).stat().st_mtime_ns == before


def test_what_was_cut_off_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "landing"
    hours = hours_of(STORM)[:2]

    def cut_off(hour: datetime) -> str:
        if hour == hours[1]:
            raise KeyboardInterrupt
        return partition_of(hour)

    with monkeypatch.context() as patch:
        patch.setattr(landing, "partition_of", cut_off)
        with pytest.raises(KeyboardInterrupt):
            landing.ensure(folder, hours)
    assert not folder.exists()
    assert landing.ensure(folder, hours).rows["weather"] == 6


def test_hours_are_real_time() -> None:
    hours = hours_of(AUTUMN)
    steps = {b.astimezone(UTC) - a.astimezone(UTC) for a, b in pairwise(hours)}
    assert steps == {timedelta(hours=1)}
