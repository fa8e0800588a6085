"""What ticks make due, and where a Dag stands in its schedule; without a database."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from airflow.exceptions import InvalidPartitionKeyError
from airflow.sdk import Asset
from airflow.timetables.base import DagRunInfo, TimeRestriction
from airflow.timetables.interval import CronDataIntervalTimetable
from airflow.timetables.trigger import CronPartitionTimetable, CronTriggerTimetable
from airflow.utils.types import DagRunType
from pendulum import instance

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
)
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.timetables import partitioned

NEW_YORK = ZoneInfo("America/New_York")
LONG_AGO = instance(datetime(2000, 1, 1, tzinfo=UTC))


def at(text: str, zone: ZoneInfo = NEW_YORK) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


class Scheduler:
    """Asks a timetable for run after run, as Airflow's scheduler does, with a clock of its own."""

    def __init__(self, timetable: Partitioned, monkeypatch: pytest.MonkeyPatch, *, started: Any = LONG_AGO) -> None:
        self.timetable = Partitioned.deserialize(timetable.serialize())
        if type(timetable) is not Partitioned:
            self.timetable = timetable
        self.now = datetime(2000, 1, 1, tzinfo=UTC)
        monkeypatch.setattr(partitioned, "_now", lambda: self.now)
        self.last: DagRunInfo | None = None
        self.restriction = TimeRestriction(started, None, catchup=False)

    def until(self, now: datetime) -> list[str]:
        """Keys of the runs that are made by *now*, with the scheduler down since it was last asked."""
        self.now = now
        keys = []
        while (info := self.peek()) is not None and info.run_after <= now:
            assert self.last is None or info.run_after > self.last.run_after
            self.last = info
            keys.append(str(info.partition_key))
        return keys

    def peek(self) -> DagRunInfo | None:
        return self.timetable.next_dagrun_info_v2(last_dagrun_info=self.last, restriction=self.restriction)


