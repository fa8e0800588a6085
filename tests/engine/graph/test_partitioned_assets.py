"""The partitioned assets, by Airflow's tables and the Dags around them, in a real metadata database."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event

from airflow_partitions import KeyFormat, PartitionByInterval
from airflow_partitions.core.errors import UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, asset_dags, partitioned_asset, read_assets
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily")


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(
        tmp_path,
        estate="""
        @asset(schedule="@daily", partition=DAYS, dag_id="makes")
        def made(): ...

        @asset(schedule=made & Asset("gas"), partition=DAYS, upstreams={"gas": KeyFormat(DAYS)})
        def waiting(): ...

        with DAG("also", schedule=Partitioned("@daily", DAYS, asset=Asset("made"))):
            EmptyOperator(task_id="write", outlets=[Asset("made")])

        with DAG("by_name", schedule=Partitioned(Asset.ref(name="waiting"), DAYS)):
            EmptyOperator(task_id="read")

        with DAG("plain", schedule="@daily"):
            EmptyOperator(task_id="write", outlets=[Asset("beside")])
        """,
    )
    return metadata


def test_an_asset_has_the_definition_and_the_dags_around_it(estate: Metadata) -> None:
    assert asset_dags() == {
        "gas": AssetDags("gas", (), ("waiting",)),
        "made": AssetDags("made", ("also", "makes"), ("waiting",)),
        "waiting": AssetDags("waiting", ("waiting",), ("by_name",)),
    }
    made, gas = partitioned_asset("made"), partitioned_asset("gas")
    assert (made.meaning, made.definition, made.dags.owners) == (DAYS, DAYS, ("also", "makes"))
    assert (gas.meaning, gas.definition, gas.dags.owners) == (KeyFormat(DAYS), DAYS, ("waiting",))
    assert [each.name for each in read_assets(asset_dags().values())] == ["gas", "made", "waiting"]


def test_of_one_asset_only_its_own_dags_are_read(estate: Metadata) -> None:
    statements: list[str] = []
    event.listen(estate.engine, "before_cursor_execute", lambda *args: statements.append(f"{args[2]} {args[3]}"))
    partitioned_asset("waiting")
    which, dags = [each for each in statements if "serialized_dag" in each]
    for each in (which, dags):
        assert "waiting" in each
        assert "makes" not in each
    assert "serialized_dag.data" in dags


def test_a_dag_that_is_as_before_is_not_read_again(estate: Metadata) -> None:
    before = partitioned_asset("waiting")
    statements: list[str] = []
    event.listen(estate.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    asset = partitioned_asset("waiting")
    assert [each for each in statements if "serialized_dag" in each]
    assert not [each for each in statements if "serialized_dag.data" in each]
    assert asset.timetables.keys() == before.timetables.keys() != set()
    for dag_id, timetable in asset.timetables.items():
        assert timetable is not before.timetables[dag_id]  # what it has looked up is that answer's alone


@pytest.mark.parametrize(
    ("name", "hint", "nearest"),
    [
        ("mad", "nearest: made", ("made",)),
        ("makes", "'makes' is the Dag that makes 'made'", ("made",)),
        ("beside", "asset 'beside' has no partitions: the Dags that make it or wait for it have none", ()),
        ("zzz", "there are: gas, made, waiting", ()),
    ],
)
def test_an_asset_that_is_not_there_is_told_with_the_nearest(
    estate: Metadata, name: str, hint: str, nearest: tuple[str, ...]
) -> None:
    with pytest.raises(UnknownAssetError) as caught:
        partitioned_asset(name)
    assert hint in str(caught.value)
    assert (caught.value.given, caught.value.nearest) == (name, nearest)
