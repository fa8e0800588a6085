"""The timeline of every zone, against the changes read from the time zone database by another way."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import groupby
from zoneinfo import ZoneInfo, available_timezones

import pytest

from airflow_partitions.core.calendars import timeline
from airflow_partitions.core.calendars.instants import DAY, SECOND
from airflow_partitions.core.calendars.timeline import Timeline
from tests.core.calendars.tzif import changes, data_of

YEAR_1900, YEAR_2038 = -2_208_988_800, 2_145_916_800


def different_zones() -> Iterator[str]:
    """One name for each file of the database; the others are links."""
    names = sorted(available_timezones() - {"localtime"}, key=lambda name: (data_of(name), name))
    for _, same in groupby(names, key=data_of):
        yield next(same)


@pytest.mark.parametrize("letter", sorted({name[0] for name in different_zones()}))
def test_a2_every_change_of_every_zone_is_found(letter: str) -> None:
    for name in (name for name in different_zones() if name.startswith(letter)):
        zone = ZoneInfo.from_file(BytesIO(data_of(name)), key=name)
        clock_changes, block_cuts = [], []
        for period in Timeline(zone).forward(YEAR_1900 * SECOND):
            if period.start >= YEAR_2038 * SECOND:
                break
            if period.start > YEAR_1900 * SECOND:
                change = (period.start // SECOND, period.before // SECOND, period.offset // SECOND)
                (clock_changes if change[1] != change[2] else block_cuts).append(change)
        assert clock_changes == list(changes(name)), name
        # A period is also cut where a block of years ends. That must not be while the clock repeats itself.
        for at, _, _ in block_cuts:
            assert not any(c.at < at < c.at + c.before - c.after for c in changes(name)), name


def test_successive_periods_meet() -> None:
    line = Timeline(ZoneInfo("Pacific/Apia"))
    end = YEAR_1900 * SECOND
    for period in line.forward(end):
        if period.start >= YEAR_2038 * SECOND:
            break
        assert period.start <= end
        assert period == line.period(period.start) == line.period(period.end - 1)
        end = period.end
    backward = []
    for period in line.backward(end - 1):
        if period.end <= YEAR_1900 * SECOND:
            break
        backward.append(period.start)
    assert backward == sorted(backward, reverse=True)


def test_who_asks_for_all_years_pushes_nothing_of_a_zone_out() -> None:
    zone = Timeline(ZoneInfo("Europe/Berlin"))
    for _ in range(2):
        for years in range(0, 1_700, 11):
            zone.period(years * 366 * DAY)
    assert zone._block.cache_info().misses <= 160
    assert zone._block.cache_info().maxsize * timeline._BLOCK >= timeline.LAST - timeline.FIRST
