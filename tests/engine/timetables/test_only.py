"""What ticks make due of a product that has only some combinations; without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.exceptions import InvalidPartitionKeyError
from airflow.timetables.base import TimeRestriction

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Partitioned
from airflow_partitions.engine.timetables.partition_date import PartitionDates
from tests.engine.timetables.test_partitioned import LONG_AGO, Scheduler

DAYS = PartitionByInterval("@daily", timezone="UTC", name="day")
HOURS = PartitionByInterval("@hourly", timezone="UTC", name="day")
CUSTOMERS = PartitionBySequence(["ann", "bob", "cid"], name="customer")
ONLY = {
    "2013-01-02..2013-01-05": ["ann"],
    "2013-01-04..2013-01-05": ["bob"],
    "2013-01-10..": ["bob", "cid"],
    "2013-01-12..2013-01-14": ["ann"],
}
FIRST = datetime(2013, 1, 3, 1, 30, tzinfo=UTC)


def sparse(time: PartitionByInterval) -> PartitionByProduct:
    return PartitionByProduct([time, CUSTOMERS], only=ONLY)


@pytest.mark.parametrize("time", [DAYS, HOURS])
@pytest.mark.parametrize("schedule", ["@daily", "@hourly", "0 3 */2 * *"])
@pytest.mark.parametrize("refresh", [0, 2])
def test_runs_are_those_of_the_full_product_that_exist(
    time: PartitionByInterval, schedule: str, refresh: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[list[list[str]]] = []
    definition = sparse(time)
    for each in (definition, definition.full):
        scheduler = Scheduler(Partitioned(schedule, each, refresh=refresh), monkeypatch)
        runs.append([scheduler.until(FIRST + timedelta(hours=n)) for n in range(290)])
    assert runs[0] == [[key for key in keys if definition.contains(key)] for keys in runs[1]]
    assert sum(map(len, runs[0])) >= 8


def test_catching_up_leaves_out_what_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(Partitioned("@daily", sparse(DAYS)), monkeypatch)
    scheduler.restriction = TimeRestriction(scheduler.restriction.earliest, None, catchup=True)
    texts = [str(key) for key in sparse(DAYS).keys("2013-01-01", "2013-01-13")]
    assert scheduler.until(datetime(2013, 1, 13, 1, tzinfo=UTC)) == texts
    assert scheduler.last.run_after > LONG_AGO  # type: ignore[union-attr]


def test_the_newest_tick_that_makes_something_due_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(Partitioned("@daily", sparse(DAYS)), monkeypatch)
    assert scheduler.until(datetime(2013, 1, 9, 5, tzinfo=UTC)) == ["2013-01-04|ann", "2013-01-04|bob"]
    assert scheduler.until(datetime(2013, 1, 10, 23, tzinfo=UTC)) == []
    assert str(scheduler.peek().run_after) == "2013-01-11 00:00:00+00:00"  # type: ignore[union-attr]
    assert scheduler.until(datetime(2013, 1, 11, 5, tzinfo=UTC)) == ["2013-01-10|bob", "2013-01-10|cid"]


def test_it_ends_when_nothing_exists_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = PartitionByProduct([DAYS, CUSTOMERS], only={"..2013-01-03": ["ann"]})
    scheduler = Scheduler(Partitioned("@daily", ended), monkeypatch)
    assert scheduler.until(datetime(2013, 1, 3, 1, tzinfo=UTC)) == ["2013-01-02|ann"]
    assert scheduler.peek() is None


def test_without_time_a_tick_makes_what_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = PartitionByProduct(
        [CUSTOMERS, PartitionBySequence(["eu", "us"], name="region")], only={"ann": ["us"], "cid": ["eu", "us"]}
    )
    scheduler = Scheduler(Partitioned("@daily", definition), monkeypatch)
    assert scheduler.until(datetime(2013, 1, 3, 1, tzinfo=UTC)) == ["ann|us", "cid|eu", "cid|us"]


def test_a_run_can_not_be_asked_for_what_does_not_exist() -> None:
    timetable = Partitioned("@daily", sparse(DAYS))
    assert timetable.resolve_partition_date("2013-01-02|ann") is not None
    with pytest.raises(InvalidPartitionKeyError, match=r"no day '2013-01-02' with customer 'bob'.*2013-01-04\|bob"):
        timetable.resolve_partition_date("2013-01-02|bob")
    ended = PartitionByProduct([DAYS, CUSTOMERS], only={"..2013-01-03": ["ann"]})
    with pytest.raises(InvalidPartitionKeyError, match=r"for example '2013-01-02\|ann', the last closed one"):
        Partitioned("@daily", ended).resolve_partition_date(None)


def test_a_native_backfill_makes_what_exists() -> None:
    timetable = Partitioned("@daily", sparse(DAYS))
    days: dict[str, Any] = {"earliest": datetime(2013, 1, 1, tzinfo=UTC), "latest": datetime(2013, 1, 11, tzinfo=UTC)}
    keys = [info.partition_key for info in timetable.iter_partition_dagrun_infos(**days)]
    assert keys == [str(key) for key in sparse(DAYS).keys("2013-01-01", "2013-01-12")]


def test_the_form_of_a_timetable_carries_what_exists() -> None:
    timetable = Partitioned("@daily", sparse(DAYS))
    assert Partitioned.deserialize(timetable.serialize()).partition == sparse(DAYS)
    assert "only" not in Partitioned("@daily", sparse(DAYS).full).serialize()["partition"]


def test_dates_tell_a_million_combinations_apart_if_few_exist() -> None:
    many = [PartitionBySequence(range(1_000), name=name) for name in ("a", "b")]
    definition = PartitionByProduct([DAYS, *many], only={"..": [(n, n) for n in range(1_000)]})
    dates = PartitionDates(definition)
    keys = list(definition.keys("2013-01-01", "2013-01-02"))
    assert len({dates.of(key) for key in keys}) == len(keys) == 1_000
