"""Crons that can't be read, and what their author is told."""

from __future__ import annotations

import re

import pytest

from airflow_partitions.core.calendars import Cron
from airflow_partitions.core.errors import InvalidDefinitionError


@pytest.mark.parametrize(
    "cron",
    ["", "daily", "@dayly", "@once", "* * * *", "0 0 * * * *", "60 * * * *", "0 24 * * *", "0 0 32 * *", "0 0 0 * *",
     "0 0 * 13 *", "0 0 * * 8", "a * * * *", "0 0 15W * *", "0 0 LW * *", "H * * * *", "0 H(0-7) * * *", "R * * * *",
     "0 0 1 R *", "0 0 * * R", "0 0 * * H", "0 0 * * r(1-3)", "*/0 * * * *", "0 0 * * mon#6", "0 0 * * L9",
     "0-0 0-0 1 * *", "0 0 * * 3-3", "0 0 * * fri-fri", "1,5-5/2 * * * *"],
)  # fmt: skip
def test_a2_what_is_no_cron(cron: str) -> None:
    with pytest.raises(InvalidDefinitionError) as error:
        Cron(cron)
    assert repr(cron) in str(error.value)
    assert "expected five fields like '30 2 * * 1-5', or one of @hourly, @daily, @weekly" in str(error.value)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 4,6 *", "0 0 30 feb *"])
def test_a2_a_cron_that_never_matches(cron: str) -> None:
    with pytest.raises(
        InvalidDefinitionError, match=f"cron {re.escape(repr(cron))} never matches; expected one that names days"
    ):
        Cron(cron)


@pytest.mark.parametrize("cron", ["0 0 13 * fri#2", "0 0 L * L5", "0 0 1-7 * mon#1"])
def test_a2_days_of_the_month_beside_numbered_weekdays(cron: str) -> None:
    with pytest.raises(
        InvalidDefinitionError, match=f"cron {re.escape(repr(cron))} mixes days of the month and numbered"
    ):
        Cron(cron)


def test_a2_plain_beside_numbered_weekdays() -> None:
    with pytest.raises(InvalidDefinitionError, match="does not support mixing literal values and nth day"):
        Cron("0 0 * * 1,2#1")


@pytest.mark.parametrize(
    ("cron", "every_hour"),
    [("0 * * * *", True), ("5 */1 * * *", True), ("5 0-23 * * *", True), ("@hourly", True), ("0 */2 * * *", False),
     ("0 0 * * *", False), ("0 1-23 * * *", False)],
)  # fmt: skip
def test_a2_which_crons_take_every_hour(cron: str, every_hour: bool) -> None:
    assert Cron(cron).every_hour is every_hour


@pytest.mark.parametrize(
    ("cron", "midnight"),
    [("@daily", True), ("@yearly", True), ("0 0 * * 1-5", True), ("0 0,12 * * *", False), ("0 1 * * *", False),
     ("* 0 * * *", False), ("0 * * * *", False), ("0,0 */24 1 * *", True)],
)  # fmt: skip
def test_a2_which_crons_are_written_in_dates(cron: str, midnight: bool) -> None:
    assert Cron(cron).midnight is midnight


def test_who_asks_for_all_years_pushes_nothing_of_a_cron_out() -> None:
    cron = Cron("0 0 1-7 * *")
    day = 86_400_000_000
    matches = sum(1 for _ in cron.matches(-700 * 365 * day, 300 * 365 * day))
    misses = cron._month_days.cache_info().misses
    assert matches == cron.count(-700 * 365 * day, 300 * 365 * day) > 80_000
    assert cron._month_days.cache_info().misses <= misses + 2
    assert cron._month_days.cache_info().maxsize >= 12 * 9_999
