"""Values in cells: what is read of the ledger and of events, and scales that one cell does not spoil."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions.core.errors import InvalidRequestError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.operate.contract.corrections import Forget
from airflow_partitions.operate.contract.values import ShowValues
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.states.values import Scale
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAGS = """
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-04-11", name="date")

@asset(schedule=None, partition=DAYS)
def days(partition): ...

@asset(schedule=None, partition=PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")]))
def airport_days(partition): ...

@asset(schedule=None, partition=PartitionAtRuntime(name="customer"))
def customers(partition): ...
"""


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(tmp_path, days=DAGS)
    return metadata


def values(asset: str, value: str = "rows", **more: Any) -> dict[str, Any]:
    answered: dict[str, Any] = answer(ShowValues.of(asset=asset, value=value, **more))
    return answered


def day_keys() -> list[str]:
    return list(map(str, partitioned_asset("days").definition.keys()))


def test_the_ledger_and_the_events_after_it_tell_the_same(dags: Metadata) -> None:
    for day, rows in zip(day_keys(), range(100), strict=True):
        dags.emit("days", day, extra={"rows": rows, "seconds": rows / 4, "reads": {"x": {"files": rows, "rows": 1}}})
    before = [values("days", value)["line"] for value in ("rows", "seconds", "read_files", "bytes")]
    assert before == [
        list(range(100)), [rows / 4 for rows in range(100)], list(range(100)), [None] * 100,
    ]  # fmt: skip
    update_ledger("days", partitioned_asset("days").meaning)
    dags.emit("days", day_keys()[3], extra={"rows": 9_000})
    line = values("days")["line"]
    assert (line[3], line[4]) == (9_000, 4)
    dags.emit("days", day_keys()[3])  # the last time tells none
    assert (values("days")["line"][3], values("days")["untold"]) == (None, 1)


def test_one_cell_of_a_million_millions_leaves_the_others_their_scale(dags: Metadata) -> None:
    for day, rows in zip(day_keys(), [10**12, *range(100, 199)], strict=True):
        dags.emit("days", day, extra={"rows": rows})
    answered = values("days")
    assert [answered[name] for name in ("least", "low", "high", "most")] == [100, 101, 198, 10**12]


def test_what_half_of_the_cells_do_not_tell_is_counted(dags: Metadata) -> None:
    told, untold = day_keys()[::2], day_keys()[1::2]
    dags.emit("days", *told, extra={"rows": 5})
    dags.emit("days", *untold, extra={"rows": "many"})
    answered = values("days")
    assert (answered["told"], answered["untold"], answered["low"], answered["high"]) == (50, 50, 5, 5)
    assert answered["line"] == [5, None] * 50


def tells_nothing(metadata: Metadata, seconds: Any) -> None:
    """Before upkeep and after it."""
    metadata.emit("days", day_keys()[0], extra={"seconds": seconds})
    metadata.emit("days", day_keys()[1], extra={"seconds": 3})
    for _ in range(2):
        answered = values("days", "seconds")
        assert (answered["line"][:3], answered["untold"], answered["most"]) == ([None, 3, None], 1, 3)
        update_ledger("days", partitioned_asset("days").meaning)


@pytest.mark.parametrize("seconds", [True, "12", [3], None])
def test_what_is_no_number_tells_nothing(dags: Metadata, seconds: Any) -> None:
    tells_nothing(dags, seconds)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")  # PostgreSQL keeps none of these
@pytest.mark.parametrize("seconds", [float("nan"), float("inf")])
def test_what_is_no_finite_number_tells_nothing(dags: Metadata, seconds: float) -> None:
    tells_nothing(dags, seconds)


def test_what_is_forgotten_tells_nothing(dags: Metadata) -> None:
    dags.emit("days", *day_keys()[:2], extra={"rows": 5})
    answer(Forget(asset="days", select=day_keys()[0], reason="wrong"))
    assert values("days")["line"][:2] == [None, 5]
    update_ledger("days", partitioned_asset("days").meaning)
    assert values("days")["line"][:2] == [None, 5]


def test_cells_of_several_partitions_tell_their_mean(dags: Metadata) -> None:
    for number, day in enumerate(day_keys()[:31]):
        dags.emit("airport_days", f"{day}|EWR", extra={"rows": number})
        dags.emit("airport_days", f"{day}|JFK", extra={"rows": 100})
    months = values("airport_days", columns=4)
    assert {row["value"]: row["values"] for row in months["rows"]} == {
        "EWR": [15, None, None, None],
        "JFK": [100, None, None, None],
    }
    assert months["line"][0] == (15 * 31 + 100 * 31) / 62
    only = values("airport_days", columns=4, select="airport in JFK & 2013-01-01..2013-01-05")
    assert [row["values"] for row in only["rows"]] == [[100, None, None, None]]
    page = values("airport_days", row_limit=1, columns=4)
    assert (len(page["rows"]), page["row_cursor"], page["most"]) == (1, "EWR", 100)  # the scale is that of all rows


def test_a_column_says_how_many_partitions_tell_it(dags: Metadata) -> None:
    first, second, third = day_keys()[:3]
    dags.emit("airport_days", f"{first}|EWR", f"{first}|JFK", f"{second}|EWR", extra={"rows": 5})
    dags.emit("airport_days", f"{third}|EWR")  # tells none
    answered = values("airport_days", end="2013-01-04", down="")
    assert (answered["line"], answered["line_told"]) == ([5, 5, None], [2, 1, 0])


def test_partitions_without_time_have_values_too(dags: Metadata) -> None:
    dags.emit("customers", "anna", extra={"rows": 7})
    dags.emit("customers", "bob", extra={})
    answered = values("customers")
    assert [(row["value"], row["values"]) for row in answered["rows"]] == [("anna", [7]), ("bob", [None])]


def test_an_asset_of_which_nothing_is_there_has_no_scale(dags: Metadata) -> None:
    answered = values("days", "age")
    assert (answered["least"], answered["low"], answered["high"], answered["most"]) == (None,) * 4
    assert set(answered["line"]) == {None}


def test_an_unknown_value_names_the_nearest(dags: Metadata) -> None:
    with pytest.raises(InvalidRequestError, match=r"value='secnds'; expected one of .*; nearest: seconds"):
        ShowValues.of(asset="days", value="secnds")


@given(st.lists(st.floats(-1e15, 1e15), min_size=1), st.sampled_from([1e300, -1e300]))
def test_a_scale_holds_all_but_a_hundredth_at_each_end(some: list[float], outermost: float) -> None:
    scale = Scale.of(some)
    assert scale is not None
    assert scale.least <= scale.low <= scale.high <= scale.most
    assert {scale.least, scale.low, scale.high, scale.most} <= set(some)
    outside = [value for value in some if value < scale.low or value > scale.high]
    assert len(outside) <= max(2, 0.02 * len(some) + 2)
    if len(some) >= 5:
        spoiled = Scale.of([*some, outermost])
        assert spoiled is not None
        assert max(abs(spoiled.low), abs(spoiled.high)) <= max(map(abs, some))
