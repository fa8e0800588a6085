"""Calendars against the brute force of :mod:`tests.core.calendars.oracle`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions import Interval, PartitionByInterval
from airflow_partitions.core.errors import InvalidKeyError
from tests.core.calendars.oracle import cron_boundaries, elapsed_boundaries
from tests.strategies import DAY, MINUTE, ZONES, Window, crons, timedeltas, windows


def boundaries(window: Window, before: int = 0, after: int = 0) -> list[datetime]:
    """What the oracle says of the window, made longer by some *reach* at both ends."""
    start, end = window.start - before * window.reach, window.end + after * window.reach
    if isinstance(window.schedule, timedelta):
        return list(elapsed_boundaries(window.schedule, window.zone, None, start, end))
    return list(cron_boundaries(window.schedule, window.zone, start, end))


def bounds(keys: Iterable[Interval]) -> list[tuple[datetime, datetime]]:
    """Bounds in UTC: Python calls the datetimes of a repeated hour unequal to those of any other zone."""
    return [(key.start.astimezone(UTC), key.end.astimezone(UTC)) for key in keys]


def starts(keys: Iterable[Interval]) -> list[datetime]:
    return [start for start, _ in bounds(keys)]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "cron", ["@hourly", "30 * * * *", "@daily", "*/15 * * * *", "30 2 * * *", "0 */2 * * *", "@monthly"]
)
def test_a2_boundaries_of_a_whole_year(cron: str, zone: str) -> None:
    year = {"Asia/Kathmandu": 1986, "Pacific/Apia": 2011, "America/St_Johns": 2006}.get(zone, 2013)
    start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    expected = list(cron_boundaries(cron, zone, start, end))
    keys = list(PartitionByInterval(cron, timezone=zone).keys(start, end))
    assert starts(keys) == expected
    assert [end for _, end in bounds(keys[:-1])] == expected[1:]
    assert len({str(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    ("cron", "zone", "day", "walls"),
    [
        ("30 * * * *", "America/New_York", "2024-03-10", "00:30 01:30 03:30 04:30"),
        ("30 * * * *", "America/New_York", "2024-11-03", "00:30 01:30 01:30 02:30"),
        ("0 * * * *", "Pacific/Chatham", "2024-09-29", "00:00 01:00 02:00 04:00"),
        ("0 * * * *", "Australia/Lord_Howe", "2013-10-06", "00:00 01:00 03:00 04:00"),
        ("30 * * * *", "Australia/Lord_Howe", "2013-04-07", "00:30 01:30 01:30 02:30"),
        ("30 2,3 * * *", "America/New_York", "2024-03-10", "03:00 03:30"),
        ("30 1,2 * * *", "America/New_York", "2024-11-03", "01:30 02:30"),
    ],
)  # fmt: skip
def test_ek2_a_cron_of_every_hour_has_no_boundary_but_its_matches(cron: str, zone: str, day: str, walls: str) -> None:
    definition = PartitionByInterval(cron, timezone=zone)
    end = datetime.fromisoformat(f"{day}T05:00").replace(tzinfo=ZoneInfo(zone))
    assert [f"{key.start:%H:%M}" for key in definition.keys(day, end)][:4] == walls.split()


@given(windows())
def test_a2_boundaries(window: Window) -> None:
    assert starts(window.definition.keys(window.start, window.end)) == boundaries(window)


@given(windows())
def test_a2_intervals_tile_time(window: Window) -> None:
    keys = list(window.definition.keys(window.start, window.end))
    expected = [pair for pair in pairwise(boundaries(window, after=1)) if pair[0] < window.end]
    assert bounds(keys) == expected
    assert all(a.time_range[1] == b.time_range[0] and not a.overlaps(b) for a, b in pairwise(keys))


@given(windows(), st.data())
def test_a2_key_at(window: Window, data: st.DataObject) -> None:
    all_boundaries = boundaries(window, before=1, after=1)
    close = [
        b + n * timedelta(microseconds=1) for b in all_boundaries if window.start <= b < window.end for n in (-1, 0, 1)
    ]
    whole = st.integers(0, (window.end - window.start) // MINUTE - 1).map(lambda n: window.start + n * MINUTE)
    moment = data.draw(st.one_of(whole, *([st.sampled_from(close)] if close else [])))
    i = bisect_right(all_boundaries, moment)
    key = window.definition.key_at(moment.astimezone(ZoneInfo(data.draw(st.sampled_from(ZONES)))))
    assert bounds([key]) == [(all_boundaries[i - 1], all_boundaries[i])]
    assert moment in key


@given(windows())
def test_a2_count(window: Window) -> None:
    assert window.definition.count(window.start, window.end) == len(boundaries(window))
    assert window.definition.count(window.end, window.start) == 0


@given(windows())
def test_a2_previous_and_next(window: Window) -> None:
    definition = window.definition
    keys = list(definition.keys(window.start, window.end))[:100]
    for one, other in pairwise(keys):
        assert definition.next(one) == other
        assert definition.previous(other) == one


@given(windows(), st.integers(0, 3), st.integers(0, 3))
def test_a2_start_and_end_hold_only_whole_intervals(window: Window, late: int, early: int) -> None:
    start, end = window.start + late * MINUTE, window.end - early * MINUTE
    definition = PartitionByInterval(window.schedule, timezone=window.zone, start=start, end=end)
    if isinstance(window.schedule, timedelta):
        all_boundaries = elapsed_boundaries(window.schedule, window.zone, start, start, end + MINUTE)
    else:
        all_boundaries = cron_boundaries(window.schedule, window.zone, start, end + MINUTE)
    expected = list(pairwise(b for b in all_boundaries if b <= end))
    keys = list(definition.keys())
    assert bounds(keys) == expected
    assert definition.count() == len(expected)
    if keys:
        assert (definition.first(), definition.last()) == (keys[0], keys[-1])
        assert definition.previous(keys[0]) is None
        assert definition.next(keys[-1]) is None
    else:
        assert definition.first() is None
        assert definition.last() is None


@given(windows(), st.data())
def test_a2_part_of_a_bounded_definition(window: Window, data: st.DataObject) -> None:
    definition = PartitionByInterval(window.schedule, timezone=window.zone, start=window.start, end=window.end)
    keys = list(definition.keys())
    minutes = st.integers(-1_000, (window.end - window.start) // MINUTE + 1_000)
    low, high = (window.start + data.draw(minutes) * MINUTE for _ in range(2))
    expected = [key for key in keys if low <= key.start.astimezone(UTC) < high]
    assert list(definition.keys(low, high)) == expected
    assert definition.count(low, high) == len(expected)
    closed = [key for key in keys if key.end.astimezone(UTC) <= high]
    assert definition.last(closed_by=high) == (closed[-1] if closed else None)


@given(windows())
def test_a2_every_key_is_contained_and_found_by_its_text(window: Window) -> None:
    definition = window.definition
    for key in list(definition.keys(window.start, window.end))[:50]:
        assert definition.contains(key)
        assert definition.parse(str(key)) == definition.key(key) == key
        for zone in ("UTC", "Asia/Kathmandu", window.zone):
            moved = key.start.astimezone(ZoneInfo(zone))
            assert definition.parse(moved.isoformat()) == key
            assert definition.parse(moved.isoformat(sep=" ", timespec="microseconds")) == key
        assert str(definition.parse(key.start.astimezone(UTC).isoformat().replace("+00:00", "Z"))) == str(key)


@given(windows())
def test_a2_texts(window: Window) -> None:
    definition = window.definition
    keys = list(definition.keys(window.start, window.end))
    texts = [str(key) for key in keys]
    assert len(set(texts)) == len(texts)
    dates = isinstance(window.schedule, str) and (
        window.schedule in {"@daily", "@weekly", "@monthly"} or window.schedule.startswith("0 0 ")
    )
    for key, text in zip(keys, texts, strict=True):
        start = key.start.replace(tzinfo=None)
        if dates:
            assert text == start.date().isoformat()
            continue
        assert datetime.fromisoformat(text) == key.start.astimezone(UTC)
        time = start.isoformat(
            timespec="microseconds" if start.microsecond else "seconds" if start.second else "minutes"
        )
        assert re.fullmatch(re.escape(time) + ("Z" if window.zone == "UTC" else r"[+-]\d\d:\d\d"), text)


@given(windows(crons), st.data())
def test_a2_what_is_no_boundary_is_no_key(window: Window, data: st.DataObject) -> None:
    all_boundaries = boundaries(window, before=1, after=1)
    moment = window.start + data.draw(st.integers(0, (window.end - window.start) // MINUTE - 1)) * MINUTE
    is_boundary = all_boundaries[bisect_left(all_boundaries, moment)] == moment
    assert window.definition.contains(moment.isoformat()) == is_boundary
    if is_boundary:
        assert starts([window.definition.parse(moment.isoformat())]) == [moment]
        return
    with pytest.raises(InvalidKeyError) as error:
        window.definition.parse(moment.isoformat())
    assert str(window.definition.key_at(moment)) in error.value.nearest


@given(windows(timedeltas))
def test_a2_a_timedelta_counts_from_start(window: Window) -> None:
    definition = PartitionByInterval(window.schedule, timezone=window.zone, start=window.start)
    for i, key in zip(range(5), definition.keys(end=window.start + 10 * window.reach), strict=False):
        assert bounds([key]) == [(window.start + i * window.schedule, window.start + (i + 1) * window.schedule)]


@given(windows(), st.sampled_from([0, 1]))
def test_a2_open_calendars_answer_in_the_far_past_and_future(window: Window, future: int) -> None:
    moment = (datetime(2199, 5, 5, tzinfo=UTC) if future else datetime(1805, 5, 5, tzinfo=UTC)) + (
        window.start - window.end
    )
    key = window.definition.key_at(moment)
    assert moment in key
    assert window.definition.previous(key).time_range[1] == key.time_range[0]
    assert window.definition.next(key).time_range[0] == key.time_range[1]
    assert window.definition.count(moment - DAY, moment + DAY) == len(
        list(window.definition.keys(moment - DAY, moment + DAY))
    )
