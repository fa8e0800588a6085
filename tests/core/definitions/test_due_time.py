"""When partitions are due."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.errors import InvalidDefinitionError

DAYS = PartitionByInterval("@daily", timezone="America/New_York")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York")


@pytest.mark.parametrize(
    ("key", "due_time", "due"),
    [
        ("2013-02-08", DueTime("06:00"), "2013-02-09T06:00:00-05:00"),
        ("2013-02-08", DueTime("06:00", 2), "2013-02-11T06:00:00-05:00"),
        ("2013-02-08", DueTime("00:00"), "2013-02-09T00:00:00-05:00"),
        ("2013-02-08", DueTime(timedelta(hours=6)), "2013-02-09T06:00:00-05:00"),
        ("2013-03-09", DueTime(timedelta(hours=6)), "2013-03-10T07:00:00-04:00"),  # elapsed time
        ("2013-03-09", DueTime("02:30"), "2013-03-10T02:30:00-05:00"),  # that is 03:30, the clock jumps over it
        ("2013-11-02", DueTime("01:30"), "2013-11-03T01:30:00-04:00"),  # the first of two
    ],
)
def test_a_day_is_due_by_the_clock_of_its_zone(key: str, due_time: DueTime, due: str) -> None:
    assert due_time.of(DAYS.parse(key)).isoformat() == due


def test_hours_of_a_day_are_due_at_the_next_such_time() -> None:
    for key, due in (("2013-02-08T04:00-05:00", "2013-02-08T06:00"), ("2013-02-08T06:00-05:00", "2013-02-09T06:00")):
        assert DueTime("06:00").of(HOURS.parse(key)).isoformat().startswith(due)


@pytest.mark.parametrize("by", ["6 o'clock", "24:01", "06:00Z", 6, None, timedelta(hours=-1)])
def test_what_is_no_time_is_refused(by: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="expected a time of day such as '06:00'"):
        DueTime(by)
    with pytest.raises(InvalidDefinitionError, match="expected a number of days"):
        DueTime("06:00", -1)


@pytest.mark.parametrize("due_time", [DueTime("06:00", 1), DueTime(timedelta(minutes=90)), DueTime("06:00:30")])
def test_it_survives_its_form(due_time: DueTime) -> None:
    assert DueTime.from_json(due_time.to_json()) == due_time
