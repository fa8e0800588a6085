"""What OpenLineage is told of a run's partition."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
from tests.metadata import Metadata

#: Runs the one task of the database as a worker does, with the listeners of all plugins.
TASK = """
import sys
from airflow.dag_processing.dagbag import DagBag
from airflow.models.taskinstance import TaskInstance
from airflow.sdk.definitions.dag import _run_task
from airflow.utils.session import create_session
from sqlalchemy import select

with create_session() as at:
    instance = at.scalar(select(TaskInstance))
dag = DagBag(sys.argv[1]).get_dag(instance.dag_id)
assert _run_task(ti=instance, task=dag.get_task(instance.task_id)).state == "success"
"""
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
    dags, events = tmp_path / "dags", tmp_path / "events"
    dags.mkdir()
    metadata.parse(dags, told=source)
    own_asset = partitioned_asset("told_days")
    materialize(own_asset, Selection.of(own_asset.definition, "2013-03-10"), by="ann")
    settings = {
        "CORE__LOAD_EXAMPLES": "False",
        "DATABASE__SQL_ALCHEMY_CONN": metadata.engine.url.render_as_string(hide_password=False),
        "OPENLINEAGE__TRANSPORT": json.dumps({"type": "file", "log_file_path": str(events), "append": True}),
        "OPENLINEAGE__CUSTOM_RUN_FACETS": "airflow_partitions.engine.runs.openlineage.partition_run_facet",
    }
    environment = {f"AIRFLOW__{name}": value for name, value in settings.items()} | {"AIRFLOW_HOME": str(tmp_path)}
    command = [sys.executable, "-c", TASK, str(dags)]
    process = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert process.returncode == 0, process.stdout + process.stderr
    runs = {event["eventType"]: event["run"] for event in map(json.loads, events.read_text().splitlines())}
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
