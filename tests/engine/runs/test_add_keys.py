"""The keys that a task adds, before they are events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset

from airflow_partitions import PartitionAtRuntime
from airflow_partitions.core.errors import InvalidDefinitionError, TooManyKeysError
from airflow_partitions.engine.runs.add_keys import KeyCollector
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra

VISITORS = PartitionAtRuntime("visitors")


def collector(*names: str) -> KeyCollector:
    """Of a task that writes assets of these names."""
    outlets = [Asset(name) for name in names]
    for asset in outlets:
        write_extra(asset, ProducedPartitions(VISITORS))
    context: dict[str, Any] = {
        "task": SimpleNamespace(outlets=outlets, task_id="add"),
        "outlet_events": {asset: SimpleNamespace(partition_keys=set()) for asset in outlets},
        "dag_run": SimpleNamespace(dag_id="visits", run_id="now"),
    }
    return KeyCollector(context, VISITORS)


@pytest.mark.parametrize(("timeout", "assets", "most"), [(5, 1, 500), (60, 1, 6000), (60, 3, 2000), (0.5, 1, 50)])
def test_er6_how_many_keys_a_task_adds_follows_from_the_time_out_of_airflows_client(
    timeout: float, assets: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT", str(timeout))
    keys = collector(*map(str, range(assets)))
    keys.add(VISITORS, list(map(VISITORS.key, range(most))), None, once=False)
    keys.add(VISITORS, list(map(VISITORS.key, range(most))), None, once=False)  # the same ones
    with pytest.raises(TooManyKeysError, match=r"\[workers\] execution_api_timeout. Set that to \d+ on the workers"):
        keys.add(VISITORS, [VISITORS.key("one more")], None, once=False)


def test_a7_keys_are_added_by_a_task_that_writes_an_asset_with_them() -> None:
    with pytest.raises(InvalidDefinitionError, match=r"writes no asset with partition=.*; it writes: visits"):
        collector("visits").add(PartitionAtRuntime("others"), [], None, once=False)
