"""What is broken is a row with its cause and takes nothing else with it: each damage is put to each question."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, literal_column, update

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.database.models import Asset, Forgetting, Partition, Request
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.runs.task_request import TASK_REQUEST
from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.grid import ShowGrid
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.contract.missed import ListMissed
from airflow_partitions.operate.contract.orphans import ListOrphans
from airflow_partitions.operate.contract.requests import ListRequests, PlanPartitions
from airflow_partitions.operate.contract.states import CountStates, ListMaterializations, ListStates, ShowPartition
from airflow_partitions.operate.contract.upkeep import Reconcile
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.forget import forget
from airflow_partitions.operate.requests.materialize import materialize
from airflow_partitions.operate.states import overview
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.states.world import put_runs

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

DAYS = 'PartitionByInterval("@daily", start="2013-01-01", end="2013-01-11")'
BROKEN = f"""
import pandas as pd
from airflow_partitions.storage import Parquet

@asset(schedule="@daily", partition={DAYS},
       storage=Parquet("/nowhere/at/all/broken", conn_id="CONN", partition_on={{"time": "%Y-%m-%d"}}))
def broken(partition) -> pd.DataFrame: ...
"""
SOUND = f"""
@asset(schedule="@daily", partition={DAYS})
def sound(): ...

@asset(schedule=sound, partition={DAYS})
def after_sound(): ...
"""
MADE = datetime(2013, 2, 1, tzinfo=UTC)
Damage = Callable[[Metadata, Path], None]


def serialized(path: str, value: str) -> Damage:
    """Another form of the Dag."""

    def damage(estate: Metadata, _: Path) -> None:
        from airflow.models.serialized_dag import SerializedDagModel as Row

        form = literal_column(f"json_set(data, '{path}', json('{value}'))")
        with estate.engine.begin() as at:
            at.execute(update(Row).where(Row.dag_id == "broken").values(data=form))

    return damage


def run_of_another_key(estate: Metadata, _: Path) -> None:
    put_runs(estate, "broken", ["2013-01-05|of|no|such"], "failed", MADE)
    estate.emit("broken", "no key at all", "2013-99-99", at=MADE)


def no_references(estate: Metadata, _: Path) -> None:
    from airflow.models.dag import DagModel
    from airflow.models.serialized_dag import SerializedDagModel as Row

    with estate.engine.begin() as at:
        at.execute(delete(Row).where(Row.dag_id == "broken"))
        at.execute(update(DagModel).where(DagModel.dag_id == "broken").values(is_stale=True))
    estate._drop_references()


#: How an asset is broken, and whether the doctor has a row that names it.
DAMAGES: Mapping[str, tuple[Damage, bool]] = {
    "definition of a later release": (
        lambda estate, _: estate.write_row(Asset, Asset.name == "broken", meaning={"version": 99, "kind": "later"}),
        True,
    ),
    "definition that is no JSON": (lambda estate, _: estate.break_form(Asset.meaning, Asset.name == "broken"), True),
    "records that are no JSON": (lambda estate, _: estate.break_form(Partition.extra, text="{not json"), True),
    "what is forgotten is no JSON": (lambda estate, _: estate.break_form(Forgetting.selection), True),
    "what is forgotten of a later release": (
        lambda estate, _: estate.write_row(Forgetting, selection={"version": 99}),
        True,
    ),
    "cell of a later release": (
        lambda estate, _: estate.put("broken", f"{TASK_REQUEST}of_a_task", {"version": 99}),
        True,
    ),
    "cell of an older release": (
        lambda estate, _: estate.put("broken", f"{TASK_REQUEST}of_a_task", {"2013-01-01": 1}),
        True,
    ),
    "request that is no JSON": (
        lambda estate, _: estate.break_form(Request.selection, Request.asset == "broken"),
        True,
    ),
    "request of a later release": (
        lambda estate, _: estate.write_row(Request, Request.asset == "broken", selection={"version": 99}),
        True,
    ),
    "conf of a request is no JSON": (
        lambda estate, _: estate.break_form(Request.conf, Request.asset == "broken"),
        True,
    ),
    "file with an import error": (
        lambda estate, folder: estate.break_file(folder / "broken.py", "NameError: name 'x' is not defined"),
        True,
    ),
    "file that is gone": (lambda estate, folder: estate.remove_file(folder / "broken.py"), True),
    "Dag of another release": (serialized("$.dag.timetable.__var.version", "99"), True),
    "timetable that is none": (serialized("$.dag.timetable", '{"__type": "no.such", "__var": {}}'), True),
    "definition in the Dag that is none": (serialized("$.dag.timetable.__var.partition", '{"kind": "no such"}'), True),
    "tasks that are none": (serialized("$.dag.tasks", "[7]"), True),
    "no serialized form": (no_references, False),
    "runs and events of other keys": (run_of_another_key, False),
}


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    """One asset to be broken and two others: all have records, runs and requests."""
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, broken=BROKEN, sound=SOUND)
    metadata.prepare_runs()
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    for name in ("broken", "sound"):
        metadata.emit(name, "2013-01-01", "2013-01-02", "2013-01-03", at=MADE, extra={"rows": 3})
        asset = partitioned_asset(name)
        update_ledger(name, asset.meaning)
        put_runs(metadata, name, ["2013-01-04"], "failed", MADE)
        materialize(asset, Selection.of(asset.definition, "2013-01-06"), by="tests")
    forget(partitioned_asset("broken"), Selection.of(partitioned_asset("broken").definition, "2013-01-02"), by="tests")
    overview._OVERVIEWS.clear()
    return metadata


def questions() -> dict[str, Any]:
    """What is told of the sound assets, by each question."""
    assets = answer(ListAssets(counts=True))["assets"]
    names = ("sound", "after_sound")
    told: dict[str, Any] = {
        "list": [one for one in assets if one["name"] != "broken"],
        "list without counts": [one for one in answer(ListAssets())["assets"] if one["name"] != "broken"],
        "list by state": [one for one in answer(ListAssets(states=["failed"]))["assets"] if one["name"] != "broken"],
        "requests": [one for one in answer(ListRequests())["requests"] if one["asset"] != "broken"],
    }
    for name in names:
        for asked in (
            ShowAsset(asset=name),
            CountStates(asset=name),
            ListStates(asset=name),
            ListMaterializations(asset=name),
            ShowGrid(asset=name),
            ShowPartition(asset=name, key="2013-01-04"),
            PlanPartitions(asset=name, select="2013-01-03", downstream=True),
            ListOrphans(asset=name),
            ListLate(asset=name),
            ListMissed(asset=name),
        ):
            told[f"{type(asked).__name__} {name}"] = answer(asked)
    return {question: without_moments(one) for question, one in told.items()}


def without_moments(form: Any) -> Any:
    """The same without the moment at which it was asked for."""
    if isinstance(form, dict):
        return {name: without_moments(one) for name, one in form.items() if name not in ("now", "version", "progress")}
    return [without_moments(one) for one in form] if isinstance(form, list) else form


@pytest.mark.parametrize("damage", DAMAGES)
def test_en2_en19_what_is_broken_takes_nothing_else_with_it(estate: Metadata, tmp_path: Path, damage: str) -> None:
    before = questions()
    do, is_told = DAMAGES[damage]
    do(estate, tmp_path)
    overview._OVERVIEWS.clear()
    after = questions()
    assert after.keys() == before.keys()
    for question, told in before.items():
        assert after[question] == told, question
    problems = answer(ListProblems())["problems"]
    assert [one["text"] for one in problems if one["kind"] == "check"] == []
    rows = [one for one in problems if "broken" in json.dumps(one) and one["kind"] not in ("connection", "folder")]
    rows = [one for one in rows if one["is_error"] or one["kind"] == "missing-dag"]
    assert bool(rows) is is_told
    if damage == "cell of an older release":
        assert "an older release has written" in rows[0]["text"]
    assert answer(Reconcile(asset="sound"))["malformed"] == {}
    round_ = one_round()
    assert not [text for text in round_.problems if "sound" in text]
    assert without_moments(answer(CountStates(asset="sound"))) == before["CountStates sound"]
