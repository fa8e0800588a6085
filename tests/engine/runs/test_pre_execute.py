"""What happens before a task of a partitioned Dag works, and when it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowFailException

from airflow_partitions import PartitionByInterval, PartitionDefinition, Partitioned
from airflow_partitions.core.errors import MissingPartitionError
from airflow_partitions.engine.runs.emitted_keys import check_emitted_keys
from airflow_partitions.engine.runs.pre_execute import partition_of
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra

DAYS = PartitionByInterval("@daily")


def context(key: str | None) -> dict[str, Any]:
    timetable = Partitioned("@daily", PartitionByInterval("@daily"))
    run = SimpleNamespace(run_id="manual__x", partition_key=key)
    return {"dag": SimpleNamespace(timetable=timetable), "dag_run": run}


def test_er12_a_run_of_airflow_dags_test_is_told_what_to_type_instead() -> None:
    with pytest.raises(MissingPartitionError, match="try one by 'airflow asset-partitions test'"):
        partition_of(context(None))


def finish(keys: set[str], definition: PartitionDefinition | None = DAYS) -> list[str]:
    """Let a task end that has put *keys* on the events of its asset; returns what its author's own hook was given."""
    asset = Asset("days")
    if definition is not None:
        write_extra(asset, ProducedPartitions(definition))
    results: list[str] = []
    task = SimpleNamespace(outlets=[asset], _post_execute_hook=lambda _, result: results.append(result))
    context = {"task": task, "outlet_events": {asset: SimpleNamespace(partition_keys=keys)}}
    check_emitted_keys(context)
    task._post_execute_hook(context, "result")
    return results


@pytest.mark.parametrize("keys", [set(), {"2013-02-08"}, {"2013-02-08", "2013-02-09"}])
def test_er15_a_task_may_emit_keys_that_its_asset_has(keys: set[str]) -> None:
    assert finish(keys) == ["result"]


def test_er15_a_task_that_emits_no_key_of_its_asset_fails() -> None:
    with pytest.raises(AirflowFailException, match="event of asset 'days': 'nonsense' is not a partition of"):
        finish({"2013-02-08", "nonsense"})
    with pytest.raises(AirflowFailException, match="'2013-02-08T00:00Z' is written '2013-02-08'"):
        finish({"2013-02-08T00:00Z"})
    assert finish({"nonsense"}, None) == ["result"]  # nobody says what partitions it has
