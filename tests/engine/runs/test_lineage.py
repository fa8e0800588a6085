"""What OpenLineage is told of the partitions that tasks read and make, by its provider's own machinery."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from airflow.providers.openlineage.extractors import ExtractorManager
from airflow.sdk import DAG, Asset
from airflow.sdk.execution_time.context import OutletEventAccessors, set_current_context
from airflow.utils.state import TaskInstanceState

from airflow_partitions import (
    Partition,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
    Publish,
    Selection,
    Unpartitioned,
    asset,
    spark_asset,
)
from airflow_partitions.authoring.assets.python import AssetFunctionOperator
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import StorageError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.runs.lineage_datasets import output_datasets
from airflow_partitions.engine.runs.made_beside import MADE_BESIDE, MadeBeside
from airflow_partitions.engine.runs.openlineage import FACET
from airflow_partitions.engine.runs.run_lineage import RunLineage
from airflow_partitions.engine.runs.subset_condition import MOST_NAMED
from airflow_partitions.operate.requests.materialize import materialize
from airflow_partitions.storage import Parquet
from tests.batch_context import batch
from tests.engine.runs.lineage_events import events_of_task, sent, subset
from tests.metadata import Metadata

NEW_YORK: dict[str, Any] = {"timezone": "America/New_York", "start": "2013-01-01"}
HOURS = PartitionByInterval("@hourly", **NEW_YORK, name="hour")
DAYS = PartitionByInterval("@daily", **NEW_YORK, name="day")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
CUSTOMERS = PartitionAtRuntime(name="customer")
FLIGHTS = Parquet("s3://lake/flights", partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
DELAYS = Parquet("/lake/delays", partition_on={"day": "%Y-%m-%d"})
NOW = datetime(2013, 12, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    MADE_BESIDE.clear()
    yield
    MADE_BESIDE.clear()


@asset(
    schedule=None,
    partition=DAYS,
    inputs={"flights": FLIGHTS, "airports": Parquet("/lake/airports")},
    storage=DELAYS,
    batch=10,
)
def delays(flights: pd.DataFrame, airports: pd.DataFrame) -> pd.DataFrame:
    return flights


@spark_asset(schedule=None, partition=DAYS, inputs={"flights": FLIGHTS}, storage=DELAYS)
def sparked(flights):  # type: ignore[no-untyped-def]
    return flights


@asset(schedule=None, partition=PartitionByProduct([DAYS, AIRPORTS]), uri="s3://lake/made/by/hand")
def placed(partition: Any) -> None: ...


@asset(schedule=None, partition=DAYS)
def nowhere(partition: Any) -> None: ...


@asset(schedule=Asset("models", uri="s3://lake/models"), partition=DAYS, upstreams={"models": HOURS}, uri="file:///x")
def predictions(models: Any) -> None: ...


@asset(schedule=Asset("tables", uri="s3://lake/tables"), partition=DAYS, rules={"tables": Unpartitioned()})
def guesses(tables: Any) -> None: ...


def nowhere_at_all(partition: Any) -> None: ...


def instance(task: Any, key: str | None, state: TaskInstanceState = TaskInstanceState.SUCCESS, **extra: Any) -> Any:
    """The instance of a *task* whose event has told *extra*."""
    run = SimpleNamespace(run_id="run", partition_key=key, run_after=NOW, start_date=NOW)
    events = OutletEventAccessors()
    if extra:
        events[next(outlet for outlet in task.outlets if isinstance(outlet, Asset))].extra = extra
    context = {"dag": task.dag, "dag_run": run, "task": task, "outlet_events": events}
    own = SimpleNamespace(
        dag_id=task.dag_id, task_id=task.task_id, task=task, state=state, get_template_context=lambda: context
    )
    context["ti"] = own
    return own


def told(own: Any, state: TaskInstanceState | None = None) -> tuple[dict[str, str], dict[str, str], list[Any]]:
    """What the provider takes from the operator: conditions of inputs and of outputs by place, and statistics."""
    context = own.get_template_context()
    with set_current_context(context):
        lineage = ExtractorManager().extract_metadata(
            dagrun=context["dag_run"], task=own.task, task_instance_state=state or own.state, task_instance=own
        )
    inputs, outputs = sent(*lineage.inputs), sent(*lineage.outputs)
    statistics = [form["outputFacets"]["outputStatistics"] for form in outputs if len(form["outputFacets"]) > 1]
    return (
        {f"{form['namespace']} {form['name']}": subset(form, "input") for form in inputs},
        {f"{form['namespace']} {form['name']}": subset(form, "output") for form in outputs},
        [(each["rowCount"], each["size"], each["fileCount"]) for each in statistics],
    )


COUNTS = {"rows": 7, "bytes": 900, "files": 2}
DAY = "(hour.start >= 2013-03-10T00:00:00-05:00 AND hour.end <= 2013-03-11T00:00:00-04:00)"


def publishing() -> Any:
    with DAG("published", schedule=Partitioned("@daily", DAYS)):
        return Publish(asset=Asset("published"), storage=DELAYS, inputs={"flights": FLIGHTS})


@pytest.mark.parametrize("kind", ["asset", "spark", "publish"])
def test_each_engine_tells_hours_in_and_a_day_out(kind: str) -> None:
    task = {"asset": lambda: delays.task, "spark": lambda: sparked.task, "publish": publishing}[kind]()
    read = {"s3://lake flights": DAY} | ({"file /lake/airports": ""} if kind == "asset" else {})
    own = instance(task, "2013-03-10", **COUNTS)
    assert told(own) == (read, {"file /lake/delays": "[2013-03-10]"}, [(7, 900, 2)])
    assert told(instance(task, "2013-03-10"), TaskInstanceState.RUNNING) == (
        read,
        {"file /lake/delays": "[2013-03-10]"},
        [],
    )


@pytest.mark.parametrize("state", [TaskInstanceState.FAILED, TaskInstanceState.SKIPPED])
def test_what_failed_or_was_skipped_has_made_no_partition(state: TaskInstanceState) -> None:
    read, made, statistics = told(instance(sparked.task, "2013-03-10", state))
    assert (read, made, statistics) == ({"s3://lake flights": DAY}, {"file /lake/delays": "[]"}, [])


def test_a_partition_tells_each_dimension_and_the_instants_of_its_interval() -> None:
    product = PartitionByProduct([HOURS, AIRPORTS])
    lineage = RunLineage(
        definition=product,
        partitions=[Partition(product, "2013-11-03T01:00-05:00|JFK")],
        outlets=[(Asset("x"), Parquet("/lake/x"))],
    )
    (form,) = sent(*output_datasets(lineage))
    assert form["outputFacets"]["subset"]["outputCondition"] == {
        "type": "partition",
        "partitions": [
            {
                "identifier": "2013-11-03T01:00-05:00|JFK",
                "dimensions": {
                    "hour": "2013-11-03T01:00-05:00",
                    "hour.start": "2013-11-03T01:00:00-05:00",
                    "hour.end": "2013-11-03T02:00:00-05:00",
                    "airport": "JFK",
                },
            }
        ],
    }


def test_a_large_batch_is_no_megabyte() -> None:
    product = PartitionByProduct([HOURS, AIRPORTS])
    keys = [*product.keys(datetime(2013, 6, 1, tzinfo=UTC), datetime(2013, 8, 1, tzinfo=UTC))]
    for number, kind in ((MOST_NAMED, "partition"), (3 * MOST_NAMED, "binary")):
        lineage = RunLineage(
            definition=product,
            partitions=[Partition(product, key) for key in keys[:number]],
            outlets=[(Asset("x"), Parquet("/lake/x"))],
        )
        (form,) = sent(*output_datasets(lineage))
        assert form["outputFacets"]["subset"]["outputCondition"]["type"] == kind
        assert len(json.dumps(form)) < 1_000_000


@pytest.mark.parametrize(("definition", "key"), [(AIRPORTS, "JFK"), (CUSTOMERS, "ann")])
def test_a_partition_without_time_tells_its_value(definition: PartitionDefinition, key: str) -> None:
    lineage = RunLineage(
        definition=definition,
        partitions=[Partition(definition, key)],
        outlets=[(Asset("x"), Parquet("/lake/x"))],
    )
    (form,) = sent(*output_datasets(lineage))
    (partition,) = form["outputFacets"]["subset"]["outputCondition"]["partitions"]
    assert partition == {"identifier": key, "dimensions": {definition.name: key}}


@pytest.mark.parametrize("failed", [False, True])
def test_a_batch_tells_all_that_its_task_has_made_and_was_to_read(failed: bool) -> None:
    for day in ("2013-03-11", "2013-03-12"):
        MADE_BESIDE[day] = MadeBeside(Partition(DAYS, day), NOW, {"delays": COUNTS})
    extra = {} if failed else COUNTS
    state = TaskInstanceState.FAILED if failed else TaskInstanceState.SUCCESS
    read, made, statistics = told(instance(delays.task, "2013-03-10", state, **extra))
    assert read["s3://lake flights"] == (
        "(hour.start >= 2013-03-10T00:00:00-05:00 AND hour.end <= 2013-03-13T00:00:00-04:00)"
    )
    own = "" if failed else "2013-03-10, "
    assert made == {"file /lake/delays": f"[{own}2013-03-11, 2013-03-12]"}
    assert statistics == [(14, 1800, 4) if failed else (21, 2700, 6)]


def test_what_a_batch_has_published_is_told(tmp_path: Path) -> None:
    def made(flights: pd.DataFrame) -> pd.DataFrame:
        return flights

    made.__qualname__ = made.__name__
    flights = Parquet(f"{tmp_path}/flights", partition=DAYS)
    flights.save({f"2013-06-0{day}": pd.DataFrame({"n": range(day)}) for day in (1, 2, 3)})
    days = asset(
        schedule=None, partition=DAYS, inputs={"flights": flights}, storage=Parquet(f"{tmp_path}/made"), batch=10
    )(made)
    context = batch(days, "2013-06-02", "2013-06-03", own="2013-06-01")
    days.task.execute(context)
    own = SimpleNamespace(
        dag_id="made", task_id="made", task=days.task, state=TaskInstanceState.SUCCESS,
        get_template_context=lambda: context,
    )  # fmt: skip
    read, written, statistics = told(own)
    bounds = "day.start >= 2013-06-01T00:00:00-04:00 AND day.end <= 2013-06-04T00:00:00-04:00"
    assert read == {f"file {tmp_path}/flights": f"({bounds})"}
    assert written == {f"file {tmp_path}/made": "[2013-06-01, 2013-06-02, 2013-06-03]"}
    assert [(rows, files) for rows, _, files in statistics] == [(6, 3)]


def test_an_asset_without_storage_is_told_by_its_uri() -> None:
    read, made, _ = told(instance(placed.task, "2013-06-01|JFK"))
    assert (read, made) == ({}, {"s3://lake made/by/hand": "[2013-06-01|JFK]"})
    assert told(instance(nowhere.task, "2013-06-01")) == ({}, {}, [])
    counted = told(instance(placed.task, "2013-06-01|JFK", **COUNTS))
    assert counted[2] == [(7, 900, 2)]


def test_each_asset_of_several_is_told() -> None:
    with DAG("both", schedule=Partitioned("@daily", DAYS)):
        outlets = [Asset("one", "s3://lake/one"), Asset("two", "s3://lake/two")]
        own = instance(AssetFunctionOperator.of(nowhere_at_all, "both", outlets, None), "2013-06-01", **COUNTS)
    read, made, statistics = told(own)
    assert (read, made) == ({}, {"s3://lake one": "[2013-06-01]", "s3://lake two": "[2013-06-01]"})
    assert statistics == [(7, 900, 2)]


def test_an_upstream_asset_is_told_by_its_uri_with_what_the_run_needs_of_it() -> None:
    read, made, _ = told(instance(predictions.task, "2013-03-10"))
    assert (read, made) == ({"s3://lake models": DAY}, {"file /x": "[2013-03-10]"})
    assert told(instance(guesses.task, "2013-03-10"))[0] == {"s3://lake tables": ""}  # it has no partitions


@pytest.mark.parametrize("key", [None, "no day"])
def test_a_run_without_a_usable_key_tells_nothing(key: str | None, caplog: pytest.LogCaptureFixture) -> None:
    assert told(instance(sparked.task, key)) == ({}, {}, [])
    assert "not told" not in caplog.text


def test_what_can_not_be_told_is_logged_with_its_cause_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def needed_by(*_: Any) -> Any:
        raise StorageError("the bucket is gone")

    monkeypatch.setattr(delays.task, "needed_by", needed_by)
    with caplog.at_level(logging.WARNING):
        assert told(instance(delays.task, "2013-03-10")) == ({}, {}, [])
    (record,) = [record for record in caplog.records if "the bucket is gone" in record.getMessage()]
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], StorageError)


def test_what_hooks_have_noted_is_told_too(hook_lineage_collector: Any) -> None:
    hook_lineage_collector.add_input_asset(SimpleNamespace(), uri="s3://raw/flights.csv")
    hook_lineage_collector.add_output_asset(SimpleNamespace(), uri="file:///lake/delays")
    read, made, _ = told(instance(sparked.task, "2013-03-10"))
    assert (read, made) == (
        {"s3://lake flights": DAY, "s3://raw flights.csv": ""},
        {"file /lake/delays": "[2013-03-10]"},
    )


@pytest.fixture
def hook_lineage_collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What hooks of this process tell their lineage to, as where a plugin reads it."""
    from airflow.sdk import plugins_manager
    from airflow.sdk.lineage import get_hook_lineage_collector

    monkeypatch.setattr(plugins_manager, "get_hook_lineage_readers_plugins", lambda: [object])
    get_hook_lineage_collector.cache_clear()
    yield get_hook_lineage_collector()
    get_hook_lineage_collector.cache_clear()


