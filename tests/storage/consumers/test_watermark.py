"""Checkpoints with a comparison function, and forced ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions.core.errors import (
    CheckpointError,
)
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.consumer import Consumer
from tests.storage.consumers.lake import DAYS, add, days


class TestMark:
    """With a comparison function, a mark is kept instead of all that was consumed."""

    def consumer(self, files: Parquet, **more: object) -> Consumer:
        return Consumer(files, checkpoint={"comparison_func": "operator.gt"}, **more)  # type: ignore[arg-type]

    def test_it_moves_when_confirmed(self, files: Parquet) -> None:
        self.consumer(files).take(limit=3).confirm()
        checkpoint = Consumer(files).checkpoint
        assert (checkpoint.watermark, checkpoint.consumed) == ("2013-01-03", frozenset())
        assert self.consumer(files).take().keys == days(4, 5)

    def test_what_arrives_behind_it_is_left(self, files: Parquet) -> None:
        add(files, 10)
        self.consumer(files).take().confirm()
        add(files, 9)
        add(files, 11)
        assert self.consumer(files).take().keys == days(11)

    def test_it_waits_for_earlier_batches(self, files: Parquet) -> None:
        early, late = self.consumer(files).take(limit=2), self.consumer(files).take(limit=2)
        late.confirm()
        assert Consumer(files).checkpoint.watermark is None
        early.put_back()
        last = self.consumer(files).take(limit=1)
        assert last.keys == days(1)
        last.confirm()
        checkpoint = Consumer(files).checkpoint
        assert (checkpoint.watermark, checkpoint.consumed) == ("2013-01-01", {"date=2013-01-03", "date=2013-01-04"})
        self.consumer(files).take(limit=1).confirm()
        checkpoint = Consumer(files).checkpoint
        assert (checkpoint.watermark, checkpoint.consumed, checkpoint.returned) == (
            "2013-01-04",
            frozenset(),
            frozenset(),
        )

    def test_it_does_not_wait_for_what_was_removed(self, files: Parquet) -> None:
        self.consumer(files).take(limit=1).put_back()
        folder = Path(files.path_of(DAYS.parse("2013-01-01")))
        (folder / "part-0.parquet").unlink()
        folder.rmdir()
        self.consumer(files).take().confirm()
        assert Consumer(files).checkpoint.watermark == "2013-01-05"

    def test_a_window_is_given_again_and_again(self, files: Parquet) -> None:
        windowed = {"comparison_func": f"{__name__}:same_ten_days"}
        first = Consumer(files, checkpoint=windowed)
        first.take(limit=3).confirm()
        assert first.take().keys == days(4, 5)  # never twice by the same object
        assert Consumer(files, checkpoint=windowed).take().keys == days(1, 2, 3)
        add(files, 15)

    def test_forcing_moves_no_mark_back(self, files: Parquet) -> None:
        self.consumer(files).take().confirm()
        forced = Consumer(files, checkpoint={"comparison_func": "operator.gt", "force_checkpoint": "2013-01-02"}).take(
            limit=1
        )
        assert forced.keys == days(3)
        forced.put_back()
        add(files, 6)
        self.consumer(files).take().confirm()
        assert Consumer(files).checkpoint.watermark == "2013-01-06"


def same_ten_days(key: str, checkpoint: str) -> bool:
    return key[:9] >= checkpoint[:9]


class TestForced:
    def test_short_and_full(self, files: Parquet) -> None:
        Consumer(files).take().confirm()
        assert Consumer(files, checkpoint="2013-01-03").take().keys == days(4, 5)
        full = {"force_checkpoint": "2013-01-03", "comparison_func": "operator.ge"}
        assert Consumer(files, "other", checkpoint=full).take().keys == days(3, 4, 5)

    def test_the_empty_text_starts_with_the_first(self, files: Parquet) -> None:
        Consumer(files).take().confirm()
        assert Consumer(files, checkpoint="").take().keys == days(1, 2, 3, 4, 5)

    def test_the_same_object_gives_nothing_twice(self, files: Parquet) -> None:
        consumer, keys = Consumer(files, checkpoint=""), []
        while batch := consumer.take(limit=2):
            keys += batch.keys
            batch.confirm()
        assert keys == days(1, 2, 3, 4, 5)

    def test_what_is_no_key_is_refused(self, files: Parquet) -> None:
        with pytest.raises(CheckpointError, match="'soon' is no key of"):
            Consumer(files, checkpoint="soon").take()
