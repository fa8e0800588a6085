"""The second demo without Airflow's processes: its mistake, its Dag file, its readers, and what it makes of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from copy import copy
from datetime import UTC, date, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import pandas as pd
import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import Partition
from airflow_partitions.core.errors import CheckError
from airflow_partitions.storage.iceberg.table.connection import connected
from demo.backfill import Run
from demo.comparison import differences
from demo.home import CHECKOUT, Home
from demo.iceberg import comparison, mistake, plan, readers
from demo.landing import hours_of
from demo.report import Row

DAY = date(2013, 11, 3)  # of 25 hours
MORNING = hours_of(DAY)[9]
REFUSED = f"{DAY}|JFK"


def source() -> pd.DataFrame:
    """Two flights from JFK, one of which was cancelled, and one from each of the others."""
    hours = [MORNING.astimezone(UTC) + timedelta(hours=number) for number in (0, 1, 0, 2)]
    return pd.DataFrame(
        {
            "time_hour": pd.to_datetime(hours),
            "carrier": ["B6", "B6", "UA", "AA"],
            "flight": [1, 2, 3, 4],
            "origin": ["JFK", "JFK", "EWR", "LGA"],
            "dest": "BOS",
            "dep_delay": [30.0, None, 90.0, -1.0],
        }
    )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    return home


@pytest.fixture
def flights(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The landing zone."""
    monkeypatch.setattr(mistake, "source", lambda: {"flights": source()})
    folder = home.tables / "landing" / "flights"
    assert mistake.land(folder, DAY) == mistake.land(folder, DAY) == 25
    return folder


