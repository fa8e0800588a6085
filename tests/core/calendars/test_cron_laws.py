"""Crons by arithmetic against croniter, in UTC and over years."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from croniter import CroniterBadDateError, croniter
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.calendars import Cron
from airflow_partitions.core.calendars.instants import instant
from airflow_partitions.core.errors import InvalidDefinitionError

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@st.composite
def fields(draw: st.DrawFn, low: int, high: int, names: tuple[str, ...] = ()) -> str:
    """A field of numbers or names: one, lists, ranges, steps."""
    number = st.integers(low, high)
    shown = number.map(lambda n: names[n - low]) if names and draw(st.booleans()) else number.map(str)
    one, start = draw(shown), draw(number)
    stop, step = draw(st.integers(start, high)), draw(st.integers(1, max(1, (high - low) // 2)))
    ranged = f"{start}-{stop}" if stop > start else f"{start}"
    choices = [one, f"{one},{draw(shown)}", f"*/{step}", ranged, f"{ranged},{one}", "*", "*"]
    if stop - start > step:
        choices.append(f"{start}-{stop}/{step}")
    return draw(st.sampled_from(choices))


@st.composite
def crons(draw: st.DrawFn) -> str:
    days = st.one_of(st.just("*"), st.just("*"), fields(1, 31), st.sampled_from(["L", "1,L", "31", "29-31"]))
    nth = st.builds("{}#{}".format, st.sampled_from([*_DAYS, *"0123456"]), st.integers(1, 5))
    weekdays = st.one_of(
        st.just("*"),
        fields(0, 6, _DAYS),
        nth,
        st.builds("L{}".format, st.integers(0, 6)),
        st.sampled_from(["7", "1,7"]),
    )
    minutes, hours, months = fields(0, 59), fields(0, 23), fields(1, 12, _MONTHS)
    return " ".join(draw(field) for field in (minutes, hours, days, months, weekdays))


def _assume_matches(cron: str) -> None:
    """Leave out crons that name no day, and those that croniter can't find the next match of."""
    try:
        Cron(cron)
        croniter(cron, datetime(1999, 1, 1, tzinfo=UTC)).get_next()
    except (InvalidDefinitionError, CroniterBadDateError):
        assume(condition=False)


@settings(max_examples=300)
@given(crons(), st.datetimes(datetime(1980, 1, 1), datetime(2060, 1, 1)))  # noqa: DTZ001
def test_a2_matches_are_those_of_croniter(cron: str, moment: datetime) -> None:
    _assume_matches(cron)
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    walk = croniter(cron, moment - timedelta(seconds=1), ret_type=datetime, max_years_between_matches=40)
    expected = list(islice((walk.get_next() for _ in range(40)), 40))
    definition = PartitionByInterval(cron)
    keys = list(definition.keys(moment, expected[-1]))
    assert [key.start for key in keys] == expected[:-1]
    assert definition.count(moment, expected[-1]) == 39
    assert definition.key_at(expected[20]) == keys[20]
    assert definition.previous(keys[20]) == keys[19]


@settings(max_examples=300)
@given(crons(), st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1)))  # noqa: DTZ001
def test_a2_one_moment_matches_as_croniter_says(cron: str, moment: datetime) -> None:
    _assume_matches(cron)
    moment = moment.replace(second=0, microsecond=0, tzinfo=UTC)
    at = instant(moment)
    assert (Cron(cron).floor(at) == at) == croniter.match(cron, moment)


@pytest.mark.parametrize(
    "cron",
    ["0 0 L * *", "0 0 * * L5", "0 0 * * mon#5", "0 12 13 * fri", "0 0 29 2 *", "*/7 */5 * jan-mar sun",
     "@quarterly", "@yearly", "30 2 1,L * 7", "0 0 * * 1#1,1#3"],
)  # fmt: skip
def test_a2_count_over_a_century(cron: str) -> None:
    start, end = datetime(1950, 3, 7, 5, tzinfo=UTC), datetime(2050, 9, 9, 9, tzinfo=UTC)
    definition = PartitionByInterval(cron)
    keys = list(definition.keys(start, end))
    assert definition.count(start, end) == len(keys)
    text = {"@quarterly": "0 0 1 1,4,7,10 *", "@yearly": "0 0 1 1 *"}.get(cron, cron)
    walk = croniter(text, start, ret_type=datetime)
    assert [key.start for key in keys[:300]] == [walk.get_next() for _ in keys[:300]]
