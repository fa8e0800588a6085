"""Our side of :mod:`benchmarks.log`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Attempt, Parquet
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.scan import scan_plan  # noqa: F401 - what a dataset imports when it is first asked
from airflow_partitions.storage.stores.open import open_writable
from benchmarks.log_side import answer, batches, chosen

HOURS = PartitionByInterval("@hourly", start="2013-01-01")


def dataset(path: str) -> Parquet:
    Path(path).mkdir(parents=True, exist_ok=True)
    return Parquet(path, partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H"}, log=f"{path}/_log")


def replace(files: Parquet, hours: list[str]) -> int:
    """Tell the log of one new file for each of *hours*."""
    attempt, now = Attempt("dag", "run", 1), datetime.now(UTC).isoformat(timespec="seconds")
    changes = []
    for hour in hours:
        metadata = PartitionMetadata(f"{hour}:00:00Z", attempt, 1000, 1, 12345, now, schema={"n": "bigint"})
        folder = Path(files.path, "_data", "try", f"hour={hour}")
        changes.append(Change(metadata.key, f"hour={hour}", "overwrite", metadata, folder, {"0.parquet": 12345}))
    open_writable(files).commit(changes, attempt)
    return len(changes)


def make(path: str, size: int) -> int:
    for hours in batches(size):
        replace(dataset(path), hours)
    return size


def get(path: str, hours: list[str]) -> int:
    partitions = dataset(path).get_many([f"{hour}:00:00Z" for hour in hours])
    return sum(len(partition.files) for partition in partitions.values())


def get_all(path: str, size: int) -> int:
    files = sum(len(partition.files) for partition in dataset(path).list())
    assert files == size
    return files


if __name__ == "__main__":
    answer(
        {
            "make": make,
            "one": lambda path, size: get(path, chosen(size, 1)),
            "hundred": lambda path, size: get(path, chosen(size, 100)),
            "all": get_all,
            "replace": lambda path, size: replace(dataset(path), chosen(size, 1)),
        }
    )
