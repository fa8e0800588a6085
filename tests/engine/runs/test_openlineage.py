"""What OpenLineage is told of a run's partition."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset, AssetAlias
from airflow.utils.state import TaskInstanceState
from openlineage.client.serde import Serde

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Partitioned
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.engine.runs.openlineage import FACET, partition_run_facet

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", name="hour")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")


def facets(definition: PartitionDefinition, key: str | None, *outlets: Any) -> dict[str, Any]:
    """The facets of a task with these *outlets*, as they are sent."""
    run = SimpleNamespace(run_id="manual__x", partition_key=key, run_after=datetime.now(UTC), start_date=None)
    dag = SimpleNamespace(timetable=Partitioned(None, definition))
    context = {"dag": dag, "dag_run": run, "task": SimpleNamespace(outlets=list(outlets))}
    task_instance: Any = SimpleNamespace(get_template_context=lambda: context)
    facets = partition_run_facet(task_instance, TaskInstanceState.RUNNING)
    return {name: json.loads(Serde.to_json(facet)) for name, facet in facets.items()}


def own(facet: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facet.items() if not name.startswith("_")}


def test_the_facet_tells_an_hour_that_comes_twice_by_its_offset() -> None:
    definition, key = PartitionByProduct([HOURS, AIRPORTS]), "2013-11-03T01:00-05:00|JFK"
    facet = facets(definition, key, Asset("flights"), AssetAlias("none"))
    assert own(facet[FACET]) == {
        "assets": ["flights"],
        "key": key,
        "dimensions": {"hour": "2013-11-03T01:00-05:00", "airport": "JFK"},
        "start": "2013-11-03T01:00:00-05:00",
        "end": "2013-11-03T02:00:00-05:00",
        "timezone": "America/New_York",
        "batch": [],
    }


def test_a_partition_without_time_has_no_bounds() -> None:
    facet = own(facets(AIRPORTS, "JFK")[FACET])
    assert (facet["key"], facet["assets"]) == ("JFK", [])
    assert {facet.get(name) for name in ("start", "end", "timezone")} == {None}


@pytest.mark.parametrize("key", [None, "LGA"])
def test_a_run_without_a_usable_key_has_no_facet(key: str | None) -> None:
    assert facets(AIRPORTS, key) == {}


def test_a_dag_without_partitions_has_no_facet() -> None:
    task_instance: Any = SimpleNamespace(get_template_context=lambda: {"dag": SimpleNamespace(timetable=None)})
    assert partition_run_facet(task_instance, TaskInstanceState.RUNNING) == {}
