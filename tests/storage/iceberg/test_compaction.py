"""Rows are gathered before they are written."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from airflow_partitions.storage.iceberg.table import compaction


@attrs.define
class Batch:
    size: int
    asked: int = 0

    @property
    def nbytes(self) -> int:
        self.asked += 1
        return self.size


@pytest.mark.parametrize("size", [1, 10, 250, 10_000])
def test_ed11_the_size_of_each_batch_is_asked_for_once(size: int) -> None:
    batches: list[Any] = [Batch(7) for _ in range(1_000)]
    portions = list(compaction.gathered(batches, size))
    assert [batch for portion in portions for batch in portion] == batches
    assert {batch.asked for batch in batches} == {1}
    assert all(size <= 7 * len(portion) < size + 7 for portion in portions[:-1])
