"""What a run knows, as datasets of OpenLineage with the subset of each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import Asset
from openlineage.client.naming.dataset import GCS, S3, LocalFileSystem

from airflow_partitions import (
    Lookback,
    Partition,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.engine.runs.lineage_datasets import input_datasets, output_datasets
from airflow_partitions.engine.runs.run_lineage import RunLineage
from airflow_partitions.engine.runs.subset_condition import MOST_NAMED
from airflow_partitions.frames.input import Input, Inputs
from airflow_partitions.storage import Iceberg, Parquet
from tests.engine.runs.lineage_events import sent, subset

NEW_YORK: dict[str, Any] = {"timezone": "America/New_York", "start": "2013-01-01"}
HOURS = PartitionByInterval("@hourly", **NEW_YORK, name="hour")
DAYS = PartitionByInterval("@daily", **NEW_YORK, name="day")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
CUSTOMERS = PartitionAtRuntime(name="customer")
FLIGHTS = Parquet("s3://lake/flights", partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
DELAYS = Parquet("/lake/delays", partition_on={"day": "%Y-%m-%d"})
NOW = datetime(2013, 12, 1, tzinfo=UTC)


def read_by(partition: Partition, inputs: Inputs) -> dict[str, str]:
    """What *partition* reads: the condition of each dataset, in words; empty for the whole."""
    lineage = RunLineage(
        definition=partition.definition, partitions=[partition], inputs=inputs.needed_by(partition, NOW)
    )
    return {f"{form['namespace']} {form['name']}": subset(form, "input") for form in sent(*input_datasets(lineage))}


def chosen(selection: Selection) -> str:
    """The condition of an input of which *selection* is promised."""
    storage = Parquet("/lake/x", partition=selection.definition)
    lineage = RunLineage(definition=DAYS, partitions=[], inputs={"x": Input("x", storage, selection)})
    (form,) = sent(*input_datasets(lineage))
    return subset(form, "input")


@pytest.mark.parametrize(
    ("day", "start", "end", "hours"),
    [
        ("2013-06-01", "2013-06-01T00:00:00-04:00", "2013-06-02T00:00:00-04:00", 24),
        ("2013-03-10", "2013-03-10T00:00:00-05:00", "2013-03-11T00:00:00-04:00", 23),
        ("2013-11-03", "2013-11-03T00:00:00-04:00", "2013-11-04T00:00:00-05:00", 25),
    ],
)
def test_the_hours_of_a_day_are_a_range_of_instants(day: str, start: str, end: str, hours: int) -> None:
    inputs = Inputs({"flights": FLIGHTS})
    assert read_by(Partition(DAYS, day), inputs) == {
        "s3://lake flights": f"(hour.start >= {start} AND hour.end <= {end})"
    }
    selection = inputs.needed_by(Partition(DAYS, day), NOW)["flights"].selection
    assert selection is not None
    assert len(selection) == hours


def test_an_input_of_one_partition_is_that_partition() -> None:
    assert read_by(Partition(DAYS, "2013-06-01"), Inputs({"days": DELAYS.of(DAYS)})) == {
        "file /lake/delays": "[2013-06-01]"
    }


def test_a_product_says_the_values_that_are_read_beside_the_range() -> None:
    stored = Parquet("/lake/x", partition=PartitionByProduct([HOURS, AIRPORTS]))
    day = "hour.start >= 2013-06-01T00:00:00-04:00 AND hour.end <= 2013-06-02T00:00:00-04:00"
    of_airport = f"({day}) AND [{{'airport': 'JFK'}}]"
    own = Partition(PartitionByProduct([DAYS, AIRPORTS]), "2013-06-01|JFK")
    assert read_by(own, Inputs({"x": stored})) == {"file /lake/x": f"({of_airport})"}
    assert read_by(Partition(DAYS, "2013-06-01"), Inputs({"x": stored})) == {"file /lake/x": f"({day})"}


def test_what_is_no_range_is_named() -> None:
    apart = Selection.of(HOURS, "2013-06-01T00:00-04:00", "2013-06-01T02:00-04:00", "2013-06-01T04:00-04:00")
    assert chosen(apart) == "[2013-06-01T00:00-04:00, 2013-06-01T02:00-04:00, 2013-06-01T04:00-04:00]"
    mixed = Selection.of(HOURS, "2013-06-01T00:00-04:00", "2013-06-01T02:00-04:00", "2013-06-01T03:00-04:00")
    day = "hour.start >= 2013-06-01T02:00:00-04:00 AND hour.end <= 2013-06-01T04:00:00-04:00"
    assert chosen(mixed) == f"([2013-06-01T00:00-04:00] OR ({day}))"
    assert chosen(Selection.of(AIRPORTS, "EWR", "LGA")) == "[EWR, LGA]"
    assert chosen(Selection.of(CUSTOMERS, "bob", "ann")) == "[ann, bob]"
    assert chosen(Selection(HOURS)) == "[]"


def test_what_is_all_there_is_has_no_subset() -> None:
    assert chosen(Selection.all(AIRPORTS)) == ""
    assert chosen(Selection.all(PartitionByInterval("@hourly", name="hour"))) == ""
    assert chosen(Selection.all(HOURS)) == "hour.start >= 2013-01-01T00:00:00-05:00"
    assert read_by(Partition(DAYS, "2013-06-01"), Inputs({"x": Parquet("/lake/x")})) == {"file /lake/x": ""}


def test_too_many_partitions_apart_are_told_by_when_they_are() -> None:
    hours = list(HOURS.keys(datetime(2013, 6, 1, tzinfo=UTC), datetime(2013, 12, 1, tzinfo=UTC)))[::2]
    few, many = (Selection.of(HOURS, *hours[:number]) for number in (MOST_NAMED, MOST_NAMED + 1))
    assert chosen(few).count(", ") == MOST_NAMED - 1
    start, end = hours[0].start.isoformat(), hours[MOST_NAMED].end.isoformat()
    assert chosen(many) == f"(hour.start >= {start} AND hour.end <= {end})"
    assert chosen(Selection.of(CUSTOMERS, *range(MOST_NAMED + 1))) == ""


def test_two_inputs_of_one_dataset_are_told_together() -> None:
    stored = DELAYS.of(DAYS)
    inputs = Inputs({"own": stored, "before": stored, "flights": FLIGHTS}, {"before": Lookback(3)})
    own = Partition(DAYS, "2013-06-09")
    before = inputs.needed_by(own, NOW)["before"].selection
    assert before is not None
    assert read_by(own, inputs) == {
        "file /lake/delays": f"([2013-06-09] OR {chosen(before)})",
        "s3://lake flights": "(hour.start >= 2013-06-09T00:00:00-04:00 AND hour.end <= 2013-06-10T00:00:00-04:00)",
    }
    inputs = Inputs({"own": stored, "all": Parquet("/lake/delays")})
    assert read_by(own, inputs) == {"file /lake/delays": ""}


@pytest.mark.parametrize(
    ("path", "naming"),
    [
        ("/lake/x", LocalFileSystem("/lake/x")),
        ("file:///lake/x", LocalFileSystem("/lake/x")),
        ("s3://lake/a/x", S3("lake", "a/x")),
        ("s3a://lake/a/x", S3("lake", "a/x")),
        ("gcs://lake/a/x", GCS("lake", "a/x")),
        ("s3://lake", S3("lake", "/")),
    ],
)
def test_datasets_are_named_by_the_rules_of_openlineage(path: str, naming: Any) -> None:
    assert Parquet(path).lineage_name == (naming.get_namespace(), naming.get_name())


def test_a_table_is_named_by_its_catalog_which_is_not_asked() -> None:
    assert Iceberg("flights.delays", catalog="lake").lineage_name == ("iceberg://lake", "flights.delays")
    assert Parquet("hdfs://name:9000/lake/x").lineage_name == ("hdfs://name:9000", "/lake/x")


def test_the_event_in_the_docs_is_what_is_sent() -> None:
    page = (Path(__file__).parents[3] / "docs/operate/lineage.md").read_text(encoding="utf-8")
    event = json.loads(page.partition("## What is read and made")[2].partition("```json\n")[2].partition("```")[0])
    own, storage = Partition(DAYS, "2013-03-10"), Parquet("s3://lake/delays")
    lineage = RunLineage(
        definition=DAYS,
        partitions=[own],
        inputs=Inputs({"flights": FLIGHTS}).needed_by(own, NOW),
        outlets=[(Asset("delays"), storage)],
        extras=[{"delays": {"rows": 1284, "bytes": 30211, "files": 1}}],
    )
    assert [_plain(form) for form in sent(*input_datasets(lineage))] == event["inputs"]
    assert [_plain(form) for form in sent(*output_datasets(lineage))] == event["outputs"]


def _plain(form: dict[str, Any]) -> dict[str, Any]:
    """A dataset without what stands on all facets, and without facets of its own."""
    facets = {side: values for side, values in form.items() if side.endswith("putFacets")}
    told = {
        side: {name: {k: v for k, v in facet.items() if not k.startswith("_")} for name, facet in some.items()}
        for side, some in facets.items()
    }
    return {"namespace": form["namespace"], "name": form["name"], **told}
