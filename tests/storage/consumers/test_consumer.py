"""What a consumer is given, and what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import (
    ConfirmedError,
    InvalidDefinitionError,
    LeaseLostError,
    MissingInputError,
)
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.batch import up_to_bytes
from airflow_partitions.storage.consumers.consumer import Consumer
from tests.storage.consumers.lake import DAYS, add, aside, days


def test_what_was_confirmed_is_not_given_again_and_late_partitions_are(files: Parquet) -> None:
    consumer = Consumer(files)
    consumer.take().confirm()
    assert not consumer.take()
    add(files, 20)
    add(files, 10)
    assert consumer.take().keys == days(10, 20)


def test_a_name_consumes_for_itself(files: Parquet) -> None:
    Consumer(files, "a").take().confirm()
    assert Consumer(files, "b").take().keys == days(1, 2, 3, 4, 5)


def test_a_second_confirmation_is_an_error_in_this_process_and_in_another(files: Parquet) -> None:
    batch = Consumer(files).take()
    batch.confirm()
    with pytest.raises(ConfirmedError, match="was confirmed before; expected one confirmation"):
        batch.confirm()
    with pytest.raises(ConfirmedError, match="confirm it in one place only"):
        Consumer(files).batch(batch.id).confirm()
    with pytest.raises(ConfirmedError):
        batch.put_back()


def test_one_folder_has_one_checkpoint_however_it_is_named(files: Parquet) -> None:
    Consumer(files).take().confirm()
    assert not Consumer(Parquet(f"file://{files.path}", partition=DAYS)).take()


def test_a_batch_goes_on_in_another_process(files: Parquet) -> None:
    batch = Consumer(files).take(limit=2)
    again = Consumer(files).batch(batch.id)
    assert again.keys == batch.keys
    again.confirm()
    assert Consumer(files).batch(batch.id).keys == batch.keys  # also after its confirmation
    with pytest.raises(LeaseLostError, match=r"'nonsense' of .* is lent no longer"):
        Consumer(files).batch("nonsense")


def test_a_removed_partition_is_missed(files: Parquet) -> None:
    batch = Consumer(files).take()
    for file in Path(batch[1].path).iterdir():
        file.unlink()
    Path(batch[1].path).rmdir()
    with pytest.raises(MissingInputError, match="date=2013-01-02"):
        Consumer(files).batch(batch.id)


def test_limit_and_acceptor(files: Parquet) -> None:
    add(files, 6, size=100)
    consumer = Consumer(files)
    assert consumer.take(accept=up_to_bytes(25)).keys == days(1, 2)
    assert consumer.take(limit=1, accept=up_to_bytes(25)).keys == days(3)
    assert consumer.take(accept=up_to_bytes(25)).keys == days(4, 5)
    assert consumer.take(accept=up_to_bytes(25)).keys == days(6)  # too large, so it comes alone
    with pytest.raises(InvalidDefinitionError, match="limit=0 takes nothing"):
        consumer.take(limit=0)


def test_an_acceptor_that_takes_nothing_lends_nothing(files: Parquet) -> None:
    assert not Consumer(files).take(accept=lambda partitions: False)
    assert not aside(files).exists()


def test_an_empty_batch_writes_nothing_and_is_confirmed_once(tmp_path: Path) -> None:
    files = Parquet(f"{tmp_path}/none", partition=DAYS)
    batch = Consumer(files).take()
    assert (len(batch), batch.keys, batch.load()) == (0, [], {})
    with batch:
        batch.renew()
    with pytest.raises(ConfirmedError):
        batch.confirm()
    assert not list(tmp_path.iterdir())


def test_times_come_in_their_order_where_texts_do_not(tmp_path: Path) -> None:
    hours = PartitionByInterval("@hourly", timezone="America/New_York", name="hour")
    product = PartitionByProduct([PartitionBySequence(["B", "A"], name="x"), hours])
    files = Parquet(f"{tmp_path}/lake", partition=product)
    for x in "BA":
        for hour in hours.keys("2013-11-03T00:00-04:00", "2013-11-03T03:00-05:00"):
            Path(files.path_of(product.key({"x": x, "hour": hour}))).mkdir(parents=True)
    assert Consumer(files).take().keys == [
        f"{x}|2013-11-03T{hour}" for hour in ("00:00-04:00", "01:00-04:00", "01:00-05:00", "02:00-05:00") for x in "AB"
    ]
