"""A dataset of five days to consume."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2013, 2, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def add(files: Parquet, day: int, size: int = 10) -> None:
    folder = Path(files.path_of(DAYS.parse(f"2013-01-{day:02}")))
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"x" * size)


def days(*numbers: int) -> list[str]:
    return [f"2013-01-{day:02}" for day in numbers]


def aside(files: Parquet) -> Path:
    return Path(str(bookkeeping(Path(files.path))))


def state(files: Parquet, name: str = "default") -> Path:
    """The file that holds the checkpoint now."""
    return max((aside(files) / "consumers" / name).glob("*.json"))
