"""The demo's parts that need no Airflow: what it asks for, what it starts with, and what it makes of the answers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from shutil import rmtree

import attrs
import pandas as pd
import psutil
import pytest
from rich.console import Console

from demo import comparison, month, plan, report, services
from demo.__main__ import main
from demo.api import Api
from demo.backfill import Run
from demo.errors import DemoError
from demo.firing import Firing
from demo.home import CHECKOUT, Home
from demo.landing import NEW_YORK, hours_of, partition_of
from demo.processes import Service, free_port
from demo.published import stored, totals
from demo.steps import Steps

HOUR = datetime(2013, 2, 8, 5, tzinfo=NEW_YORK)


@pytest.mark.parametrize(("day", "count"), [(date(2013, 3, 10), 23), (date(2013, 2, 8), 24), (date(2013, 11, 3), 25)])
def test_every_partition_of_the_day_is_asked_for(day: date, count: int) -> None:
    hourly, daily = plan.one_day(day)
    assert len(set(hourly.keys)) == count
    assert daily.keys == (f"{day}|EWR", f"{day}|JFK", f"{day}|LGA")
    assert hourly.bounds == (hours_of(day)[0], hours_of(day)[-1])


@pytest.mark.parametrize("day", [date(2013, 2, 8), *plan.CLOCK_CHANGES])
def test_what_is_made_first_is_part_of_the_whole(day: date) -> None:
    first, everything = (
        {(each.asset, key) for each in target for key in each.keys}
        for target in (plan.first(day), plan.everything(day))
    )
    assert len(first) == 2
    assert first < everything


@pytest.mark.parametrize(("day", "count"), [(date(2013, 3, 10), 71), (date(2013, 11, 3), 73)])
def test_around_a_clock_change_only_the_hours_are_asked_for(day: date, count: int) -> None:
    hourly, daily, airports, rolling = plan.three_days(day)
    assert len(set(hourly.keys)) == count
    assert hourly.bounds
    assert not any(each.bounds for each in (daily, airports, rolling))
    assert (len(daily.keys), len(airports.keys), rolling.keys) == (3, 9, daily.keys[2:])


def test_what_should_follow_is_what_the_definitions_of_the_dags_say() -> None:
    """The plan is written without the package; here it is compared with the package's own answer."""
    from airflow_partitions import Dependency, Lookback, PartitionByInterval, PartitionByProduct, PartitionBySequence

    hours, days = (
        PartitionByInterval(schedule, timezone="America/New_York", start="2013-01-01", end="2014-01-01", name="date")
        for schedule in ("@hourly", "@daily")
    )
    airports = PartitionByProduct([days, PartitionBySequence(plan.AIRPORTS, name="airport")])
    daily, airport, rolling = (each.keys for each in plan.after_again())
    assert daily == tuple(map(str, Dependency(days, hours).downstream(plan.AGAIN)))
    assert airport == tuple(map(str, Dependency(airports, hours).downstream(plan.AGAIN)))
    later = Dependency(days, days, Lookback(2)).downstream(daily[0])
    around = set(plan.three_days(plan.CLOCK_CHANGES[1])[1].keys)
    complete = [key for key in later if set(map(str, Dependency(days, days, Lookback(2)).upstream(key))) <= around]
    assert rolling == tuple(map(str, complete))


def test_secrets_are_kept_and_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "demo")
    home.create()
    assert home.secret("jwt") == home.secret("jwt") != home.secret("api")
    assert (home.root / "secrets" / "jwt").stat().st_mode & 0o077 == 0
    assert home.root.stat().st_mode & 0o077 == 0


