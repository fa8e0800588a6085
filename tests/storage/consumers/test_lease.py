"""Partitions that are lent: for how long, and what ends it."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from airflow_partitions.core.errors import (
    ConfirmedError,
    LeaseLostError,
)
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.consumer import Consumer
from tests.storage.consumers.lake import Clock, days, state


def test_a_context_confirms_at_its_end(files: Parquet) -> None:
    with Consumer(files).take() as batch:
        assert [partition.bytes for partition in batch] == [10] * 5
    assert not Consumer(files).take()
    with pytest.raises(ConfirmedError):
        batch.confirm()


def test_a_context_puts_back_on_an_error(files: Parquet) -> None:
    with pytest.raises(ZeroDivisionError), Consumer(files).take(limit=2):
        1 / 0  # noqa: B018
    assert Consumer(files).take().keys == days(1, 2, 3, 4, 5)


def test_what_is_lent_is_offered_to_nobody_else(files: Parquet) -> None:
    first, second = Consumer(files).take(limit=2), Consumer(files).take(limit=2)
    assert (first.keys, second.keys) == (days(1, 2), days(3, 4))
    assert [str(partition.key) for partition in Consumer(files).pending()] == days(5)


def test_a_lease_that_is_over_goes_to_the_next_and_its_holder_can_confirm_no_more(files: Parquet, clock: Clock) -> None:
    slow = Consumer(files, lease=timedelta(minutes=15), clock=clock).take()
    clock.now += timedelta(minutes=14, seconds=59)
    assert not Consumer(files, clock=clock).take()
    clock.now += timedelta(seconds=1)
    quick = Consumer(files, clock=clock).take(limit=1)
    before = state(files).read_text()
    with pytest.raises(LeaseLostError, match="what it did is not recorded"):
        slow.confirm()
    with pytest.raises(LeaseLostError):
        slow.renew()
    slow.put_back()
    assert state(files).read_text() == before
    quick.confirm()
    assert Consumer(files, clock=clock).take().keys == days(2, 3, 4, 5)


def test_a_lease_that_is_over_can_be_confirmed_while_nobody_took_over(files: Parquet, clock: Clock) -> None:
    slow = Consumer(files, clock=clock).take()
    clock.now += timedelta(hours=1)
    slow.confirm()
    assert not Consumer(files, clock=clock).take()


def test_a_renewed_lease_lasts_from_then_on(files: Parquet, clock: Clock) -> None:
    batch = Consumer(files, clock=clock).take()
    clock.now += timedelta(minutes=14)
    batch.renew()
    clock.now += timedelta(minutes=14)
    assert not Consumer(files, clock=clock).take()


def test_a_context_renews_its_lease_by_itself(files: Parquet) -> None:
    with Consumer(files, lease=timedelta(seconds=0.3)).take() as batch:
        until = Consumer(files).checkpoint.lease(batch.id).until
        deadline = time.monotonic() + 20
        while Consumer(files).checkpoint.lease(batch.id).until < until + timedelta(seconds=0.6):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not Consumer(files).take()


def test_a_holder_that_starts_again_gets_what_it_held(files: Parquet) -> None:
    died = Consumer(files, holder="run 1").take(limit=3)
    assert Consumer(files, holder="run 2").take(limit=1).keys == days(4)
    again = Consumer(files, holder="run 1").take(limit=3)
    assert again.keys == days(1, 2, 3)
    with pytest.raises(LeaseLostError):
        died.confirm()
    again.confirm()
