"""Boards: many assets over one stretch of time, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from airflow_partitions.core.errors import InvalidRequestError, SelectionError, UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.states import CountStates
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys
from airflow_partitions.operate.states import kept
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.board import BoardColumns
from tests.metadata import Metadata
from tests.operate.states.world import put_runs

pytestmark = pytest.mark.airflow

MADE = datetime(2013, 6, 1, tzinfo=UTC)
SPRING = {"since": "2013-02-01T00:00Z", "until": "2013-04-01T00:00Z"}
SOURCE = """
DAYS = PartitionByInterval("@daily", start="2013-02-01", end="2013-04-01")

@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", timezone="America/New_York", start="2013-02-20",
                                                         end="2013-03-20"), tags=["raw"])
def hours(partition): ...

@asset(schedule=hours, partition=DAYS, default_args={"owner": "ann"})
def days(partition): ...

@asset(schedule=days, partition=PartitionByInterval("@monthly", start="2012-01-01", end="2014-01-01"))
def months(partition): ...

@asset(schedule=days, partition=PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")]))
def airport_days(partition): ...

@asset(schedule=None, partition=PartitionAtRuntime("customer"))
def customers(partition): ...

@asset(schedule=None, partition=PartitionByInterval("@daily", start="2020-01-01", end="2020-02-01"))
def later(partition): ...
"""


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    """Assets of all kinds, with a hole upstream."""
    metadata.parse(tmp_path, estate=SOURCE)
    hours = list(map(str, partitioned_asset("hours").definition.keys()))
    metadata.emit("hours", *(hour for hour in hours if not hour.startswith("2013-03-05")), at=MADE)
    put_runs(metadata, "hours", [f"2013-03-05T{hour:02}:00-05:00" for hour in range(3)], "failed", MADE)
    metadata.emit("days", *(f"2013-02-{day:02}" for day in range(1, 29)), at=MADE)
    metadata.emit("months", "2013-02-01", at=MADE)
    metadata.emit("airport_days", *(f"2013-02-{day:02}|EWR" for day in range(1, 11)), at=MADE)
    add_runtime_keys(partitioned_asset("customers"), ["ann", "bob"], by="me")
    return metadata


def strips(**asked: Any) -> dict[str, dict[str, Any]]:
    """The strips of a board, by asset."""
    return {strip["asset"]: strip for strip in answer(ShowBoard(**{**SPRING, **asked}))["strips"]}


def cells(board: dict[str, Any], strip: dict[str, Any]) -> list[tuple[int, int, dict[str, int]]]:
    """Where along the columns the slots of a strip are, and their numbers by state."""
    counts = [board["cells"][cell]["states"] for length, cell in strip["runs"] for _ in range(length)]
    slots = board["scales"][strip["scale"]]["slots"]
    return [(slot["column"], slot["columns"], one) for slot, one in zip(slots, counts, strict=True)]


def test_what_is_upstream_stands_above_and_all_that_is_there_is_counted(estate: Metadata) -> None:
    board = answer(ShowBoard(**SPRING))
    assert [strip["asset"] for strip in board["strips"]] == [
        "hours", "days", "airport_days", "months", "customers", "later",
    ]  # fmt: skip
    assert (board["unit"], len(board["columns"])) == ("day", 59)
    for strip in board["strips"]:
        if strip["scale"] is not None and strip["total"]:
            counts: dict[str, int] = {}
            for _, _, some in cells(board, strip):
                for state, number in some.items():
                    counts[state] = counts.get(state, 0) + number
            assert counts == strip["counts"]
    for name in ("hours", "days", "airport_days", "customers"):
        told = next(strip for strip in board["strips"] if strip["asset"] == name)
        whole = answer(CountStates(asset=name))
        assert (told["counts"], told["total"]) == (whole["counts"], whole["total"])


def test_each_column_has_what_begins_in_it_and_longer_ones_go_on(estate: Metadata) -> None:
    board = answer(ShowBoard(**SPRING))
    by_name = {strip["asset"]: strip for strip in board["strips"]}
    days = cells(board, by_name["days"])
    assert [(column, columns) for column, columns, _ in days] == [(number, 1) for number in range(59)]
    assert days[0][2] == {"materialized": 1}
    assert cells(board, by_name["months"]) == [(0, 28, {"materialized": 1}), (28, 31, {"missing": 1})]
    hours = cells(board, by_name["hours"])
    assert (hours[0][0], hours[0][2]) == (19, {"materialized": 19})  # from 05:00 UTC
    scale = board["scales"][by_name["hours"]["scale"]]
    for slot, (_, _, counts) in zip(scale["slots"], hours, strict=True):
        assert slot["count"] == sum(counts.values())
        assert counts == answer(CountStates(asset="hours", select=f"{slot['start']}..{slot['end']}"))["counts"]
    assert by_name["later"]["runs"] == []
    assert by_name["later"]["total"] == 0


def test_what_has_no_time_says_so_and_what_is_folded_can_be_opened(estate: Metadata) -> None:
    board = answer(ShowBoard(**SPRING, opened=True))
    by_name = {strip["asset"]: strip for strip in board["strips"]}
    assert (by_name["customers"]["scale"], by_name["customers"]["counts"]) == (None, {"materialized": 2})
    assert [row["value"] for row in by_name["customers"]["rows"]] == ["ann", "bob"]
    airports = by_name["airport_days"]
    assert (airports["folded"], airports["row_count"]) == ("airport", 2)
    first = {row["value"]: board["cells"][row["runs"][0][1]]["states"] for row in airports["rows"]}
    assert first == {"EWR": {"materialized": 1}, "JFK": {"missing": 1}}
    assert by_name["days"]["rows"] == []
    assert strips()["airport_days"]["rows"] == []


def test_only_some_are_asked_for(estate: Metadata) -> None:
    def names(**asked: Any) -> list[str]:
        return list(strips(**asked))

    assert names(search="DAYS") == ["days", "airport_days"]
    assert names(tag="raw") == ["hours"]
    assert names(owner="ann") == ["days"]
    assert names(group="asset", search="hour") == ["hours"]
    assert names(group="none") == []
    assert names(dag="days") == ["hours", "days", "airport_days", "months"]
    assert names(dag="airport_days") == ["days", "airport_days"]
    assert names(states=["failed"]) == ["hours"]
    assert names(asset=["months"]) == ["months"]
    with pytest.raises(UnknownAssetError):
        names(asset=["monthz"])


def test_pages_follow_each_other(estate: Metadata) -> None:
    found, cursor = list[str](), None
    while True:
        board = answer(ShowBoard(**SPRING, limit=2, cursor=cursor))
        found += [strip["asset"] for strip in board["strips"]]
        if (cursor := board["cursor"]) is None:
            break
    assert found == list(strips())
    with pytest.raises(SelectionError, match="is of no page"):
        answer(ShowBoard(**SPRING, cursor="nothing"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"since": "x"}, "since='x'; expected"),
        ({"until": "2999-01-01T00:00Z"}, "until='2999-01-01T00:00Z' is still to come"),
        ({"since": "2013-04-01T00:00Z", "until": "2013-02-01T00:00Z"}, "is not before until="),
    ],
)
def test_a_stretch_that_is_none_is_refused(estate: Metadata, asked: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        answer(ShowBoard(**{**SPRING, **asked}))


def test_a_broken_asset_is_a_row_with_its_cause(estate: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    before = strips()
    version_of = kept.version_of

    def breaks(of: AssetStates) -> str:
        if of.asset.name == "days":
            raise ValueError("nobody has thought of that")
        return version_of(of)

    monkeypatch.setattr(kept, "version_of", breaks)
    after = strips()
    assert after["days"]["error"] == "ValueError: nobody has thought of that"
    assert {name: strip["counts"] for name, strip in after.items() if name != "days"} == {
        name: strip["counts"] for name, strip in before.items() if name != "days"
    }
    assert "days" in strips(states=["failed"])  # it may have some


moments = st.integers(0, 40 * 365 * 86_400).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@given(
    st.lists(moments, min_size=2, max_size=2, unique=True),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu"]),
    st.integers(1, 400),
)
@example([datetime(1970, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, 0, 0, 1, tzinfo=UTC)], "UTC", 1)
def test_columns_are_whole_and_hold_the_stretch(some: list[datetime], zone: str, most: int) -> None:
    start, end = sorted(some)
    columns = BoardColumns.of(start, end, ZoneInfo(zone), most)
    edges = columns.edges
    assert 0 < len(edges) - 1 <= most
    assert list(edges) == sorted(set(edges))
    assert edges[0] <= start.timestamp() * 1e6
    assert end.timestamp() * 1e6 <= edges[-1]
