"""The bounds of a partition as dbt reads them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.nativetypes import NativeEnvironment
from jinja2.sandbox import SandboxedEnvironment

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.templates import PartitionExtension

NEW_YORK = "America/New_York"
NEW_YORK_DAYS = PartitionByInterval("@daily", timezone=NEW_YORK)
NEW_YORK_HOURS = PartitionByInterval("@hourly", timezone=NEW_YORK)
QUARTERS = PartitionByInterval(timedelta(minutes=15))
INDIAN_DAYS = PartitionByInterval("@daily", timezone="Asia/Kolkata")
AIRPORT_DAYS = PartitionByProduct([PartitionByInterval("@daily", timezone=NEW_YORK, name="day"),
                                   PartitionBySequence(["JFK"], name="airport")])  # fmt: skip


def rendered(one: Any, words: str = "") -> tuple[str, str]:
    template = f"{{{{ partition | dbt_start{words} }}}} {{{{ partition | dbt_end{words} }}}}"
    texts = {
        kind(extensions=[PartitionExtension]).from_string(template).render(partition=one)
        for kind in (SandboxedEnvironment, NativeEnvironment)
    }
    (text,) = texts
    start, end = text.split()
    return start, end


@pytest.mark.parametrize(
    ("definition", "key", "words", "start", "end"),
    [
        (PartitionByInterval("@hourly"), "2013-02-08T07:00Z", "", "2013-02-08T07:00:00", "2013-02-08T08:00:00"),
        (PartitionByInterval("@daily"), "2013-02-08", "", "2013-02-08T00:00:00", "2013-02-09T00:00:00"),
        (PartitionByInterval("@monthly"), "2013-02-01", "", "2013-02-01T00:00:00", "2013-03-01T00:00:00"),
        # 23 and 25 hours, and one batch of a day by the clocks on the wall.
        (NEW_YORK_DAYS, "2013-03-10", "", "2013-03-10T05:00:00", "2013-03-11T04:00:00"),
        (NEW_YORK_DAYS, "2013-11-03", "", "2013-11-03T04:00:00", "2013-11-04T05:00:00"),
        (AIRPORT_DAYS, "2013-11-03|JFK", "('wall')", "2013-11-03T00:00:00", "2013-11-04T00:00:00"),
        (INDIAN_DAYS, "2013-02-08", "('wall')", "2013-02-08T00:00:00",
         "2013-02-09T00:00:00"),
    ],
)  # fmt: skip
def test_what_dbt_is_given(definition: PartitionDefinition, key: str, words: str, start: str, end: str) -> None:
    assert rendered(Partition(definition, key), words) == (start, end)


@given(st.integers(0, 20_000))
def test_bounds_in_utc_are_those_of_the_interval_in_any_autumn_and_spring(days: int) -> None:
    day = Partition(NEW_YORK_DAYS, f"{date(1970, 1, 1) + timedelta(days=days)}")
    read = [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in rendered(day)]
    assert read == [day.start, day.end]


@pytest.mark.parametrize(
    ("one", "words", "message"),
    [
        (
            Partition(PartitionBySequence(["JFK"]), "JFK"),
            "",
            "'JFK' has none; expected a partition with a time dimension",
        ),
        (None, "", "'None' has none"),
        (Partition(INDIAN_DAYS, "2013-02-08"), "", r"no whole hour.*'wall'"),
        (
            Partition(PartitionByInterval(timedelta(minutes=15)), "2013-02-08T00:15Z"),
            "('wall')",
            "no whole hour.*hours$",
        ),
        (
            Partition(PartitionByInterval("@hourly", timezone=NEW_YORK), "2013-11-03T01:00-05:00"),
            "('wall')",
            "comes twice",
        ),
        (
            Partition(PartitionByInterval("@daily"), "2013-02-08"),
            "('wal')",
            "clock 'wal'; expected .*; nearest: 'wall'",
        ),
    ],
)
def test_what_dbt_would_read_in_another_way_is_refused(one: Any, words: str, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        rendered(one, words)
