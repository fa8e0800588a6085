"""The task of these tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_partitions.spark.shipping import ship
from tests.spark import operator_task


def task(lake: Any, function: Callable[..., Any] | None, **arguments: Any) -> Any:
    """The task that makes the lake's delays by *function*, on the server of the connection ``warm``."""
    shipped = None if function is None else ship(function, inputs=["flights"])
    return operator_task.task(lake, function=shipped, conn_id="warm", **arguments)