def test_a3_a_daily_tick_makes_the_hours_of_the_day_before(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(
        Partitioned("@daily", PartitionByInterval("@hourly", timezone="America/New_York")), monkeypatch
    )
    assert len(scheduler.until(at("2013-03-10T00:30"))) == 24
    spring = scheduler.until(at("2013-03-11T00:30"))
    assert len(spring) == 23
    assert spring[:4] == [
        "2013-03-10T00:00-05:00", "2013-03-10T01:00-05:00", "2013-03-10T03:00-04:00", "2013-03-10T04:00-04:00",
    ]  # fmt: skip
    scheduler.until(at("2013-11-03T00:30"))
    autumn = scheduler.until(at("2013-11-04T00:30"))
    assert len(autumn) == 25
    assert autumn[1:3] == ["2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00"]


def test_a4_hourly_ticks_make_a_day_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(
        Partitioned("@hourly", PartitionByInterval("@daily", timezone="America/New_York")), monkeypatch
    )
    scheduler.until(at("2013-02-08T00:10"))
    assert [scheduler.until(at(f"2013-02-08T{hour:02}:10")) for hour in range(1, 24)] == [[]] * 23
    assert scheduler.until(at("2013-02-09T00:10")) == ["2013-02-08"]


def test_a4_the_scheduler_down_around_midnight_still_makes_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(
        Partitioned("@hourly", PartitionByInterval("@daily", timezone="America/New_York")), monkeypatch
    )
    assert scheduler.until(at("2013-02-07T23:30")) == ["2013-02-06"]
    assert scheduler.until(at("2013-02-08T02:10")) == ["2013-02-07"]
    assert scheduler.until(at("2013-02-08T23:30")) == []


def test_after_a_pause_the_newest_tick_that_makes_something_due_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(Partitioned("@hourly", PartitionByInterval("@daily")), monkeypatch)
    scheduler.until(datetime(2013, 2, 8, 5, tzinfo=UTC))
    assert scheduler.until(datetime(2013, 2, 20, 5, tzinfo=UTC)) == ["2013-02-19"]


def test_an_unfinished_tick_is_finished_before_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    days = PartitionByProduct([PartitionByInterval("@daily"), PartitionBySequence(["a", "b"])])
    scheduler = Scheduler(Partitioned("@daily", days), monkeypatch)
    scheduler.now = datetime(2013, 2, 8, 5, tzinfo=UTC)
    scheduler.last = scheduler.peek()
    assert scheduler.last is not None
    assert scheduler.last.partition_key == "2013-02-07|a"
    keys = scheduler.until(datetime(2013, 2, 10, 5, tzinfo=UTC))
    assert keys == ["2013-02-07|b", "2013-02-09|a", "2013-02-09|b"]


def test_without_a_start_date_the_first_tick_to_come_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(Partitioned("@daily", PartitionByInterval("@daily")), monkeypatch, started=None)
    assert scheduler.until(datetime(2013, 2, 8, 5, tzinfo=UTC)) == []
    assert scheduler.until(datetime(2013, 2, 9, 0, 30, tzinfo=UTC)) == ["2013-02-08"]


def test_a20_refresh_makes_the_intervals_before_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(
        Partitioned("@daily", PartitionByInterval("@daily", start="2013-02-05"), refresh=3), monkeypatch
    )
    assert scheduler.until(datetime(2013, 2, 7, 1, tzinfo=UTC)) == ["2013-02-05", "2013-02-06"]
    assert scheduler.until(datetime(2013, 2, 8, 1, tzinfo=UTC)) == ["2013-02-05", "2013-02-06", "2013-02-07"]
    assert scheduler.until(datetime(2013, 2, 9, 1, tzinfo=UTC)) == [f"2013-02-0{d}" for d in (5, 6, 7, 8)]


def test_a20_refreshes_end_with_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    days = PartitionByInterval("@daily", start="2013-02-05", end="2013-02-08")
    scheduler = Scheduler(Partitioned("@daily", days, refresh=1), monkeypatch)
    scheduler.until(datetime(2013, 2, 7, 1, tzinfo=UTC))
    assert scheduler.until(datetime(2013, 2, 8, 1, tzinfo=UTC)) == ["2013-02-06", "2013-02-07"]
    assert scheduler.until(datetime(2013, 2, 12, 1, tzinfo=UTC)) == []


class TwoHours(Partitioned):
    """A plug-in: at every tick the hour that ended and the one before."""

    def due(self, previous_tick: datetime | None, tick: datetime) -> Iterable[Key]:
        last = self.partition.time.last(tick)  # type: ignore[union-attr]
        assert last is not None
        return [key for key in (self.partition.previous(last), last) if key is not None]


def test_a20_due_is_a_plug_in_point(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(TwoHours("@hourly", PartitionByInterval("@hourly")), monkeypatch)
    assert scheduler.until(datetime(2013, 2, 8, 5, 1, tzinfo=UTC)) == ["2013-02-08T03:00Z", "2013-02-08T04:00Z"]
    assert scheduler.until(datetime(2013, 2, 8, 6, 1, tzinfo=UTC)) == ["2013-02-08T04:00Z", "2013-02-08T05:00Z"]


@pytest.mark.parametrize(
    ("schedule", "ticks"),
    [
        (CronTriggerTimetable("30 6 * * *", timezone="Asia/Kathmandu"), ["2013-02-08T00:45", "2013-02-09T00:45"]),
        (CronDataIntervalTimetable("0 12 * * *", timezone="UTC"), ["2013-02-08T12:00", "2013-02-09T12:00"]),
        (timedelta(hours=36), ["2013-02-08T00:00", "2013-02-09T12:00"]),
    ],
)
def test_an_explicit_timetable_keeps_its_own_zone(
    monkeypatch: pytest.MonkeyPatch, schedule: Any, ticks: list[str]
) -> None:
    scheduler = Scheduler(Partitioned(schedule, PartitionBySequence(["a"])), monkeypatch, started=None)
    scheduler.now = datetime(2013, 2, 8, tzinfo=UTC)
    for tick in ticks:
        scheduler.last = scheduler.peek()
        assert scheduler.last is not None
        assert f"{scheduler.last.run_after:%Y-%m-%dT%H:%M}" == tick


def test_the_schedule_ends_with_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    days = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-03")
    scheduler = Scheduler(Partitioned("@daily", days), monkeypatch)
    assert scheduler.until(datetime(2013, 1, 2, 1, tzinfo=UTC)) == ["2013-01-01"]
    assert scheduler.until(datetime(2013, 1, 3, 1, tzinfo=UTC)) == ["2013-01-02"]
    assert scheduler.peek() is None


def test_every_position_has_an_answer_also_after_the_definition_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    days = PartitionByProduct([PartitionByInterval("@daily"), PartitionBySequence(["a", "b"])])
    scheduler = Scheduler(Partitioned("@daily", days), monkeypatch)
    scheduler.now = now = datetime(2013, 2, 8, 5, tzinfo=UTC)
    tick = instance(datetime(2013, 2, 8, tzinfo=UTC))
    for key in ("2013-02-07|gone", "2013-02-07", "nonsense", "2013-02-07T00:00-05:00|a", None):
        for date in (None, instance(datetime(2013, 2, 7, tzinfo=UTC)), instance(now)):
            scheduler.last = DagRunInfo(tick, None, date, key)
            info = scheduler.peek()
            assert info is not None
            assert info.run_after > tick


def test_a_run_whose_key_was_cleared_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    days = PartitionByProduct([PartitionByInterval("@daily"), PartitionBySequence(["a", "b", "c"])])
    scheduler = Scheduler(Partitioned("@daily", days), monkeypatch)
    scheduler.now = datetime(2013, 2, 8, 5, tzinfo=UTC)
    scheduler.last = scheduler.peek()
    scheduler.last = scheduler.peek()
    assert scheduler.last is not None
    assert scheduler.last.partition_key == "2013-02-07|b"
    scheduler.last = scheduler.last._replace(partition_key=None, partition_date=None)
    following = scheduler.peek()
    assert following is not None
    assert following.partition_key == "2013-02-07|c"


def test_partition_dates_are_unique_and_stay_when_a_segment_is_inserted() -> None:
    few, more = [f"s{i}" for i in range(300)], [f"s{i}" for i in range(301)]
    dates = []
    for values in (few, more):
        timetable = Partitioned(
            "@daily", PartitionByProduct([PartitionByInterval("@daily"), PartitionBySequence(values)])
        )
        dates.append({v: timetable.resolve_partition_date(f"2013-02-08|{v}") for v in few})
        assert len(set(dates[-1].values())) == 300
    assert sum(dates[0][v] != dates[1][v] for v in few) <= 1


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "needs a partition_key, for example"),
        (None, "'airflow dags trigger' can't give one: ask by 'airflow asset-partitions materialize ASSET KEY'"),
        ("2013-02-08T05:00Z", "is not a partition"),
        ("08.02.2013", "is not a partition"),
        ("2999-01-01", "is open until 2999-01-02T00:00:00"),
    ],
)
def test_a16_keys_of_manual_runs_are_checked(key: str | None, message: str) -> None:
    with pytest.raises(InvalidPartitionKeyError, match=message):
        Partitioned(None, PartitionByInterval("@daily")).resolve_partition_date(key)


