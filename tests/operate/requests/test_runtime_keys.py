"""Keys that a person adds to a list and removes from it, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from airflow_partitions import PartitionAtRuntime, Selection
from airflow_partitions.core.errors import ConflictError, InvalidDefinitionError, InvalidKeyError, RequestSizeError
from airflow_partitions.engine.database.models import RuntimeKey
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import current_records
from airflow_partitions.engine.ledger.marks import Mark
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys, remove_runtime_keys, runtime_keys
from airflow_partitions.operate.upkeep.cell_check import cell_problems
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

CUSTOMERS = PartitionAtRuntime(name="customers", allowed="[a-z]+")
DAG_FILE = """
CUSTOMERS = PartitionAtRuntime(name="customers", allowed="[a-z]+")

@asset(schedule="@hourly", partition=CUSTOMERS)
def models():
    ...

@asset(schedule=models, partition=CUSTOMERS)
def predictions(partition): ...

@asset(schedule="@daily", partition=DAYS)
def days(partition): ...
"""


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    metadata.parse(tmp_path, files=DAG_FILE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    return metadata


def waiting(metadata: Metadata) -> list[str]:
    from airflow.models.asset import AssetPartitionDagRun

    with metadata.engine.connect() as at:
        return [str(key) for key in at.scalars(select(AssetPartitionDagRun.partition_key).order_by("id"))]


def adding(metadata: Metadata, state: str, **cell: Any) -> None:
    """A run that has claimed the list."""
    from airflow.models.dagrun import DagRun

    with metadata.engine.begin() as at:
        values = {"dag_id": "models", "run_id": "run1", "run_type": "manual", "state": state}
        now = datetime.now(UTC)
        at.execute(insert(DagRun).values(**values, run_after=now, queued_at=now, log_template_id=None))
    metadata.put("keys of customers", "claim|", {"version": 1, "dag_id": "models", "run_id": "run1"} | cell)


def test_added_keys_are_on_the_list_sent_as_events_and_start_what_is_downstream(dags: Metadata) -> None:
    models = partitioned_asset("models")
    assert runtime_keys(models) == {}
    assert add_runtime_keys(models, ["ann"], by="eve", dry_run=True).keys == ("ann",)
    assert runtime_keys(models) == {}
    outcome = add_runtime_keys(models, ["ann", "bob", "ann"], {"since": 2013}, by="eve", reason="new contract")
    assert outcome.to_json() == {
        "asset": "models",
        "name": "customers",
        "keys": ["ann", "bob"],
        "known": 0,
        "dry_run": False,
    }
    assert {text: tuple(addition) for text, addition in runtime_keys(models).items()} == {
        "ann": (None, {"since": 2013}),
        "bob": ("ann", {"since": 2013}),
    }
    assert waiting(dags) == ["ann", "bob"]
    records = list(current_records("models", CUSTOMERS, Selection.all(CUSTOMERS)))
    assert [Mark.of(record.extra) for _, record in records] == [Mark("eve", "new contract")] * 2
    once = add_runtime_keys(models, ["ann", "cid"], by="eve", once=True)
    assert (once.keys, once.known) == (("cid",), 1)
    assert list(runtime_keys(models)) == ["ann", "bob", "cid"]
    add_runtime_keys(models, ["ann"], by="eve")
    assert list(runtime_keys(models)) == ["bob", "cid", "ann"]


def test_details_that_are_no_json_are_told_and_keep_no_key_from_the_list(dags: Metadata) -> None:
    models = partitioned_asset("models")
    add_runtime_keys(models, ["ann", "bob"], {"since": 2013}, by="eve")
    dags.break_form(RuntimeKey.details, RuntimeKey.key == "ann")
    (problem,) = cell_problems()
    assert "keys of customers: what is kept with 'ann' can't be read: '[111" in problem.text
    add_runtime_keys(models, ["cid"], by="eve")
    details = {text: addition.metadata for text, addition in runtime_keys(models).items()}
    assert details == {"ann": {"unreadable": details["ann"]["unreadable"]}, "bob": {"since": 2013}, "cid": None}


def test_removed_keys_are_off_the_list_and_what_was_made_stays(dags: Metadata) -> None:
    models = partitioned_asset("models")
    add_runtime_keys(models, ["ann", "bob"], by="eve")
    assert remove_runtime_keys(models, ["ann"], dry_run=True).keys == ("ann",)
    remove_runtime_keys(models, ["ann"])
    assert list(runtime_keys(models)) == ["bob"]
    assert len(list(current_records("models", CUSTOMERS, Selection.all(CUSTOMERS)))) == 2
    with pytest.raises(InvalidKeyError, match=r"'bib' is none of the 1 keys of .*; nearest: bob"):
        remove_runtime_keys(models, ["bib"])


@pytest.mark.parametrize("state", ["running", "success"])
def test_nobody_adds_to_a_list_that_a_run_is_adding_to(dags: Metadata, state: str) -> None:
    models = partitioned_asset("models")
    adding(dags, state)
    if state == "success":
        add_runtime_keys(models, ["ann"], by="eve")
        return
    with pytest.raises(ConflictError, match="run run1 of models is adding keys to 'customers'"):
        add_runtime_keys(models, ["ann"], by="eve")


@pytest.mark.parametrize("succeeded", [True, False])
def test_keys_of_a_killed_run_count_only_if_its_events_are_there(dags: Metadata, *, succeeded: bool) -> None:
    models = partitioned_asset("models")
    run = {"asset": "models", "dag_id": "models", "run_id": "run1", "at": datetime.now(UTC).isoformat()}
    form = {"version": 1, "added": [["ann", None, None]], "pending": [["bob", "ann", None]], "run": run}
    dags.put("keys of customers", "partitions", form | {"revision": None})
    if succeeded:
        dags.emit("models", "bob", at=datetime.now(UTC), source_dag_id="models", source_run_id="run1")
    assert list(runtime_keys(models)) == (["ann", "bob"] if succeeded else ["ann"])
    add_runtime_keys(models, ["cid"], by="eve")
    assert list(runtime_keys(models)) == [*(["ann", "bob"] if succeeded else ["ann"]), "cid"]


def test_what_is_no_key_or_no_list_is_refused(dags: Metadata) -> None:
    models = partitioned_asset("models")
    with pytest.raises(InvalidKeyError, match="key 'Ann' is not allowed"):
        add_runtime_keys(models, ["bob", "Ann"], by="eve")
    with pytest.raises(RequestSizeError, match="0 keys to add"):
        add_runtime_keys(models, [], by="eve")
    with pytest.raises(InvalidDefinitionError, match="the keys of asset 'days' follow from its definition"):
        runtime_keys(partitioned_asset("days"))
    assert runtime_keys(models) == {}
