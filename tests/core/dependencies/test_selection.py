"""Selections: their JSON, and what operations on them look at."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Selection
from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.dependencies.areas import AreaCombination, Positions
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import InvalidKeyError, UnknownVersionError
from airflow_partitions.core.keys import Segment


def days(timezone: str) -> PartitionByInterval:
    return PartitionByInterval("@daily", timezone=timezone, start="2023-07-01", end="2023-08-01")


def elsewhere(form: dict[str, Any]) -> Any:
    """The *form*, read where other time zone data have another clock for the zone."""
    return json.loads(json.dumps(form).replace("America/Chicago", "America/Mexico_City"))


@pytest.mark.parametrize("values", [[1, 2], [1.5, 2.5], [date(2013, 1, 1)], ["a", "1"]])
def test_eh3_a_text_is_in_a_selection_whatever_the_type_of_the_values(values: list[Any]) -> None:
    definition = PartitionBySequence(values)
    text = str(definition.segments[0])
    selection = Selection.of(definition, text)
    assert text in selection
    assert values[0] in selection
    assert [str(key) in selection for key in definition.segments] == [True, *[False] * (len(values) - 1)]
    assert "none" not in selection


def test_ek3_a_selection_is_refused_where_the_clock_is_another_one() -> None:
    form = Selection.of(days("America/Chicago"), "2023-07-04").to_json()
    assert [str(key) for key in Selection.from_json(form)] == ["2023-07-04"]
    with pytest.raises(InvalidKeyError, match="where no interval of it begins; expected the same time zone data"):
        Selection.from_json(elsewhere(form))


def test_ek3_bounds_given_as_dates_are_the_same_where_the_clock_is_another_one() -> None:
    definition = from_json(elsewhere(days("America/Chicago").to_json()))
    assert definition == days("America/Mexico_City")
    assert isinstance(definition, PartitionByInterval)
    assert [str(definition.first()), str(definition.last())] == ["2023-07-01", "2023-07-31"]


def test_ek11_equal_selections_have_the_same_json() -> None:
    definition = PartitionByProduct([days("America/Chicago"), PartitionBySequence(["a", "b"])])
    keys = list(definition.keys())[:6]
    one = Selection(definition, tuple(Box.of(definition, key) for key in keys))
    start, end = datetime(2023, 7, 1, 5, tzinfo=UTC), datetime(2023, 7, 4, 4, 59, tzinfo=UTC)
    other = Selection.between(definition, start, end)
    whole = Selection(definition, (Box((one.boxes[0].time_range or (0, 0)), {"segment": keys[0].parts[1:]}),))
    assert one == other
    assert one.to_json() == other.to_json()
    assert whole != one


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_a_selection_of_another_version_is_refused(version: object) -> None:
    form = {**Selection.of(days("America/Chicago"), "2023-07-04").to_json(), "version": version}
    with pytest.raises(UnknownVersionError, match="the selection has version"):
        Selection.from_json(form)


class Looks:
    """What is looked at: combinations of areas, and lists of segments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cuts = self.lists = 0
        cut, chosen = AreaCombination._cut, Positions.chosen

        def counted_cut(combination: AreaCombination, there: Any) -> Any:
            self.cuts += 1
            return cut(combination, there)

        def counted_chosen(positions: Positions, bits: int | None) -> tuple[Segment, ...]:
            self.lists += 1
            return chosen(positions, bits)

        monkeypatch.setattr(AreaCombination, "_cut", counted_cut)
        monkeypatch.setattr(Positions, "chosen", counted_chosen)


def test_ek4_operations_cost_by_their_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    dimensions = [PartitionBySequence([f"v{n:02}" for n in range(26)], name=f"s{i}") for i in range(4)]
    time = PartitionByInterval("@hourly", start="2013-01-01", end="2014-01-01")
    definition = PartitionByProduct([time, *dimensions])  # 456,976 combinations
    whole = Selection.between(definition, datetime(2013, 1, 1, tzinfo=UTC), datetime(2014, 1, 1, tzinfo=UTC))
    random = Random(1)
    hours = random.sample(range(365 * 24), 300)
    keys = [
        definition.key_at(
            datetime(2013, 1, 1, tzinfo=UTC) + timedelta(hours=hour),
            **{dimension.name: f"v{random.randrange(26):02}" for dimension in dimensions},
        )
        for hour in hours
    ]
    these = Selection.of(definition, *keys)
    looks = Looks(monkeypatch)
    missing = whole - these
    assert len(missing) == len(whole) - 300
    assert (missing | these) == whole
    assert not missing & these
    assert missing != whole
    assert looks.lists == 0
    assert looks.cuts < 4 * 5 * 300  # four operations, at most five depths, for each key


def test_ek5_keys_of_several_boxes_are_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    values = PartitionBySequence([f"v{n:05}" for n in range(10_000)])
    definition = PartitionByProduct([PartitionBySequence(["a", "b"], name="side"), values])
    a, b = definition.segments[0].segments
    boxes = Box(None, {"side": (a,)}), Box(None, {"side": (b,), "segment": values.segments[:4_000]})
    selection = Selection(definition, boxes)
    comparisons: list[object] = []
    monkeypatch.setattr(Segment, "__eq__", lambda one, other: comparisons.append(one) or one is other)
    keys = list(selection)
    assert [str(keys[i]) for i in (0, 9_999, 10_000, -1)] == ["a|v00000", "a|v09999", "b|v00000", "b|v03999"]
    assert not comparisons
