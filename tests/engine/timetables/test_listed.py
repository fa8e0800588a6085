"""What ticks make due of a product whose combinations are added at runtime; without a database."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.exceptions import InvalidPartitionKeyError
from airflow.sdk import Asset

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
)
from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.ledger import key_table
from airflow_partitions.engine.timetables.partition_date import PartitionDates
from tests.engine.timetables.test_partitioned import Scheduler

DAYS = PartitionByInterval("@daily", timezone="UTC", name="day")
TENANTS = PartitionBySequence(["acme", "beta", "cole"], name="tenant")
REGIONS = PartitionBySequence(["eu", "us"], name="region")
PAIRS = PartitionAtRuntime("pairs", of=PartitionByProduct([TENANTS, REGIONS]))
ACCOUNTS = PartitionByProduct([TENANTS, REGIONS, DAYS], only=PAIRS)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is on the list."""
    texts: list[str] = []

    def read(definition: PartitionAtRuntime) -> Collection[str]:
        assert definition == PAIRS
        return tuple(texts)

    monkeypatch.setattr(key_table, "listed_keys", read)
    return texts


def at(day: int, hour: int = 1) -> datetime:
    return datetime(2013, 1, day, hour, tzinfo=UTC)


def read_anew(scheduler: Scheduler) -> None:
    """As the scheduler does in each of its loops."""
    scheduler.timetable = Partitioned.deserialize(scheduler.timetable.serialize())