@pytest.fixture
def dags(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The Dag file, in the environment of the demo's services."""
    environment = home.environment(dict(os.environ))
    for name in ("AIRFLOW_PARTITIONS_LAKE", "AIRFLOW_CONN_LAKE"):
        monkeypatch.setenv(name, environment[name])
    spec = spec_from_file_location("flights_iceberg", CHECKOUT / "dags" / "flights_iceberg.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    connected.cache_clear()
    yield module
    connected.cache_clear()


def test_a_day_of_25_hours_has_a_quarter_of_seven() -> None:
    flights, airports, city = plan.of_day(DAY)
    assert flights.keys == tuple(
        f"{DAY}T{text}" for text in ("00:00-04:00", "06:00-05:00", "12:00-05:00", "18:00-05:00")
    )
    assert [len(plan.hours_in(key)) for key in (*flights.keys, *airports.keys, *city.keys)] == [7, 6, 6, 6, *[25] * 4]
    assert plan.quarter_with(MORNING) == f"{DAY}T06:00-05:00"


def test_the_mistake_is_one_delay_in_seconds_and_can_be_repaired(flights: Path) -> None:
    def delays() -> dict[int, float]:
        files = sorted(flights.glob("*/[!._]*.parquet"))
        rows = pd.concat([pd.read_parquet(file, partitioning=None) for file in files])
        return dict(zip(rows["flight"], rows["dep_delay"].fillna(0), strict=True))

    assert mistake.hour_of(flights, DAY) == MORNING
    mistake.make(flights, DAY)
    assert delays() == {1: 1800.0, 2: 0, 3: 90.0, 4: -1.0}
    assert mistake.hour_of(flights, DAY) == MORNING
    mistake.repair(flights, DAY)
    mistake.repair(flights, DAY)
    assert delays() == {1: 30.0, 2: 0, 3: 90.0, 4: -1.0}


def test_the_jobs_take_the_package_that_is_fetched_before_them(dags: ModuleType, home: Home) -> None:
    assert dags.ICEBERG == plan.PACKAGE
    assert tuple(asset.name for asset in (dags.departures, dags.airport_delays, dags.city_delays)) == plan.ASSETS
    connection = json.loads(os.environ["AIRFLOW_CONN_LAKE"])
    assert connection == {"conn_type": "iceberg", "extra": home.catalog}


def depart(dags: ModuleType, *, mode: str = "create") -> None:
    """Do what the Spark jobs do."""
    flights, _, _ = plan.of_day(DAY)
    for key in flights.keys:
        hours = [hour.isoformat(timespec="minutes") for hour in plan.hours_in(key)]
        rows = dags.LANDING.read(hours, as_="arrow", columns=[*dags.COLUMNS])
        dags.departures.storage.save({key: rows}, mode=mode)


def make(asset: Any, key: str) -> Row:
    """Make a partition as Airflow's task does; what it tells."""
    context = {
        "partition": Partition(asset.storage.partition, key),
        "ti": SimpleNamespace(dag_id=asset.name, run_id=f"run {datetime.now(UTC)}", try_number=1),
        "outlet_events": OutletEventAccessors(),
        "dag_run": SimpleNamespace(run_after=datetime(2013, 11, 5, tzinfo=UTC)),
        "dag": SimpleNamespace(),
    }
    copy(asset.task).execute(context)  # each run of Airflow has a task of its own
    run = Run(asset.name, key, "1", "success")
    return Row.of(run, context["outlet_events"][asset].extra, 1.0, lambda _: 99, lambda *_: {})


def test_what_a_check_refuses_is_in_no_table_and_after_the_repair_all_readers_agree(
    dags: ModuleType, home: Home, flights: Path
) -> None:
    mistake.make(flights, DAY)
    depart(dags)
    rows = [make(dags.airport_delays, f"{DAY}|{airport}") for airport in ("EWR", "LGA")]
    with pytest.raises(
        CheckError, match=r"range of latest: 1 failing row of 1; expected at most 1,440; .*1800"
    ) as error:
        make(dags.airport_delays, REFUSED)
    assert f"stays in {home.tables / 'warehouse'}" in str(error.value)
    refused = Run("airport_delays", REFUSED, "1", "failed")
    assert comparison.published(readers.by_pyiceberg(readers.tables(home)), refused) == []

    mistake.repair(flights, DAY)
    depart(dags, mode="overwrite")
    rows += [make(dags.airport_delays, REFUSED), make(dags.city_delays, str(DAY))]
    tables = readers.tables(home)
    frames = {"pyiceberg": readers.by_pyiceberg(tables), "polars": readers.by_polars(tables)}
    counts = list(comparison.counts(rows, frames, source()))
    assert differences(counts) == []
    assert len(counts) == 3 * (3 + 2 * 5) + 3 + 2 * 5
    assert [line["latest"] for line in comparison.overview(frames)] == ["90", "90"]
    assert comparison.published(frames["polars"], refused) == [
        f"airport_delays {REFUSED}: was refused, and 1 rows of it are published"
    ]
    assert readers.files(home) == {"departures": 3, "airport_delays": 3, "city_delays": 1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row, frame: (row, frame.iloc[:-1]), "rows seen by it: 3, pandas counts 4"),
        (lambda row, frame: (row, frame.assign(dep_delay=1.0)), "cancelled seen by it: 0, pandas counts 1"),
        (lambda row, frame: (attrs.evolve(row, rows_out=5), frame), "rows out: 5, pandas counts 4"),
        (lambda row, frame: (attrs.evolve(row, rows_in={}), frame), "rows read: 0, pandas counts 4"),
    ],
)
def test_every_difference_of_a_table_is_told(
    change: Callable[[Row, pd.DataFrame], tuple[Row, pd.DataFrame]], words: str
) -> None:
    hour = source().assign(time_hour=pd.Timestamp(MORNING))
    row = Row(
        asset="departures",
        partition=plan.quarter_with(MORNING),
        state="success",
        seconds=1.0,
        rows_in={"landing": 4},
        rows_out=4,
        files_read=1,
        files_there=25,
        published={},
    )
    assert differences(comparison.counts([row], {"it": {"departures": hour}}, hour)) == []
    row, frame = change(row, hour)
    (first, *_) = differences(comparison.counts([row], {"it": {"departures": frame}}, hour))
    assert first.endswith(words)
