"""What Spark is given of a table, on this machine."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from airflow_partitions.storage import ReadRequest
from airflow_partitions.storage.iceberg.table_readers import SparkTableReader
from airflow_partitions.storage.iceberg.table_scan import TableScan
from tests.storage.iceberg.test_shadow import delays, rows


def test_ed11_reads_of_the_same_snapshot_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    storage = delays(tmp_path)

    def read() -> str:
        partitions = tuple(storage.list())
        return SparkTableReader()._folder(TableScan(ReadRequest(dataset=storage, partitions=partitions)))

    storage.save({"2013-02-01": rows(1)})
    folder = read()
    assert read() == read() == folder
    storage.save({"2013-02-02": rows(2)})
    assert read() == read() != folder
    assert sum(name.endswith(".metadata.json") for _, _, names in os.walk(tmp_path / "copies") for name in names) <= 2
