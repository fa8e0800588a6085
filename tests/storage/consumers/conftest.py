from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions.storage import Parquet
from tests.storage.consumers.lake import DAYS, Clock, add


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    dataset = Parquet(f"{tmp_path}/lake", partition=DAYS)
    for day in range(1, 6):
        add(dataset, day)
    return dataset
