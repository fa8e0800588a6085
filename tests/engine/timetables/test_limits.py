"""Limits per value as authors say them: what is refused, and the slots that follow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
    asset,
)
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.limits import ValueLimits, WorkSlot

pytestmark = pytest.mark.airflow

CUSTOMERS = PartitionBySequence(["ann", "b|b"], name="customer")
HOURS = PartitionByInterval("@hourly", start="2013-01-01", name="hour")
BOTH = PartitionByProduct([HOURS, CUSTOMERS])


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"custmer": 1}, r"no dimension 'custmer'; expected one of hour, customer; nearest: customer"),
        (
            {"customer": 0},
            r"0 of 'customer'; expected how many runs of one value may be at work, at least 1, or the name",
        ),
        ({"customer": True}, "True of 'customer'"),
        ({"customer": "two words"}, "'two words' of 'customer'"),
        (1, r"limits=1; expected a mapping from dimensions .* such as limits=\{'hour': 1\}"),
    ],
)
def test_what_is_no_limit_is_refused_with_the_way_out(limits: Any, words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        Partitioned(None, BOTH, limits=limits)


def test_limits_need_runs_with_a_partition() -> None:
    with pytest.raises(InvalidDefinitionError, match="batch and limits need a partition; partition is None"):
        asset(schedule=None, partition=None, limits={"customer": 1})(_whole)


def _whole() -> None: ...


def timetable(limits: Mapping[str, int | str]) -> Partitioned:
    one = Partitioned(None, BOTH, limits=limits)
    one.dag_id = "calls"
    return one


def test_a_run_takes_a_slot_of_each_limited_value() -> None:
    limits = ValueLimits.of(timetable({"hour": 4, "customer": 1}))
    assert limits is not None
    assert limits.slots(r"2013-01-01T00:00Z|b\|b") == [
        WorkSlot("calls.customer", "b|b", 1),
        WorkSlot("calls.hour", "2013-01-01T00:00Z", 4),
    ]
    assert limits.slots("2012-01-01T00:00Z|ann") == []  # no key: the run fails by itself
    assert ValueLimits.of(timetable({})) is None


def test_keys_known_only_at_runtime_are_limited_as_others() -> None:
    limits = ValueLimits(PartitionAtRuntime("customer"), {"customer": ("calls.customer", 2)})
    assert limits.slots("zoe") == [WorkSlot("calls.customer", "zoe", 2)]


ALL_FORMS = """
from airflow.sdk import DAG, Asset
from airflow_partitions import PartitionBySequence, Partitioned, asset, spark_asset
from airflow_partitions.storage import Parquet

COMMON = {"schedule": None, "partition": PartitionBySequence(["ann"], name="customer"), "limits": {"customer": 1}}

@asset.multi(**COMMON, outlets=[Asset("a"), Asset("b")])
def several(partition): ...

@spark_asset(**COMMON, storage=Parquet("/lake/calls", partition_on={"customer": "{customer}"}))
def submitted(spark):
    return spark.range(1)

with DAG("own", schedule=Partitioned(**COMMON)): ...
"""


def test_all_forms_take_them(tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag

    (tmp_path / "file.py").write_text(ALL_FORMS)
    bag = DagBag(str(tmp_path))
    assert bag.import_errors == {}
    limits = {dag_id: dag.timetable.limits for dag_id, dag in bag.dags.items()}  # type: ignore[attr-defined]
    assert limits == {dag_id: {"customer": 1} for dag_id in ("several", "submitted", "own")}


def test_a_name_is_looked_up_in_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__LIMITS", '{"crm": 3}')
    limits = ValueLimits.of(timetable({"customer": "crm"}))
    assert limits is not None
    assert limits.slots("2013-01-01T00:00Z|ann") == [WorkSlot("crm", "ann", 3)]


@pytest.mark.parametrize(
    ("configured", "words"),
    [
        ('{"crm": 3, "cms": 1}', "names no limit 'crn'; expected one of cms, crm; nearest: crm"),
        ("{}", "names no limit 'crn'; expected one of those that stand there, and none does"),
        ('{"crn": 0}', "expected names with how many runs of one value may be at work, at least 1"),
        ('["crn"]', "expected names with how many"),
        ("crn: 1", "expected names with how many"),
    ],
)
def test_an_unknown_name_is_an_import_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configured: str, words: str
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__LIMITS", configured)
    (tmp_path / "file.py").write_text(
        "from airflow_partitions import PartitionBySequence, asset\n"
        '@asset(schedule=None, partition=PartitionBySequence(["ann"], name="customer"), limits={"customer": "crn"})\n'
        "def calls(partition): ...\n"
    )
    (error,) = DagBag(str(tmp_path)).import_errors.values()
    assert words in error
    assert "calls: " in error


def test_limits_survive_serialization() -> None:
    one = timetable({"customer": "crm", "hour": 2})
    one.at_once = True
    other = Partitioned.deserialize(one.serialize())
    assert (other.limits, other.at_once) == ({"customer": "crm", "hour": 2}, True)
    assert "limits" not in timetable({}).serialize()


@pytest.mark.parametrize(("arguments", "at_once"), [("batch=5", False), ("batch=5, threads=2", True), ("", False)])
def test_the_scheduler_knows_what_is_made_at_the_same_time(tmp_path: Path, arguments: str, at_once: bool) -> None:
    from airflow.dag_processing.dagbag import DagBag

    (tmp_path / "file.py").write_text(
        "from airflow_partitions import PartitionBySequence, asset\n"
        'CUSTOMERS = PartitionBySequence(["ann"], name="customer")\n'
        f'@asset(schedule=None, partition=CUSTOMERS, limits={{"customer": 1}}, {arguments})\n'
        "def calls(partition): ...\n"
    )
    bag = DagBag(str(tmp_path))
    assert bag.import_errors == {}
    assert bag.dags["calls"].timetable.at_once is at_once  # type: ignore[attr-defined]
