"""What OpenLineage is told of a run's partition."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset, AssetAlias
from airflow.utils.state import TaskInstanceState
from openlineage.client.serde import Serde

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Partitioned, Selection
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.runs.openlineage import FACET, partition_run_facet
from airflow_partitions.operate.requests.materialize import materialize
from tests.engine.runs.lineage_events import events_of_task
from tests.metadata import Metadata

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


@pytest.mark.airflow
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")
def test_the_events_of_a_task_tell_its_partition(metadata: Metadata, tmp_path: Path) -> None:
    metadata.prepare_runs()
    source = """
    @asset(schedule=None, dag_id="told", is_paused_upon_creation=False,
           partition=PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="day"))
    def told_days(): ...
    """
    dags = tmp_path / "dags"
    dags.mkdir()
    metadata.parse(dags, told=source)
    own_asset = partitioned_asset("told_days")
    materialize(own_asset, Selection.of(own_asset.definition, "2013-03-10"), by="ann")
    facet = "airflow_partitions.engine.runs.openlineage.partition_run_facet"
    told = events_of_task(metadata, tmp_path, OPENLINEAGE__CUSTOM_RUN_FACETS=facet)
    runs = {kind: event["run"] for kind, event in told.items()}
    assert runs.keys() == {"START", "COMPLETE"}
    for run in runs.values():
        assert own(run["facets"][FACET]) == {
            "assets": ["told_days"],
            "key": "2013-03-10",
            "dimensions": {"day": "2013-03-10"},
            "start": "2013-03-10T00:00:00-05:00",
            "end": "2013-03-11T00:00:00-04:00",
            "timezone": "America/New_York",
            "batch": [],
        }
