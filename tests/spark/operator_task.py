"""A task of the operator, run without Airflow's services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import attrs

from airflow_partitions import Partition, spark_asset
from airflow_partitions.spark.shipping import Shipped

RUN = SimpleNamespace(run_after=datetime(2013, 2, 9, tzinfo=UTC))
KEY = "2013-01-02|EWR"
FUNCTION = Shipped("f", "def f(flights):\n    return flights\n", ("flights",))


def task(lake: Any, **changes: Any) -> Any:
    """The task that makes the lake's delays."""
    from airflow.sdk import Asset

    from airflow_partitions.spark.operator import SparkAssetOperator

    asset = Asset("delays")
    arguments: dict[str, Any] = {
        "task_id": "delays",
        "asset": asset,
        "outlets": [asset],
        "storage": lake.delays,
        "inputs": {"flights": lake.flights},
        "function": FUNCTION,
    }
    return SparkAssetOperator(**{**arguments, **changes})


def batched(lake: Any, function: Callable[..., Any], **arguments: Any) -> Any:
    """The asset of the lake's delays, whose task makes many of its partitions by *function*."""
    function.__qualname__ = function.__name__  # of a test, too
    return spark_asset(
        schedule=None,
        partition=lake.delays.partition,
        inputs={"flights": lake.flights},
        storage=attrs.evolve(lake.delays, partition=None),
        batch=100,
        **arguments,
    )(function)


def context(lake: Any, number: int = 1, key: str = KEY, run_id: str = "run", **changes: Any) -> Any:
    """What Airflow gives its try *number*."""
    if "partition" not in changes:
        changes["partition"] = Partition(lake.delays.partition, key)
    return {
        "ti": SimpleNamespace(dag_id="dag", run_id=run_id, try_number=number),
        "outlet_events": defaultdict(lambda: SimpleNamespace(extra={"mine": 1})),
        "dag_run": RUN,
        **changes,
    }


def execute(operator: Any, lake: Any, number: int = 1, **changes: Any) -> dict[str, Any]:
    """One try; what its event says."""
    run = context(lake, number, **changes)
    operator.execute(run)
    extra: dict[str, Any] = run["outlet_events"][operator.asset].extra
    return extra
