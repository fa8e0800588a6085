"""Definitions, and consumers in all their variety, around the autumn night in which New York's clock is set back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from airflow_partitions import KeyFormat, PartitionByInterval
from tests.engine.timetables.oracle import Calendar, Consumer, Rule

NEW_YORK = "America/New_York"
HOURS = PartitionByInterval("@hourly", timezone=NEW_YORK, start="2013-11-02")
QUARTERS = PartitionByInterval("0 */6 * * *", timezone="Europe/Berlin", start="2013-11-01", name="quarter")
DAYS = PartitionByInterval("@daily", timezone=NEW_YORK, start="2013-10-31")
#: What the keys of each asset's events mean; the last two are those that the consumers make.
MEANINGS: Mapping[str, PartitionByInterval | KeyFormat] = {
    "a": HOURS, "b": KeyFormat(HOURS), "c": QUARTERS, "one": DAYS, "two": DAYS,
}  # fmt: skip
CALENDARS = {name: Calendar.of(meaning) for name, meaning in MEANINGS.items()}
WATCHED = [key for key in CALENDARS["one"].intervals if str(key) in ("2013-11-02", "2013-11-03", "2013-11-04")]
WRONG = ("nonsense", "", "2013-11-03", "2013-10-01T00:00-04:00", "2013-11-03T05:00Z", "2013-11-03T01:00:00-04:00")
START = datetime(2013, 11, 4, 14, tzinfo=UTC)

CONDITIONS = st.sampled_from(
    ["a", "b", "c", "c", ("&", "a", "c"), ("|", "a", "c"), ("&", "c", ("|", "a", "b")), ("|", "b", ("&", "a", "c"))]
)
RULES = st.sampled_from(
    [*[Rule()] * 7, Rule("look", 1), Rule("look", 2), Rule("window", 1, 2), Rule("all"), Rule("latest")]
)
WAITS = st.sampled_from([None, None, None, 3, 22])
SETTLING = (timedelta(days=7), timedelta(minutes=30))
RERUNS = st.sampled_from(["always", "always", "never", (timedelta(days=2), timedelta(0)), SETTLING, SETTLING])
MAX_WAITS = st.sampled_from([timedelta(days=1), timedelta(hours=2)])
#: The watched days end at 04:00 and 05:00 UTC, before the story begins and after.
TIMES = st.sampled_from([None, None, None, "06:00", "18:30", timedelta(hours=10), timedelta(days=1, hours=3)])
#: The days that something is told of: few, so that it is told again.
DAYS_TOLD = st.sampled_from([WATCHED[1], WATCHED[1], WATCHED[1], WATCHED[2], WATCHED[0]])
#: Which partitions of a day are left out.
GAPS = st.sampled_from([set[int](), set[int](), {1}, {0, 2}, {3, 23}])


@st.composite
def consumers(draw: Callable[..., Any], name: str) -> Consumer:
    """Consumers of that name."""
    condition = draw(CONDITIONS)
    rules = {upstream: draw(RULES) for upstream in _names_in(condition)}
    return Consumer(name, condition, rules, draw(WAITS), draw(RERUNS), draw(MAX_WAITS), draw(TIMES))


def _names_in(condition: Any) -> list[str]:
    return [condition] if isinstance(condition, str) else [n for part in condition[1:] for n in _names_in(part)]
