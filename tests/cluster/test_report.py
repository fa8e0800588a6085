"""The report tells of each asset in each way, and of what was made twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from cluster import report, ways
from cluster.home import ClusterHome
from cluster.measures import Measure, add, measures
from cluster.plan import Part
from demo import comparison
from demo.backfill import Run
from demo.landing import hours_of
from demo.plan import Target

FIRST, SECOND = hours_of(pd.Timestamp("2013-02-01").date())[6:8]
KEYS = tuple(hour.isoformat(timespec="minutes") for hour in (FIRST, SECOND))
PARTS = (
    Part("cold", "cold", (Target("hourly_flights", KEYS[:1]),)),
    Part("warm", "warm", (Target("hourly_flights", KEYS[1:]),)),
)


def source() -> dict[str, pd.DataFrame]:
    hours = pd.to_datetime([hour.astimezone(UTC) for hour in (FIRST, SECOND, SECOND)])
    return {
        "flights": pd.DataFrame({"time_hour": hours, "origin": "EWR", "dep_delay": 1.0}),
        "weather": pd.DataFrame({"time_hour": hours[:2], "origin": "EWR"}),
    }


class FakeApi:
    """Answers as Airflow would; *events* are keys with their rows."""

    def __init__(self, *events: tuple[str, int]) -> None:
        self.events = events
        self.connection: dict[str, Any] | None = None
        self.calls: list[str] = []

    def pages(self, path: str, field: str, order_by: str = "id", **query: Any) -> Iterator[dict[str, Any]]:
        if field == "task_instances":
            yield from ({"dag_run_id": f"run {key}", "duration": 2.5} for key, _ in self.events)
            return
        for key, rows in self.events:
            reads = {name: {"rows": count, "files": 1} for name, count in (("flights", rows), ("weather", 1))}
            yield {"partition_key": key, "extra": {"rows": rows, "reads": reads}}

    def get(self, path: str) -> dict[str, Any] | None:
        return self.connection

    def post(self, path: str, body: dict[str, Any]) -> None:
        self.calls.append("post")
        self.connection = body

    def patch(self, path: str, body: dict[str, Any]) -> None:
        self.calls.append("patch")
        self.connection = {**(self.connection or {}), **body}


def rows(*events: tuple[str, int]) -> tuple[list[Any], list[str]]:
    runs = [Run("hourly_flights", key, f"run {key}", "success") for key in KEYS]
    published = {KEYS[0]: {"rows": 1.0}, KEYS[1]: {"rows": 2.0}}
    return report.rows(FakeApi(*events), runs, lambda asset, key: published[key])  # type: ignore[arg-type]


def test_a_line_for_each_asset_in_each_way(capsys: pytest.CaptureFixture[str]) -> None:
    collected, twice = rows((KEYS[0], 1), (KEYS[1], 2))
    assert twice == comparison.failures(collected) == []
    cold, warm = report.lines(PARTS, collected, source())
    assert (cold.way, cold.partitions, cold.seconds, cold.rows_in, cold.rows_out) == ("cold", 1, 2.5, 2, 1)
    assert (warm.way, warm.partitions, warm.rows_in, warm.rows_out) == ("warm", 1, 3, 2)
    assert (cold.numbers, cold.right, warm.right) == (4, 4, 4)
    measures = {"cold": Measure(1, 12.0, 24.0), "warm": Measure(0, 0.0, 0.0)}
    report.show([cold, warm], measures, Console(width=200))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["cold", "cold", "hourly_flights", "1", "2.5", "2", "1", "4", "of", "4"] in lines
    assert ["cold", "1", "12", "12.00", "24.00"] in lines


def test_what_is_wrong_is_not_counted_as_right() -> None:
    collected, _ = rows((KEYS[0], 1), (KEYS[1], 3))
    _, warm = report.lines(PARTS, collected, source())
    assert (warm.numbers, warm.right) == (4, 2)


def test_what_was_made_twice_is_told() -> None:
    _, twice = rows((KEYS[0], 1), (KEYS[1], 2), (KEYS[0], 1))
    assert twice == [f"hourly_flights {KEYS[0]}: was made 2 times"]


def test_a_way_is_a_connection_and_leaves_nothing_of_the_other(tmp_path: Path) -> None:
    home, api = ClusterHome.opened(tmp_path), FakeApi()
    for way in ("warm", "cold"):
        ways.choose(api, home, way)  # type: ignore[arg-type]
    assert api.calls == ["post", "patch"]
    assert api.connection
    assert (api.connection["conn_type"], api.connection["password"]) == ("spark", None)
    ways.choose(api, home, "warm")  # type: ignore[arg-type]
    assert api.connection["password"] == home.secret("connect")
    assert api.connection["host"] == "sc://localhost"


def test_what_calls_have_taken_is_added_up(tmp_path: Path) -> None:
    home = ClusterHome.opened(tmp_path)
    assert measures(home) == {}
    add(home, "cold", Measure(3, 30.0, 60.0))
    add(home, "warm", Measure(4, 4.0, 5.0))
    add(home, "cold", Measure(1, 10.0, 20.0))
    assert measures(home) == {"cold": Measure(4, 40.0, 80.0), "warm": Measure(4, 4.0, 5.0)}
