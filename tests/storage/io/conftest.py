"""Delays of flights, as others write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions.storage import Column, Parquet
from tests.storage.io.lake import AIRPORT_DAYS, SCHEMA, add


@pytest.fixture
def delays(tmp_path: Path) -> Parquet:
    columns = {"date": Column("%Y-%m-%d", "date"), "airport": "{airport}"}
    files = Parquet(str(tmp_path / "delays"), partition=AIRPORT_DAYS, partition_on=columns, schema=SCHEMA)
    for number, key in enumerate(AIRPORT_DAYS.keys("2013-01-01", "2013-01-11")):
        add(files, str(key), {"carrier": ["AA", "UA"], "delay": [float(number), -1.0]})
    return files
