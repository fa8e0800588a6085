"""What is told to OpenLineage: events of a real task, datasets as they are sent, and their subsets in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from openlineage.client.generated import base_subset_dataset as subsets
from openlineage.client.serde import Serde

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
SIGNS = {
    "EQUAL": "=",
    "GREATER_THAN": ">",
    "GREATER_EQUAL_THAN": ">=",
    "LESS_THAN": "<",
    "LESS_EQUAL_THAN": "<=",
}


def events_of_task(metadata: Metadata, folder: Path, **settings: str) -> dict[str, Any]:
    """Run the task of the one run in the database; the events by their type.

    :param folder: with the folder ``dags``.
    :param settings: of Airflow besides.
    """
    events = folder / "events"
    settings = {
        "CORE__LOAD_EXAMPLES": "False",
        "DATABASE__SQL_ALCHEMY_CONN": metadata.engine.url.render_as_string(hide_password=False),
        "OPENLINEAGE__TRANSPORT": json.dumps({"type": "file", "log_file_path": str(events), "append": True}),
        **settings,
    }
    environment = {f"AIRFLOW__{name}": value for name, value in settings.items()} | {"AIRFLOW_HOME": str(folder)}
    command = [sys.executable, "-c", TASK, str(folder / "dags")]
    process = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return {event["eventType"]: event for event in map(json.loads, events.read_text().splitlines())}


def words(form: dict[str, Any]) -> str:
    """The condition whose JSON is *form*, read back by the classes of OpenLineage's client."""
    match form["type"]:
        case "binary":
            binary = subsets.BinarySubsetCondition(**form)
            assert binary.operator in ("AND", "OR")
            return f"({words(form['left'])} {binary.operator} {words(form['right'])})"
        case "compare":
            compare = subsets.CompareSubsetCondition(**form)
            field = subsets.FieldBaseCompareExpression(**form["left"])
            literal = subsets.LiteralCompareExpression(**form["right"])
            assert (field.type, literal.type) == ("field", "literal")
            return f"{field.field} {SIGNS[compare.comparison]} {literal.value}"
        case "partition":
            condition = subsets.PartitionSubsetCondition(**form)
            partitions = [subsets.Partition(**partition) for partition in form["partitions"]]
            assert condition.partitions == form["partitions"]
            return f"[{', '.join(partition.identifier or str(partition.dimensions) for partition in partitions)}]"
        case other:
            raise AssertionError(f"a condition of type {other!r}")


def sent(*datasets: Any) -> list[dict[str, Any]]:
    """The *datasets* as they are sent."""
    return [json.loads(Serde.to_json(dataset)) for dataset in datasets]


def subset(form: dict[str, Any], side: str) -> str:
    """The condition of a dataset's subset in words; empty if it has none."""
    facet = form.get(f"{side}Facets", {}).get("subset")
    return "" if facet is None else words(facet[f"{side}Condition"])
