"""Grids compared with the state of each key by itself, and what they cost."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions.core.errors import SelectionError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.corrections import Forget
from airflow_partitions.operate.contract.grid import ShowGrid
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.operations import grid as operations
from airflow_partitions.operate.states import State
from airflow_partitions.operate.states import view as views
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.version import version_of
from airflow_partitions.operate.upkeep import one_round
from tests.hunt import effort
from tests.metadata import Metadata
from tests.operate.states.test_oracle import ASSETS, NOW, World, clear, dags, keys_of, put, state_of, worlds
from tests.operate.states.world import put_runs

__all__ = ["dags"]

pytestmark = pytest.mark.airflow


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operation's clock stands still."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return NOW

    monkeypatch.setattr(operations, "datetime", Clock)


def drawn(grid: dict[str, Any]) -> dict[tuple[str | None, str | None], Counter[str]]:
    """The numbers of states in each cell that is not empty, by the first keys of its column and its row."""
    cells: dict[tuple[str | None, str | None], Counter[str]] = {}
    for row in grid["rows"]:
        firsts = iter([column["first"] for column in grid["columns"]])
        for length, number in row["runs"]:
            for _ in range(length):
                first = next(firsts)
                if states := grid["cells"][number]["states"]:
                    cells[first, row["value"]] = Counter(states)
        assert next(firsts, None) is None
    return cells


def expected(
    asset: PartitionedAsset, grid: dict[str, Any], states: dict[Key, State]
) -> dict[tuple[str | None, str | None], Counter[str]]:
    """The same by asking each key where it belongs."""
    cells: dict[tuple[str | None, str | None], Counter[str]] = {}
    for key, state in states.items():
        parts = asset.definition.dimensions_of(key)
        down = None if grid["down"] is None else str(parts[grid["down"]])
        across = None
        if grid["across"] is not None:
            (across,) = (column["first"] for column in grid["columns"] if _holds(asset, grid, column, parts))
        cells.setdefault((across, down), Counter())[str(state)] += 1
    return cells


def _holds(asset: PartitionedAsset, grid: dict[str, Any], column: dict[str, Any], parts: Any) -> bool:
    part = parts[grid["across"]]
    if "start" in column:
        return datetime.fromisoformat(column["start"]) <= part.start < datetime.fromisoformat(column["end"])
    texts = [s.text for s in asset.definition.dimensions[grid["across"]].segments]  # type: ignore[attr-defined]
    return texts.index(column["first"]) <= texts.index(part.text) <= texts.index(column["last"])


def test_cells_are_those_of_each_key_by_itself(dags: Metadata) -> None:
    assets = {name: partitioned_asset(name) for name in ASSETS}
    texts = {name: [str(key) for key in keys_of(asset)] for name, asset in assets.items()}
    spans = st.sampled_from([(None, None), ("2013-11-02", "2013-11-04"), ("2013-11-03T05:30+00:00", None)])

    @effort(15, 1)
    @given(worlds(texts), st.sampled_from([1, 2, 3, 5, 100]), spans, st.booleans(), st.booleans())
    def compare(world: World, columns: int, span: tuple[Any, Any], summed: bool, selected: bool) -> None:
        clear(dags)
        if world.upkeep is not None:
            put(dags, world.facts[: world.upkeep])
            one_round()
        put(dags, world.facts[world.upkeep or 0 :])
        for name, asset in assets.items():
            time = asset.definition.time
            options: dict[str, Any] = {"columns": columns, "down": "" if summed else None}
            if time is not None:
                options |= {"start": span[0], "end": span[1]}
            some = texts[name][::2]
            if selected:
                options["select"] = ", ".join(some)
            grid = answer(ShowGrid(asset=name, **options))
            assert grid is not None
            states = {
                key: state
                for key in keys_of(asset)
                if (state := state_of(asset, key, world.facts)) is not None
                and (not selected or str(key) in some)
                and _in_view(asset, grid, key)
            }
            assert len(grid["columns"]) <= columns
            assert drawn(grid) == expected(asset, grid, states), name
            assert grid["counts"] == Counter(str(state) for state in states.values())
            assert grid["total"] == len(states)
            assert answer(ShowGrid(asset=name, **options), seeing(grid["version"])) is None

    compare()


def _in_view(asset: PartitionedAsset, grid: dict[str, Any], key: Key) -> bool:
    interval = asset.definition.interval_of(key)
    if interval is None:
        return True
    start, end = map(datetime.fromisoformat, (grid["start"], grid["end"]))
    return start <= interval.start < end


@pytest.fixture
def zones(metadata: Metadata, tmp_path: Path) -> Metadata:
    """Hours and days where clocks change, also by half an hour; a product of three; open calendars."""
    metadata.parse(
        tmp_path,
        zones="""
        NEW_YORK = dict(timezone="America/New_York", start="2013-03-01", end="2013-11-05")

        @asset(schedule="@hourly", partition=PartitionByInterval("@hourly", **NEW_YORK))
        def hours(partition): ...

        @asset(schedule="@hourly", partition=PartitionByInterval(
            "@hourly", timezone="Australia/Lord_Howe", start="2013-10-01", end="2013-11-01"))
        def island(partition): ...

        @asset(schedule="@daily", partition=PartitionByProduct([
            PartitionByInterval("@daily", name="date", **NEW_YORK),
            PartitionBySequence(["EWR", "JFK", "LGA"], name="origin"),
            PartitionBySequence(["UA", "AA"], name="carrier")]))
        def flights(partition): ...

        @asset(schedule=None, partition=PartitionByProduct([
            PartitionBySequence(["EWR", "JFK", "LGA"], name="origin"),
            PartitionBySequence(["UA", "AA"], name="carrier")]))
        def pairs(partition): ...

        @asset(schedule="@daily", partition=PartitionByInterval("@daily"))
        def endless(partition): ...

        @asset(schedule=None, partition=PartitionAtRuntime(name="customers"))
        def customers(partition): ...
        """,
    )
    return metadata


def seeing(version: str) -> Asker:
    """An asker who has the answer of that *version*."""
    asker = Asker()
    asker.seen = version
    return asker


def look(asset: str, **options: Any) -> dict[str, Any]:
    grid = answer(ShowGrid(asset=asset, **options))
    assert grid is not None
    return grid


def shape(grid: dict[str, Any]) -> list[tuple[Any, Any, int]]:
    return [(column["first"], column["last"], column["count"]) for column in grid["columns"]]


def test_a_day_of_hours_has_as_many_columns_as_the_clock_shows(zones: Metadata) -> None:
    days = {}
    for day, end in (("2013-03-10", "2013-03-11"), ("2013-07-01", "2013-07-02"), ("2013-11-03", "2013-11-04")):
        grid = look("hours", start=day, end=end)
        assert grid["unit"] == "interval"
        days[day] = len(grid["columns"])
    assert days == {"2013-03-10": 23, "2013-07-01": 24, "2013-11-03": 25}
    grid = look("hours", start="2013-11-02", end="2013-11-05", columns=3)
    assert grid["unit"] == "day"
    assert shape(grid) == [
        ("2013-11-02T00:00-04:00", "2013-11-02T23:00-04:00", 24),
        ("2013-11-03T00:00-04:00", "2013-11-03T23:00-05:00", 25),
        ("2013-11-04T00:00-05:00", "2013-11-04T23:00-05:00", 24),
    ]
    assert grid["timezone"] == "America/New_York"
    assert (grid["start"], grid["end"]) == ("2013-11-02T00:00:00-04:00", "2013-11-05T00:00:00-05:00")


def test_a_clock_that_jumps_by_half_an_hour_leaves_whole_intervals_in_each_column(zones: Metadata) -> None:
    grid = look("island", start="2013-10-05", end="2013-10-08", columns=12)
    assert grid["unit"] == "6 hours"
    assert [count for _, _, count in shape(grid)] == [6] * 4 + [5] + [6] * 7


def test_columns_are_whole_months_where_days_are_too_many(zones: Metadata) -> None:
    grid = look("flights", columns=9, down="")
    assert grid["unit"] == "month"
    assert shape(grid)[0] == ("2013-03-01", "2013-03-31", 31)
    assert shape(grid)[-1] == ("2013-11-01", "2013-11-04", 4)
    assert grid["extent"] == {
        "first": "2013-03-01", "last": "2013-11-04", "count": 249,
        "start": "2013-03-01T00:00:00-05:00", "end": "2013-11-05T00:00:00-05:00",
    }  # fmt: skip
    assert grid["cells"][grid["rows"][0]["runs"][0][1]] == {"states": {"missing": 31 * 6}}


def test_any_two_dimensions_may_run_across_and_down(zones: Metadata) -> None:
    zones.emit("flights", "2013-03-01|JFK|AA", "2013-03-02|JFK|AA", "2013-03-02|LGA|UA")
    grid = look("flights", across="carrier", down="origin")
    assert grid["unit"] is None
    cells = drawn(grid)
    assert cells["AA", "JFK"] == {"materialized": 2, "missing": 247}
    assert cells["UA", "EWR"] == {"missing": 249}
    grid = look("flights", across="", down="carrier")
    assert shape(grid) == [(None, None, 1)]
    assert drawn(grid)[None, "UA"] == {"materialized": 1, "missing": 3 * 249 - 1}
    grid = look("pairs")
    assert (grid["across"], grid["down"]) == ("carrier", "origin")
    grid = look("pairs", across="origin", columns=2)
    assert shape(grid) == [("EWR", "JFK", 2), ("LGA", "LGA", 1)]


def test_rows_come_in_pages_and_can_be_searched(zones: Metadata) -> None:
    first = look("flights", row_limit=2)
    assert ([row["value"] for row in first["rows"]], first["row_count"], first["row_cursor"]) == (
        ["EWR", "JFK"],
        3,
        "JFK",
    )
    second = look("flights", row_limit=2, row_cursor="JFK")
    assert [row["value"] for row in second["rows"]] == ["LGA"]
    assert (second["row_cursor"], second["counts"]) == (None, first["counts"])
    some = look("flights", search="jf")
    assert [row["value"] for row in some["rows"]] == ["JFK"]
    assert some["total"] == 249 * 2
    nothing = look("flights", search="x")
    assert (nothing["rows"], nothing["row_count"], nothing["counts"]) == ([], 0, {})


def test_an_open_calendar_begins_where_anything_is_known_or_with_its_newest_intervals(zones: Metadata) -> None:
    grid = look("endless")
    assert shape(grid)[0] == ("2013-10-06", "2013-10-06", 1)
    assert grid["counts"] == {"missing": 30}
    zones.emit("endless", "2013-11-01")
    grid = look("endless")
    assert shape(grid)[0] == ("2013-11-01", "2013-11-01", 1)
    assert grid["extent"]["count"] == 4
    grid = look("endless", start="2000-01-01", end="2014-01-01", columns=20)
    assert (grid["unit"], grid["cells"][0]["states"]) == ("year", {"missing": 366})
    put_runs(zones, "endless", ["2013-11-07"], "running", NOW)
    grid = look("endless")
    assert drawn(grid)["2013-11-07", None] == {"running": 1}
    assert ("2013-11-06", None) not in drawn(grid)


def test_an_asset_without_keys_has_an_empty_picture(zones: Metadata) -> None:
    grid = look("customers")
    assert (grid["rows"], grid["total"], grid["extent"], shape(grid)) == ([], 0, None, [(None, None, 1)])
    zones.emit("customers", "ann", "bob")
    grid = look("customers")
    assert [row["value"] for row in grid["rows"]] == ["ann", "bob"]
    outside = look("hours", start="1999-01-01", end="1999-02-01")
    assert (outside["columns"], outside["rows"]) == ([], [{"value": None, "runs": ()}])


def test_ed6_rows_go_on_after_that_of_their_cursor_is_gone(zones: Metadata) -> None:
    zones.emit("customers", "ann", "cid")
    rows = look("customers", row_cursor="bob")["rows"]  # who was on the page before
    assert [row["value"] for row in rows] == ["cid"]


def test_what_can_not_be_drawn_is_refused_with_what_can(zones: Metadata) -> None:
    for options, message in (
        ({"across": "orign"}, "nearest: origin"),
        ({"down": "date"}, "can only run across"),
        ({"across": "origin", "down": "origin"}, "runs across already"),
        ({"start": "yesterday"}, "expected ISO text"),
        ({"start": "2013-05-01", "end": "2013-04-01"}, "is not before"),
    ):
        with pytest.raises(SelectionError, match=message):
            look("flights", **options)


def test_a_version_holds_until_something_changes(zones: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    zones.emit("flights", "2013-03-01|JFK|AA")
    one_round()
    monkeypatch.setattr(views, "grid", None)  # nothing is worked out

    def version(asset: str = "flights", now: datetime = NOW) -> str:
        return version_of(AssetStates(partitioned_asset(asset), now))

    versions = [version()]
    assert version() == versions[0]
    zones.emit("flights", "2013-03-02|JFK|AA", at=datetime(2013, 11, 5, tzinfo=UTC))
    versions.append(version())
    one_round()
    versions.append(version())
    put_runs(zones, "flights", ["2013-03-03|JFK|AA"], "failed", NOW)
    versions.append(version())
    put_runs(zones, "flights", ["2013-03-03|JFK|AA"], "success", NOW.replace(hour=13))
    versions.append(version())
    answer(Forget(asset="flights", select="2013-03-01|JFK|AA"))
    versions.append(version())
    assert len(set(versions)) == len(versions)
    assert version("endless") == version("endless", NOW + timedelta(hours=1))
    assert version("endless") != version("endless", NOW + timedelta(days=1))