def test_operators_are_imported_where_the_extra_is_not_installed() -> None:
    program = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "openlineage":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import airflow_partitions.authoring.assets.frame_operator
import airflow_partitions.authoring.tasks.publish
import airflow_partitions.spark.operator
"""
    command = [sys.executable, "-c", program]
    process = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert process.returncode == 0, process.stderr


# Of a real task


@pytest.mark.airflow
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")
def test_the_events_of_a_real_task_tell_its_day_with_23_hours_in_and_one_day_out(
    metadata: Metadata, tmp_path: Path
) -> None:
    metadata.prepare_runs()
    flights = Parquet(f"{tmp_path}/flights", partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
    hours = list(HOURS.keys(datetime(2013, 3, 10, 5, tzinfo=UTC), datetime(2013, 3, 11, 4, tzinfo=UTC)))
    assert len(hours) == 23
    flights.save({hour: pd.DataFrame({"n": [1]}) for hour in hours})
    source = f"""
    import pandas as pd
    from airflow_partitions.storage import Parquet

    ZONE = {{"timezone": "America/New_York", "start": "2013-01-01"}}
    HOURS = PartitionByInterval("@hourly", **ZONE, name="hour")
    FLIGHTS = Parquet("{tmp_path}/flights", partition=HOURS, partition_on={{"hour": "%Y-%m-%dT%H%z"}})

    @asset(schedule=None, is_paused_upon_creation=False, inputs={{"flights": FLIGHTS}},
           partition=PartitionByInterval("@daily", **ZONE, name="day"),
           storage=Parquet("{tmp_path}/totals", partition_on={{"day": "%Y-%m-%d"}}))
    def totals(flights: pd.DataFrame) -> pd.DataFrame:
        return flights[["n"]].sum().to_frame().T
    """
    (tmp_path / "dags").mkdir()
    metadata.parse(tmp_path / "dags", told=source)
    own = partitioned_asset("totals")
    materialize(own, Selection.of(own.definition, "2013-03-10"), by="ann")
    facet = "airflow_partitions.engine.runs.openlineage.partition_run_facet"
    events = events_of_task(metadata, tmp_path, OPENLINEAGE__CUSTOM_RUN_FACETS=facet)
    assert events.keys() == {"START", "COMPLETE"}
    for event in events.values():
        told = {name: value for name, value in event["run"]["facets"][FACET].items() if not name.startswith("_")}
        assert told == {
            "assets": ["totals"],
            "key": "2013-03-10",
            "dimensions": {"day": "2013-03-10"},
            "start": "2013-03-10T00:00:00-05:00",
            "end": "2013-03-11T00:00:00-04:00",
            "timezone": "America/New_York",
            "batch": [],
        }
        (read,), (made,) = event["inputs"], event["outputs"]
        assert (read["namespace"], read["name"], subset(read, "input")) == ("file", f"{tmp_path}/flights", DAY)
        assert (made["namespace"], made["name"], subset(made, "output")) == (
            "file",
            f"{tmp_path}/totals",
            "[2013-03-10]",
        )
    statistics = events["COMPLETE"]["outputs"][0]["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["fileCount"]) == (1, 1)
    assert "outputStatistics" not in events["START"]["outputs"][0]["outputFacets"]
    for side, facets in (("inputs", "inputFacets"), ("outputs", "outputFacets")):
        schema = events["COMPLETE"][side][0][facets]["subset"]["_schemaURL"]
        assert schema.startswith("https://openlineage.io/spec/facets/1-0-0/BaseSubsetDatasetFacet.json#/$defs/")