def test_ticks_make_what_is_on_the_list(listed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(Partitioned("@daily", ACCOUNTS), monkeypatch)
    assert scheduler.until(at(2)) == []
    listed += ["beta|us", "acme|eu"]
    read_anew(scheduler)
    assert scheduler.until(at(3)) == ["acme|eu|2013-01-02", "beta|us|2013-01-02"]
    listed.append("acme|us")
    read_anew(scheduler)
    assert scheduler.until(at(3, 12)) == ["beta|us|2013-01-02"][:0]
    assert scheduler.until(at(4)) == ["acme|eu|2013-01-03", "acme|us|2013-01-03", "beta|us|2013-01-03"]
    listed.remove("beta|us")
    read_anew(scheduler)
    assert scheduler.until(at(5)) == ["acme|eu|2013-01-04", "acme|us|2013-01-04"]
    listed.clear()
    read_anew(scheduler)
    assert scheduler.until(at(9)) == []


def test_a_combination_that_is_added_in_the_middle_of_a_tick_follows(
    listed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed += ["acme|eu", "cole|eu"]
    scheduler = Scheduler(Partitioned("@daily", ACCOUNTS), monkeypatch)
    scheduler.now = at(2)
    info: Any = scheduler.peek()
    scheduler.last = info
    assert info.partition_key == "acme|eu|2013-01-01"
    listed.append("beta|eu")
    read_anew(scheduler)
    assert scheduler.until(at(2)) == ["beta|eu|2013-01-01", "cole|eu|2013-01-01"]


def test_without_time_each_tick_makes_all_that_is_there(listed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(Partitioned("@daily", PartitionByProduct([TENANTS, REGIONS], only=PAIRS)), monkeypatch)
    assert scheduler.until(at(2)) == []
    listed += ["cole|us", "acme|us"]
    read_anew(scheduler)
    assert scheduler.until(at(3)) == ["acme|us", "cole|us"]
    with pytest.raises(InvalidPartitionKeyError, match=r"'beta\|us' does not exist.*nearest: .*\|us"):
        scheduler.timetable.resolve_partition_date("beta|us")
    listed.clear()
    with pytest.raises(InvalidPartitionKeyError, match="a partition_key, once one of its combinations is added"):
        scheduler.timetable.resolve_partition_date(None)


def test_a_run_by_hand_takes_what_was_added_since_the_dag_was_read(
    listed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Scheduler(Partitioned("@daily", ACCOUNTS), monkeypatch)
    scheduler.now = at(9)
    with pytest.raises(InvalidPartitionKeyError, match="no tenant 'acme' with region 'eu'"):
        scheduler.timetable.resolve_partition_date("acme|eu|2013-01-02")
    listed.append("acme|eu")
    date = scheduler.timetable.resolve_partition_date("acme|eu|2013-01-02")
    assert date is not None
    read_anew(scheduler)
    assert scheduler.timetable.resolve_partition_date("acme|eu|2013-01-02") == date
    backfill = scheduler.timetable.iter_partition_dagrun_infos(earliest=at(2), latest=at(4))
    assert [info.partition_key for info in backfill] == ["acme|eu|2013-01-03", "acme|eu|2013-01-04"]


def test_what_airflow_keeps_of_a_dag_says_nothing_of_what_was_added(listed: list[str]) -> None:
    upstream = Asset("accounts")
    Partitioned("@daily", ACCOUNTS, asset=upstream)
    consumer = Partitioned(upstream, ACCOUNTS)
    forms = []
    for text in ("acme|eu", "beta|us"):
        listed.append(text)
        again = Partitioned.deserialize(consumer.serialize())
        assert again.partition.count("2013-01-01", "2013-01-02") == len(listed)  # type: ignore[arg-type]
        assert again.upstreams is not None
        assert again.upstreams.member("accounts").definition.only is not None
        forms.append((again.serialize(), again.get_partition_mapper(name="accounts").serialize()))
    assert forms[0] == forms[1]
    assert forms[0][0] == consumer.serialize()
    assert consumer.lists == {PAIRS}
    assert Partitioned("@daily", DAYS).lists == frozenset()


def test_where_the_list_can_not_be_read_nothing_exists(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(definition: PartitionAtRuntime) -> Collection[str]:
        raise NotMigratedError("there is no table; run airflow db migrate")

    monkeypatch.setattr(key_table, "listed_keys", fail)
    assert Scheduler(Partitioned("@daily", ACCOUNTS), monkeypatch).until(at(9)) == []
    assert "there is no table" in caplog.text


def test_what_was_added_moves_no_other_date() -> None:
    interval = DAYS.parse("2013-01-01")
    dates = [PartitionDates(ACCOUNTS.having(texts)) for texts in (["acme|eu"], ["acme|eu", "beta|us"], [])]
    key = ACCOUNTS.key({"tenant": "acme", "region": "eu", "day": interval})
    assert len({each.of(key) for each in (*dates, PartitionDates(ACCOUNTS))}) == 1


def test_the_first_run_of_a_tick_is_the_one_that_is_first_when_it_is_made(
    listed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(info: Any) -> Any:
        """What Airflow keeps of the next run, from one loop to the next."""
        return SimpleNamespace(
            next_dagrun=None,
            next_dagrun_data_interval=None,
            next_dagrun_create_after=info.run_after,
            next_dagrun_partition_key=info.partition_key,
            next_dagrun_partition_date=info.partition_date,
        )

    listed.append("beta|us")
    scheduler = Scheduler(Partitioned("@daily", ACCOUNTS), monkeypatch)
    scheduler.now = at(2)
    of_tick = noted(scheduler.peek())
    assert of_tick.next_dagrun_partition_key == "beta|us|2013-01-01"
    listed += ["acme|eu", "cole|us"]
    read_anew(scheduler)
    info = scheduler.timetable.next_run_info_from_dag_model(dag_model=of_tick)
    assert (info.partition_key, info.run_after) == ("acme|eu|2013-01-01", of_tick.next_dagrun_create_after)  # type: ignore[union-attr]
    scheduler.last = info
    following = noted(scheduler.peek())
    assert scheduler.timetable.next_run_info_from_dag_model(dag_model=following) == scheduler.peek()
    assert scheduler.until(at(2)) == ["beta|us|2013-01-01", "cole|us|2013-01-01"]
    listed.clear()
    read_anew(scheduler)
    last = scheduler.timetable.next_run_info_from_dag_model(dag_model=of_tick)
    assert last is not None
    assert last.partition_key == "beta|us|2013-01-01"
    always = Partitioned.deserialize(Partitioned("@daily", DAYS).serialize())
    assert always.next_run_info_from_dag_model(dag_model=of_tick).partition_key == "beta|us|2013-01-01"  # type: ignore[union-attr]
    of_tick.next_dagrun_create_after = None
    assert scheduler.timetable.next_run_info_from_dag_model(dag_model=of_tick) is None
