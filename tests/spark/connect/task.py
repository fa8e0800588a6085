"""A task of the operator, run without Airflow's services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from airflow_partitions import Partition
from airflow_partitions.spark.shipping import ship

RUN = SimpleNamespace(run_after=datetime(2013, 2, 9, tzinfo=UTC))


def task(lake: Any, function: Callable[..., Any] | None, **arguments: Any) -> Any:
    """The task that makes the lake's delays by *function*, on the server of the connection ``warm``."""
    from airflow.sdk import Asset

    from airflow_partitions.spark.operator import SparkAssetOperator

    asset = Asset("delays")
    fields: dict[str, Any] = {
        "task_id": "delays",
        "asset": asset,
        "outlets": [asset],
        "storage": lake.delays,
        "inputs": {"flights": lake.flights},
        "function": None if function is None else ship(function, inputs=["flights"]),
        "conn_id": "warm",
    }
    return SparkAssetOperator(**{**fields, **arguments})


def execute(operator: Any, lake: Any, number: int = 1, key: str = "2013-01-02|EWR") -> dict[str, Any]:
    """One try; what its event says."""
    events: Any = defaultdict(lambda: SimpleNamespace(extra={}))
    operator.execute(
        {
            "partition": Partition(lake.delays.partition, key),
            "ti": SimpleNamespace(dag_id="dag", run_id="run", try_number=number),
            "outlet_events": events,
            "dag_run": RUN,
        }
    )
    extra: dict[str, Any] = events[operator.asset].extra
    return extra