def test_settings_of_another_airflow_or_spark_are_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    outer = {"AIRFLOW__CORE__EXECUTOR": "X", "AIRFLOW__X__Y": "z", "SPARK_CONF_DIR": "/x", "LANG": "C", "PATH": "/bin"}
    inner = home.environment(outer, 8080)
    assert inner["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    assert inner["LANG"] == "C"
    assert not {"AIRFLOW__X__Y", "SPARK_CONF_DIR"} & set(inner)


def test_a_task_may_wait_for_its_turn_longer_than_all_of_the_demo_takes(tmp_path: Path) -> None:
    """After this time Airflow refuses a task that its executor has kept waiting: "Invalid auth token"."""
    home = Home(tmp_path)
    home.create()
    assert float(home.environment({})["AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT"]) > 6 * 3600


def test_airflow_loads_the_dags_that_are_linked(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    home.link("flights.py")
    assert [path.name for path in home.dags.iterdir()] == ["flights.py"]
    assert (home.dags / "flights.py").samefile(CHECKOUT / "dags" / "flights.py")
    home.link("flights.py", "aip")
    assert (home.dags / "aip" / "hourly.py").is_file()
    assert home.environment({}, 1)["AIRFLOW__CORE__DAGS_FOLDER"] == str(home.dags)


def test_a_link_to_a_checkout_that_has_moved_is_made_anew(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    (home.dags / "flights.py").symlink_to(tmp_path / "before" / "flights.py")
    home.link("flights.py")
    assert (home.dags / "flights.py").is_file()
    with pytest.raises(DemoError, match=r"no dags/trains\.py in"):
        home.link("trains.py")


def test_services_are_added_to_those_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, me = Home(tmp_path), psutil.Process()
    waits: list[list[str]] = []
    monkeypatch.setattr(services, "_migrate", lambda *_: None)
    monkeypatch.setattr(services, "_wait", lambda _, parts: waits.append(list(parts)))
    monkeypatch.setattr(services, "_spawn", lambda _, name, *__: Service(name, me.pid, me.create_time()))
    first = services.start(home, None, print, services.FIRST)
    assert [member.name for member in first.members] == list(services.FIRST)
    assert not first.running
    every = services.start(home, None, print, services.COMMANDS)
    assert every.members[: len(first.members)] == first.members
    assert {member.name for member in every.members} == set(services.COMMANDS)
    assert (every.port, every.running) == (first.port, True)
    # The database, before the scheduler is started; then what was started.
    assert waits == [[], ["scheduler", "dag_processor"], ["scheduler", "triggerer", "dag_processor"]]


def test_a_service_is_known_by_its_start_time() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        started = psutil.Process(child.pid).create_time()
        assert Service("it", child.pid, started).process
        assert {process.pid for process in Service("it", child.pid, started).family} == {child.pid}
        assert Service("other", child.pid, started - 100).process is None
        assert Service("other", child.pid, started - 100).family == set()
    finally:
        child.communicate()


def test_all_of_airflow_has_to_be_there_to_be_running(tmp_path: Path) -> None:
    me = psutil.Process()
    members = tuple(Service(name, me.pid, me.create_time()) for name in services.AIRFLOW)
    assert services.Services(Home(tmp_path), 1, members).running
    assert not services.Services(Home(tmp_path), 1, members).has(services.COMMANDS)
    assert not services.Services(Home(tmp_path), 1, members[1:]).running
    dead = attrs.evolve(members[0], name="upkeep", started=0.0)
    assert not services.Services(Home(tmp_path), 1, (*members, dead)).running


def test_an_airflow_that_does_not_answer_is_an_error_in_words() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))  # and nobody listens
        address = f"http://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(DemoError, match=f"Airflow at {address} does not answer"):
            Api(address, "admin", "x")


def test_a_taken_port_is_refused_when_asked_for_and_else_left_alone() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(DemoError, match=f"port {port} is taken"):
            free_port(port, port)
        assert free_port(None, port) != port


def test_stop_and_status_without_a_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stop", "--home", str(tmp_path)]) == 0
    assert main(["status", "--home", str(tmp_path)]) == 1
    assert "nothing to stop" in capsys.readouterr().err


def test_what_can_not_go_on_has_an_exit_code_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(services, "_migrate", lambda *_: None)
            patch.setattr("demo.__main__._land", lambda *_: None)
            port = other.getsockname()[1]
            assert main(["start", "--home", str(tmp_path), "--port", str(port)]) == 3
    assert f"error: port {port} is taken" in capsys.readouterr().err


@pytest.mark.parametrize(("day", "words"), [("2014-01-01", "not in 2013"), ("storm", "'storm' is not a day")])
def test_a_day_without_data_is_refused(day: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["start", "--day", day])
    assert error.value.code == 2
    assert words in capsys.readouterr().err


def test_lines_of_a_step_come_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("demo.steps.time.monotonic", lambda: now)
    console = Console(file=StringIO(), width=80)
    steps = Steps(console, now)
    with steps.progress("processing", 100) as tell:
        for count in range(101):
            tell(count, "1 failed" if count > 50 else "")
            now += 2
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().splitlines() == [
        "  30 s  processing: 15 of 100, about 3 minutes left",
        "  60 s  processing: 30 of 100, about 2 minutes left",
        "  90 s  processing: 45 of 100, about 2 minutes left",
        " 120 s  processing: 60 of 100, 1 failed, about 1 minute left",
        " 150 s  processing: 75 of 100, 1 failed, about 1 minute left",
        " 180 s  processing: 90 of 100, 1 failed, about 1 minute left",
        " 200 s  processing: 100 of 100, 1 failed",
    ]


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["start", "--help"])
    assert error.value.code == 0
    assert "--quick" in capsys.readouterr().out


