"""Partitions that follow from the schedule."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk import Asset, CronTriggerTimetable

from airflow_partitions import INFER, PartitionAtRuntime, PartitionByInterval
from airflow_partitions.authoring.assets.infer import inferred
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01")


def upstream(name: str, definition: Any = None) -> Asset:
    asset = Asset(name)
    if definition is not None:
        write_extra(asset, ProducedPartitions(definition))
    return asset


@pytest.mark.parametrize("schedule", ["@hourly", "0 12 * * *", timedelta(hours=6)])
def test_a20_a_time_schedule_gives_its_intervals(schedule: Any) -> None:
    assert inferred(schedule, {}) == PartitionByInterval(schedule)


@pytest.mark.parametrize("definition", [DAYS, PartitionAtRuntime(name="customers")])
def test_a20_upstreams_give_the_definition_they_all_have(definition: Any) -> None:
    one, two = upstream("one", definition), upstream("two", definition)
    for schedule in (one, [one, two], one & two, one | two):
        assert inferred(schedule, {}) == definition
    assert inferred(Asset.ref(name="other") & one, {"other": definition}) == definition


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (None, "schedule=None says nothing of partitions; write partition=None"),
        ("@once", "no intervals follow from schedule='@once'"),
        ("@continuous", "no intervals follow from schedule='@continuous'"),
        (CronTriggerTimetable("@daily", timezone="UTC"), "no intervals follow from schedule=CronTriggerTimetable"),
        (upstream("plain"), "upstream asset 'plain' says nothing of its partitions here"),
        (Asset.ref(name="named"), "upstream asset 'named' says nothing of its partitions here"),
        (upstream("days", DAYS) & upstream("hours", PartitionByInterval("@hourly")),
         r"have different partitions \(days: PartitionByInterval\('@daily', .*\); hours: .*write the one you mean"),
    ],
)  # fmt: skip
def test_a20_what_is_ambiguous_is_refused(schedule: Any, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=f"partition=INFER: .*{message}"):
        inferred(schedule, {})


def test_a20_infer_says_what_it_is() -> None:
    assert repr(INFER) == "INFER"
