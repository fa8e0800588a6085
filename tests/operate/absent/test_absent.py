"""Assets whose Dags are absent: their files are broken or gone, or another release has serialized them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import literal_column, update

from airflow_partitions.core.errors import NotReadyError, UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.requests import PlanPartitions
from airflow_partitions.operate.contract.states import CountStates, ShowPartition
from airflow_partitions.operate.operations import answer
from tests.metadata import Metadata
from tests.operate.states.world import put_runs

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

SHOP = """
@asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2013-01-01", end="2013-01-11"))
def orders(): ...
"""
REPORT = """
@asset(schedule=Asset.ref(name="orders"), partition=PartitionByInterval("@daily", start="2013-01-01", end="2013-01-11"))
def report(): ...
"""
MADE = datetime(2013, 2, 1, tzinfo=UTC)


class Reader(Asker):
    """Somebody who may read some Dags."""

    def __init__(self, *dag_ids: str) -> None:
        self._dag_ids = set(dag_ids)

    @property
    def readable(self) -> set[str]:
        return self._dag_ids


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    """Two assets in two files; of one three days are there, and one has failed."""
    metadata.parse(tmp_path, mini_shop=SHOP, mini_report=REPORT)
    metadata.emit("orders", "2013-01-01", "2013-01-02", "2013-01-03", at=MADE)
    update_ledger("orders", partitioned_asset("orders").meaning)
    put_runs(metadata, "orders", ["2013-01-04"], "failed", MADE)
    return metadata


def listed(**values: Any) -> dict[str, Any]:
    return {form["name"]: form for form in answer(ListAssets(counts=True, **values))["assets"]}


def errors() -> list[dict[str, Any]]:
    return [one for one in answer(ListProblems())["problems"] if one["is_error"]]


def test_en2_assets_of_a_broken_file_stay_with_the_cause(estate: Metadata, tmp_path: Path) -> None:
    before = listed()
    estate.break_file(tmp_path / "mini_shop.py", "NameError: name 'pandsa' is not defined")
    after = listed()
    assert after.keys() == before.keys()
    assert after["orders"]["counts"]["counts"] == before["orders"]["counts"]["counts"]
    assert after["orders"]["counts"]["counts"]["materialized"] == 3
    assert after["orders"]["counts"]["counts"]["failed"] == 1
    (absent,) = after["orders"]["absent"]
    assert (absent["dag_id"], absent["cause"], Path(absent["file"]).name) == ("orders", "import-error", "mini_shop.py")
    assert absent["error"].endswith("NameError: name 'pandsa' is not defined")
    assert after["report"]["absent"] == []
    reason = answer(ShowPartition(asset="orders", key="2013-01-05"))["reasons"][0]
    assert reason.startswith("'orders' is made by ")
    assert reason.endswith("mini_shop.py, which can't be imported: NameError: name 'pandsa' is not defined")
    assert answer(CountStates(asset="orders"))["counts"]["materialized"] == 3
    with pytest.raises(NotReadyError, match=r"mini_shop\.py, which can't be imported"):
        answer(PlanPartitions(asset="orders", select="2013-01-05"))


def test_en2_the_doctor_tells_of_the_file_as_an_error(estate: Metadata, tmp_path: Path) -> None:
    assert errors() == []
    estate.break_file(tmp_path / "mini_shop.py", "NameError: name 'pandsa' is not defined")
    (problem,) = [one for one in errors() if one["kind"] == "import-error"]
    assert (problem["kind"], problem["dag_id"], problem["asset"]) == ("import-error", "orders", "orders")
    assert "mini_shop.py" in problem["text"]
    assert "name 'pandsa' is not defined" in problem["text"]


def test_en2_a_file_of_which_no_dag_is_known_is_told_to_who_may_read_all(estate: Metadata) -> None:
    from airflow.models.errors import ParseImportError
    from sqlalchemy.orm import Session

    with Session(estate.engine) as at:
        at.add(ParseImportError(filename="new.py", bundle_name="dags", stacktrace="Traceback\nSyntaxError: invalid"))
        at.commit()
    (problem,) = errors()
    assert (problem["kind"], problem["asset"]) == ("import-error", None)
    assert "new.py" in problem["text"]
    assert "SyntaxError: invalid" in problem["text"]
    assert "new.py" not in json.dumps(answer(ListProblems(), Reader("orders")))


def test_en2_who_may_not_read_the_dag_sees_nothing_of_it(estate: Metadata, tmp_path: Path) -> None:
    estate.break_file(tmp_path / "mini_shop.py", "NameError: name 'pandsa' is not defined")
    reader = Reader("report")
    assert [one["name"] for one in answer(ListAssets(), reader)["assets"]] == ["report"]
    assert "orders" not in json.dumps(answer(ListProblems(), reader)).replace("report", "")
    assert [one["name"] for one in answer(ListAssets(), Reader("orders", "report"))["assets"]] == ["orders", "report"]


def test_en2_a_file_that_is_gone_is_told_and_comes_back(estate: Metadata, tmp_path: Path) -> None:
    estate.remove_file(tmp_path / "mini_shop.py")
    form = listed()["orders"]
    (absent,) = form["absent"]
    assert (absent["cause"], Path(absent["file"]).name, absent["error"]) == ("missing", "mini_shop.py", None)
    assert form["counts"]["counts"]["materialized"] == 3
    estate.parse(tmp_path, mini_shop=SHOP, mini_report=REPORT)
    form = listed()["orders"]
    assert form["absent"] == []
    assert form["counts"]["counts"]["materialized"] == 3


def test_en2_an_asset_that_another_dag_makes_now_is_not_absent(estate: Metadata, tmp_path: Path) -> None:
    estate.remove_file(tmp_path / "mini_shop.py")
    estate.parse(tmp_path, shop=SHOP.replace('end="2013-01-11")', 'end="2013-01-11"), dag_id="renamed"'))
    form = answer(ShowAsset(asset="orders"))
    assert (form["absent"], form["producers"]) == ([], ["renamed"])


def test_en19_a_dag_of_another_release_is_told_with_what_mends_it(estate: Metadata) -> None:
    make_old(estate, "orders")
    form = listed()["orders"]
    (absent,) = form["absent"]
    assert absent["cause"] == "unreadable"
    assert "airflow dags reserialize" in absent["text"]
    assert form["counts"]["counts"]["materialized"] == 3
    (problem,) = [one for one in errors() if "Dag 'orders' can't be read" in one["text"]]
    assert "airflow dags reserialize" in problem["text"]


def test_en19_a_name_is_not_told_to_be_the_dag_that_makes_itself(estate: Metadata) -> None:
    make_old(estate, "report")
    with pytest.raises(UnknownAssetError) as caught:
        partitioned_asset("report")
    assert "'report' is the Dag that makes 'report'" not in str(caught.value)
    assert "airflow dags reserialize" in str(caught.value)


def make_old(estate: Metadata, dag_id: str) -> None:
    """Let another release have serialized a Dag."""
    from airflow.models.serialized_dag import SerializedDagModel as Row

    with estate.engine.begin() as at:
        path = literal_column("json_remove(data, '$.dag.timetable.__var.version')")
        at.execute(update(Row).where(Row.dag_id == dag_id).values(data=path))