def source() -> dict[str, pd.DataFrame]:
    hours = pd.to_datetime([HOUR.astimezone(UTC), HOUR.astimezone(UTC) + timedelta(hours=1)])
    flights = pd.DataFrame(
        {"time_hour": hours, "origin": ["EWR", "EWR"], "carrier": ["UA", "AA"], "dep_delay": [7.0, None]}
    )
    weather = pd.DataFrame({"time_hour": hours[:1], "origin": ["EWR"], "wind_speed": [9.5], "visib": [0.25]})
    return {"flights": flights, "weather": weather}


DEPARTURES = {"flights": [1, 1], "cancelled": [0, 1], "delay": [7.0, None]}
WEATHER = {"wind_speed": [9.5, 3.0], "visib": [0.25, 10.0]}
ROWS = {
    "hourly_flights": {"partition": "2013-02-08T05:00-05:00", "rows_in": {"flights": 1, "weather": 1}, "rows_out": 1},
    "airport_days": {"partition": "2013-02-08|EWR", "rows_in": {"flights": 2}, "rows_out": 2},
    "hourly_departures": {
        "partition": "2013-02-08T06:00-05:00",
        "rows_in": {"flights": 1, "weather": 0},
        "rows_out": 3,
    },
    "daily_departures": {"partition": "2013-02-08", "rows_in": {"hourly_departures": 72}, "rows_out": 1},
    "airport_departures": {"partition": "2013-02-08|EWR", "rows_in": {"hourly_departures": 24}, "rows_out": 1},
    "three_day_departures": {"partition": "2013-02-09", "rows_in": {"daily_departures": 3}, "rows_out": 1},
}
FILES = {"daily_departures": 24, "airport_departures": 24, "three_day_departures": 3}
PUBLISHED: dict[str, dict[str, list[float | str | None]]] = {
    "hourly_flights/" + partition_of(HOUR): {"origin": ["EWR"]},
    "airport_days/date=2013-02-08/airport=EWR": {"carrier": ["AA", "UA"], "flights": [1, 1]},
    "hourly_departures/" + partition_of(HOUR + timedelta(hours=1)): {
        "flights": [0, 0, 1],
        "cancelled": [0, 0, 1],
        "delay": [None, None, None],
        "wind_speed": [None, None, None],
        "visib": [None, None, None],
    },
    "daily_departures/date=2013-02-08": {"hours": [24], "flights": [2], "cancelled": [1], "delay": [7.0]},
    "airport_departures/date=2013-02-08/airport=EWR": {
        "hours": [24],
        "flights": [2],
        "cancelled": [1],
        "delay": [7.0],
        "wind_speed": [9.5],
        "visib": [0.25],
    },
    "three_day_departures/date=2013-02-09": {"hours": [72], "flights": [2], "cancelled": [1], "delay": [7.0]},
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    for folder, rows in PUBLISHED.items():
        (tmp_path / folder).mkdir(parents=True)
        pd.DataFrame(rows).to_parquet(tmp_path / folder / "part-0.parquet")
        (tmp_path / folder / "_marker").touch()
        (tmp_path / folder / ".draft.parquet").touch()
    return tmp_path


def row(lake: Path, asset: str, **changed: object) -> report.Row:
    defaults = {"rows_in": {}, **ROWS[asset]}
    words = {"state": "success", "seconds": 1.0, "files_read": FILES.get(asset, 2), "files_there": 99}
    published = totals(lake, asset, str({**defaults, **changed}["partition"]))
    return report.Row(**{"asset": asset, "published": published, **defaults, **words, **changed})  # type: ignore[arg-type]


def test_matching_counts(lake: Path) -> None:
    rows = [row(lake, asset) for asset in ROWS]
    counts = list(comparison.counts(rows, source()))
    assert comparison.differences(counts) == comparison.failures(rows) == []
    assert Counter(row.asset for row, _ in counts) == {
        "hourly_flights": 4,
        "airport_days": 4,
        "hourly_departures": 9,
        "daily_departures": 8,
        "airport_departures": 10,
        "three_day_departures": 8,
    }


@pytest.mark.parametrize(
    ("asset", "changed", "words"),
    [
        ("hourly_flights", {"rows_in": {"flights": 2, "weather": 1}}, "flights read: 2, pandas counts 1"),
        ("hourly_flights", {"rows_in": {"flights": 1}}, "weather read: none, pandas counts 1"),
        ("hourly_flights", {"rows_out": 0}, "rows out: 0, pandas counts 1"),
        ("hourly_flights", {"state": "failed"}, "the run ended as failed"),
        ("hourly_flights", {"partition": "2013-02-08T06:00-05:00"}, "rows published: none, pandas counts 1"),
        ("airport_days", {"rows_in": {"flights": 3}}, "flights read: 3, pandas counts 2"),
        ("airport_days", {"rows_out": 3}, "rows out: 3, pandas counts 2"),
        ("hourly_departures", {"partition": "2013-02-08T05:00-05:00"}, "flights published: none, pandas counts 1"),
        ("hourly_departures", {"rows_in": {"flights": 2, "weather": 0}}, "flights read: 2, pandas counts 1"),
        ("hourly_departures", {"published": {"delay": 1.5}}, "delay published: 1.5, pandas counts none"),
        ("daily_departures", {"published": {"hours": 25}}, "hours published: 25, pandas counts 24"),
        ("daily_departures", {"files_read": 23}, "files read: 23, pandas counts 24"),
        ("daily_departures", {"rows_in": {"hourly_departures": 69}}, "rows read: 69, pandas counts 72"),
        ("daily_departures", {"published": {"delay": 8.0}}, "delay published: 8, pandas counts 7"),
        ("airport_departures", {"published": {"visib": 10.0}}, "visib published: 10, pandas counts 0.25"),
        ("airport_departures", {"rows_in": {"hourly_departures": 73}}, "rows read: 73, pandas counts 24 to 72"),
        ("three_day_departures", {"files_read": 4}, "files read: 4, pandas counts 3"),
    ],
)
def test_every_difference_is_told(lake: Path, asset: str, changed: dict[str, object], words: str) -> None:
    rows = [row(lake, asset, **changed)]
    problems = comparison.failures(rows) + comparison.differences(comparison.counts(rows, source()))
    assert any(line.endswith(words) for line in problems), problems


def test_runs_that_are_missing_or_too_many_are_told() -> None:
    targets = [plan.Target("daily_departures", ("2013-11-03", "2013-11-04"))]
    runs = [Run("daily_departures", key, key, "success") for key in ("2013-11-03", "2013-11-03", "2013-11-05")]
    assert Firing.of(targets, [*runs[:1], attrs.evolve(runs[0], key="2013-11-04")]).differences == []
    assert Firing.of(targets, runs).differences == [
        "daily_departures 2013-11-04: did not run",
        "daily_departures 2013-11-03: ran, and should not have",
        "daily_departures 2013-11-05: ran, and should not have",
    ]


def test_hidden_files_and_folders_are_not_published(lake: Path) -> None:
    (lake / "daily_departures" / "_theirs").mkdir()
    assert stored(lake, "daily_departures") == 1
    assert totals(lake, "daily_departures", "2013-02-07") == {}


def test_a_table_shows_the_hours_of_a_day_in_one_line(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hours = [row(lake, "hourly_departures", partition=f"2013-02-08T{hour:02}:00-05:00") for hour in range(24)]
    report.show([*hours, row(lake, "daily_departures")], Console(width=200))
    output = capsys.readouterr().out
    assert output.count("hourly_departures") == 1
    assert "2013-02-08, hour by hour" in output


def test_the_first_rows_of_a_partition_are_shown(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = Run("airport_days", "2013-02-08|EWR", "1", "success")
    report.show_partition(day, lake, Console(width=20))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["airport_days", "2013-02-08|EWR:", "2", "rows"]
    assert ["carrier", "flights"] in lines
    assert ["UA", "1"] in lines


def test_a_table_is_wide_enough_for_its_words(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report.show([row(lake, "hourly_flights")], Console(width=40))
    assert "2013-02-08T05:00-05:00" in capsys.readouterr().out


def test_the_demo_is_made_by_make() -> None:
    root = Path(__file__).parents[2]
    process = subprocess.run(
        ["make", "-s", "-C", str(root)], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    for target in ("demo", "demo-stop", "cluster", "cluster-stop", "test", "lint", "lock", "bench", "docs"):
        assert f"make {target} " in process.stdout


def test_a_month_is_compared_hour_by_hour_and_carrier_by_carrier(tmp_path: Path) -> None:
    hours = [hour for day in range(1, 32) for hour in hours_of(date(2013, 1, day))]
    assert len(hours) == month.HOURS
    flights = pd.DataFrame(
        [
            (2013, 1, hour, carrier, delay)
            for hour in hours[::3]
            for carrier, delay in (("EV", 5.0), ("EV", None), ("B6", 1))
        ],
        columns=["year", "month", "time_hour", "carrier", "dep_delay"],
    ).assign(time_hour=lambda rows: pd.to_datetime(rows["time_hour"], utc=True))
    counts = pd.DataFrame({"carrier": ["B6", "EV"], "flights": [1, 2], "departed": [1, 1]})
    for number, hour in enumerate(hours):
        folder = tmp_path / month.ASSET / partition_of(hour)
        folder.mkdir(parents=True)
        counts.head(0 if number % 3 else 2).to_parquet(folder / "part-0.parquet")
    assert month.differences(tmp_path, flights) == []
    counts.assign(departed=[1, 2]).to_parquet(tmp_path / month.ASSET / partition_of(hours[3]) / "part-0.parquet")
    (wrong,) = month.differences(tmp_path, flights)
    assert "differ from the 496 of pandas" in wrong
    rmtree(tmp_path / month.ASSET / partition_of(hours[1]))
    assert "743 of 744 hours are published" in month.differences(tmp_path, flights)[0]


@pytest.mark.parametrize(("state", "asks"), [(None, 1), ("failed", 1), ("running", 0)])
def test_a_month_that_a_call_before_has_asked_for_is_not_asked_for_again(state: str | None, *, asks: bool) -> None:
    there, asked = iter([700, 744]), list[str]()

    class Asked:
        def partitions(self, method: str, path: str, body: object = None) -> dict[str, object]:
            if method == "POST":
                asked.append(path)
                return {}
            if path.startswith("requests"):
                return {"requests": [{"state": "running" if asked else state}] if asked or state else []}
            return {"counts": {"materialized": (number := next(there)), "missing": 744 - number}}

        def get(self, path: str, **_: object) -> dict[str, object]:
            return {"import_errors": [], "total_entries": 0, "is_stale": False}

        def patch(self, path: str, body: object) -> None: ...

        def pages(self, path: str, field: str, **_: object) -> list[dict[str, str]]:
            return [{"hostname": "here"}, {"hostname": ""}]

    api: Api = Asked()  # type: ignore[assignment]
    made = month.make(api, Steps(Console(file=StringIO())).progress, lambda: None)
    assert (made.asked, made.tasks, len(asked)) == (44, 1, asks)
