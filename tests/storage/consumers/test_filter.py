"""Consumers of some of the partitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions import PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import FilterError
from airflow_partitions.storage import Consumer, Parquet, field
from tests.storage.consumers.lake import DAYS, add, days

AIRPORT_DAYS = PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")])


@pytest.fixture
def flights(tmp_path: Path) -> Parquet:
    dataset = Parquet(f"{tmp_path}/flights", partition=AIRPORT_DAYS)
    for day in days(1, 2):
        for airport in ("EWR", "JFK"):
            Path(dataset.path_of(AIRPORT_DAYS.parse(f"{day}|{airport}"))).mkdir(parents=True)
    return dataset


def test_es_a_consumer_takes_a_filter(flights: Parquet) -> None:
    consumer = Consumer(flights, where=field("airport") == "EWR")
    assert [str(partition.key) for partition in consumer.pending()] == ["2013-01-01|EWR", "2013-01-02|EWR"]
    with consumer.take(limit=1) as batch:
        assert batch.keys == ["2013-01-01|EWR"]
    assert consumer.take().keys == ["2013-01-02|EWR"]


def test_es_consumers_of_one_name_share_what_their_filters_leave(flights: Parquet) -> None:
    newark, rest = (Consumer(flights, where=field("airport") == airport) for airport in ("EWR", "JFK"))
    lost = newark.take()
    lost.put_back()
    rest.take().confirm()
    assert newark.checkpoint.returned == {"date=2013-01-01/airport=EWR", "date=2013-01-02/airport=EWR"}
    newark.take().confirm()
    assert not Consumer(flights).take()


def test_es_a_filter_of_a_consumer_is_about_partitions(flights: Parquet) -> None:
    with pytest.raises(FilterError, match="is about rows"):
        Consumer(flights, where=field("delay") > 10).take()


def test_es_what_is_skipped_comes_another_time(files: Parquet) -> None:
    add(files, 6, size=1000)
    consumer = Consumer(files)
    consumer.take(skip=lambda partition: partition.bytes > 100).confirm()
    assert consumer.take().keys == days(6)


def test_es_the_mark_waits_for_what_is_skipped(files: Parquet) -> None:
    consumer = Consumer(files, checkpoint={"comparison_func": "operator.gt"})
    consumer.take(skip=lambda partition: str(partition.key) == days(2)[0]).confirm()
    assert consumer.checkpoint.watermark == days(1)[0]
    assert consumer.take().keys == days(2)


def work(consumer: Consumer, bad: str, limit: int | None = None) -> list[str]:
    """Take a batch and work on it, which fails if *bad* is in it."""
    batch = consumer.take(limit=limit)
    try:
        with batch:
            _ = 1 / (bad not in batch.keys)
    except ZeroDivisionError:
        return [*batch.keys, "failed"]
    return batch.keys


def test_es_a_partition_that_keeps_failing_is_set_aside_alone(files: Parquet, caplog: pytest.LogCaptureFixture) -> None:
    consumer, (bad,) = Consumer(files, max_failures=3), days(2)
    five = days(1, 2, 3, 4, 5)
    assert [work(consumer, bad) for _ in range(7)] == [
        [*five, "failed"], [*five, "failed"], days(1), [*days(2), "failed"], days(3), days(4), days(5)
    ]  # fmt: skip
    assert consumer.failures == {bad: 3}
    assert not consumer.take()
    assert f"1 partitions of {files.path!r} are set aside for 'default', after 3 failures: {bad}" in caplog.text
    consumer.retry(bad)
    assert work(consumer, "") == [bad]
    assert consumer.failures == {}


def test_es_what_fails_does_not_block_what_comes_after_it(files: Parquet) -> None:
    consumer, (bad,) = Consumer(files, max_failures=9), days(1)
    assert work(consumer, bad, limit=1) == [bad, "failed"]
    assert work(consumer, bad, limit=1) == days(2)
    assert work(consumer, bad, limit=9) == [*days(1, 3, 4, 5), "failed"]
    add(files, 6)
    assert work(consumer, bad, limit=1) == days(6)


def test_es_a_batch_that_is_put_back_has_not_failed(files: Parquet) -> None:
    consumer = Consumer(files, max_failures=1)
    consumer.take().put_back()
    assert consumer.failures == {}
    consumer.take(limit=1).put_back(failed=True)
    assert consumer.failures == dict.fromkeys(days(1), 1)
    assert consumer.take().keys == days(2, 3, 4, 5)