def test_open_intervals_are_accepted_where_allowed() -> None:
    timetable = Partitioned(None, PartitionByInterval("@daily"), allow_open=True)
    assert timetable.resolve_partition_date("2999-01-01") == datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("key", ["a" * 240, "naïve/key..x", "2013-02-08|a|b", "2013-11-03T01:00-04:00", "東京"])
def test_a18_run_ids_are_ones_that_airflow_takes(key: str) -> None:
    from airflow.configuration import conf

    run_id = Partitioned(None, PartitionBySequence(["a"])).generate_run_id(
        run_type=DagRunType.SCHEDULED, run_after=LONG_AGO, data_interval=None, partition_key=key
    )
    assert re.match(conf.get("scheduler", "allowed_run_id_pattern"), run_id)
    assert ".." not in run_id
    assert len(run_id) <= 250


@pytest.mark.parametrize(
    ("schedule", "definition", "options", "message"),
    [
        ("@daily", "daily", {}, "is not a partition definition"),
        ("@daily", PartitionAtRuntime(name="x"), {}, "has no keys before a task runs"),
        ("@daily", PartitionBySequence(["a"]), {"refresh": 1}, "refresh=1"),
        ("@daily", PartitionByInterval("@daily"), {"refresh": -1}, "refresh=-1"),
        ("@dayly", PartitionByInterval("@daily"), {}, "'@dayly' is not a cron"),
        (timedelta(0), PartitionByInterval("@daily"), {}, "no length"),
        (7, PartitionByInterval("@daily"), {}, "is not a time schedule"),
        (CronPartitionTimetable("@daily", timezone="UTC"), PartitionByInterval("@daily"), {}, "partitions of its own"),
    ],
)
def test_combinations_that_cant_work_are_refused(schedule: Any, definition: Any, options: Any, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        Partitioned(schedule, definition, **options)


def test_a_task_does_not_check_again_what_airflow_checked_when_it_read_its_dag(monkeypatch: pytest.MonkeyPatch) -> None:
    minutes, years = PartitionByInterval("* * * * *"), PartitionByInterval("@yearly")
    with pytest.raises(InvalidDefinitionError, match="would make"):
        Partitioned(Asset("a"), minutes, upstreams={"a": years})
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_TASK_ID", "task")  # what Airflow tells the process of a task
    assert Partitioned(Asset("a"), minutes, upstreams={"a": years}).partition == minutes
