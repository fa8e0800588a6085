"""Keys as Airflow's own timetables and mappers write them, around changes of the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from airflow.partition_mappers.base import PartitionMapper
from airflow.partition_mappers.temporal import (
    FanOutMapper,
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
    StartOfYearMapper,
)
from airflow.partition_mappers.window import DayWindow
from airflow.timetables.trigger import CronPartitionTimetable

from airflow_partitions import Interval, KeyFormat, PartitionByInterval
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key
from tests.core.calendars.tzif import changes
from tests.strategies import DAY, ZONES

DEFAULT = KeyFormat(PartitionByInterval("@hourly")).format
CRONS = (
    "0 * * * *", "30 * * * *", "59 * * * *", "*/15 * * * *", "0 */6 * * *", "30 0 * * *", "0 0 * * *", "30 1 * * *",
    "30 2 * * *", "0 2 * * *", "0 0 * * 1", "5,35 2,3 * * *", "*/10 1,2 * * *", "15 23,0 * * *",
)  # fmt: skip
MAPPERS: tuple[tuple[type[StartOfHourMapper | StartOfDayMapper], str], ...] = (
    (StartOfHourMapper, "@hourly"), (StartOfDayMapper, "@daily"), (StartOfWeekMapper, "0 0 * * 1"),
    (StartOfMonthMapper, "@monthly"), (StartOfQuarterMapper, "@quarterly"), (StartOfYearMapper, "@yearly"),
)  # fmt: skip


def changes_of(zone: str) -> Iterator[datetime]:
    """The last two changes of its clock in each direction, before 2024."""
    past = [change for change in changes(zone, first_year=1971) if change.at < 1_704_067_200]
    for forward in (True, False):
        for change in [change for change in past if (change.after > change.before) is forward][-2:]:
            yield datetime.fromtimestamp(change.at, UTC)


def keys_or_none(key_format: KeyFormat, text: str) -> tuple[Key, ...]:
    try:
        return key_format.keys(text)
    except InvalidKeyError:
        return ()


@pytest.mark.parametrize("form", [DEFAULT, "%Y-%m-%dT%H:%M:%S%z"])
@pytest.mark.parametrize("zone", ZONES)
def test_ek1_every_key_of_airflows_timetable_is_read_and_every_interval_has_one(zone: str, form: str) -> None:
    for change in changes_of(zone):
        wall = change.astimezone(ZoneInfo(zone)).replace(tzinfo=UTC)  # Airflow reads bounds as wall clocks
        for cron in CRONS:
            timetable = CronPartitionTimetable(cron, timezone=zone, key_format=form)
            reach = 9 * DAY if cron.endswith("1") else 2 * DAY
            infos = list(timetable.iter_partition_dagrun_infos(earliest=wall - reach, latest=wall + reach))
            definition = PartitionByInterval(cron, timezone=zone)
            key_format, named = KeyFormat(definition, form), set[Interval]()
            for info in infos:
                assert info.partition_key is not None
                assert info.partition_date is not None
                keys = key_format.keys(info.partition_key)
                named.update(key for key in keys if isinstance(key, Interval))
                if definition.key_at(info.partition_date) not in keys:
                    assert {key_format.text(key) for key in keys} == {info.partition_key}, cron
            expected = set(definition.keys(change - reach + DAY, change + reach - DAY))
            assert expected <= named, (cron, change)
            assert {key_format.text(key) for key in expected} <= {info.partition_key for info in infos}, (cron, change)


@pytest.mark.parametrize(("mapper", "cron"), MAPPERS)
@pytest.mark.parametrize("zone", ZONES)
def test_ek1_keys_of_airflows_mappers_are_read(zone: str, mapper: type[StartOfHourMapper], cron: str) -> None:
    of_hours, definition = StartOfHourMapper(timezone=zone), PartitionByInterval(cron, timezone=zone)
    mapped: PartitionMapper = mapper(timezone=zone)
    key_format = KeyFormat(definition, mapper.default_output_format)
    for change in changes_of(zone):
        for hours in range(-30, 30):
            moment = (change + timedelta(hours=hours)).astimezone(ZoneInfo(zone))
            text = mapped.to_downstream(moment.strftime(of_hours.input_format))
            assert isinstance(text, str)
            start = mapped.to_partition_date(
                text
            )  # another one, where the start of the hour is shown once, the rest twice
            assert start is not None
            assert {definition.key_at(moment), definition.key_at(start)} & set(key_format.keys(text)), (moment, text)


@pytest.mark.parametrize("zone", ZONES)
def test_ek1_hours_of_a_day_that_airflow_fans_out_are_read(zone: str) -> None:
    mapper = FanOutMapper(upstream_mapper=StartOfDayMapper(timezone=zone), window=DayWindow())
    definition = PartitionByInterval("@hourly", timezone=zone)
    key_format = KeyFormat(definition, StartOfHourMapper.default_output_format)
    for change in changes_of(zone):
        day = change.astimezone(ZoneInfo(zone)).date()
        keys = {key for text in mapper.to_downstream(f"{day}T12:00:00") for key in key_format.keys(text)}
        assert set(definition.keys(day, day + DAY)) <= keys


@pytest.mark.parametrize("form", [DEFAULT, StartOfHourMapper.default_output_format, "%Y-%m-%dT%H:%M:%S%z"])
@pytest.mark.parametrize("cron", ["@hourly", "0 2 * * *"])
@pytest.mark.parametrize("zone", ZONES)
def test_ek1_a_key_has_the_texts_that_mean_it_and_no_other(zone: str, cron: str, form: str) -> None:
    key_format = KeyFormat(PartitionByInterval(cron, timezone=zone), form)
    for change in changes_of(zone):
        wall = change.astimezone(ZoneInfo(zone)).replace(tzinfo=None, second=0)
        walls = [wall + timedelta(minutes=minute) for minute in range(-190, 190, 5)]
        texts = {at.replace(tzinfo=ZoneInfo(zone), fold=fold).strftime(form) for at in walls for fold in (0, 1)}
        keys_by_text = {text: keys_or_none(key_format, text) for text in texts}
        for key in key_format.definition.keys(change - DAY, change + DAY):
            assert texts & set(key_format.texts(key)) == {text for text, keys in keys_by_text.items() if key in keys}
            assert key_format.texts(key)[0] == key_format.text(key)
