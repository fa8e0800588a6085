"""Assets whose task makes many partitions, and what becomes of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from airflow_partitions import PartitionByInterval, asset
from tests import batch_context

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
KEYS = [f"2013-01-{day:02}" for day in range(1, 9)]


def batch(made: Any, *keys: str, own: str = KEYS[0], **options: Any) -> dict[str, Any]:
    return batch_context.batch(made, *keys, own=own, **options)


def declared(function: Callable[..., Any], storage: Any, **options: Any) -> Any:
    function.__qualname__ = function.__name__ = "made"
    return asset(schedule=None, partition=DAYS, storage=storage, batch=100, **options)(function)


def stored(made: Any) -> dict[str, int]:
    """Rows of each stored partition."""
    return {str(partition.key): partition.rows or 0 for partition in made.storage.list()}


def one(partition: Any) -> pd.DataFrame:
    return pd.DataFrame({"n": range(partition.start.day)})


def together(partitions: list[Any]) -> pd.DataFrame:
    days = [partition.start.date() for partition in partitions for _ in range(partition.start.day)]
    return pd.DataFrame({"date": days, "n": range(len(days))})
