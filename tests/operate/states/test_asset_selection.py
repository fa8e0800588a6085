"""Which assets a question over many is about: each such question narrows them in the same way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions.core.errors import RequestSizeError, UnknownAssetError
from airflow_partitions.operate.contract.asset_selection import AssetSelection
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.contract.operations import OPERATIONS
from airflow_partitions.operate.operations import answer
from tests.metadata import Metadata
from tests.operate.states.world import put_runs

pytestmark = pytest.mark.airflow

SOURCE = """
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-05")

@asset(schedule=None, partition=DAYS, tags=["nightly"], group="lake")
def raw_flights(partition): ...

@asset(schedule=raw_flights, partition=DAYS, default_args={"owner": "ann"})
def flights(partition): ...

@asset(schedule=flights, partition=DAYS, tags=["nightly"], default_args={"owner": "ann"})
def delays(partition): ...

@asset(schedule=None, partition=DAYS)
def weather(partition): ...
"""
NAMES = ["delays", "flights", "raw_flights", "weather"]
DAYS = [f"2013-01-{day:02}" for day in range(1, 5)]
SPAN = {"since": "2013-01-01T00:00Z", "until": "2013-01-05T00:00Z"}


def listed(**selection: Any) -> list[str]:
    return [each["name"] for each in answer(ListAssets(**selection))["assets"]]


def on_the_board(**selection: Any) -> list[str]:
    return [strip["asset"] for strip in answer(ShowBoard(**SPAN, **selection))["strips"]]


def failed(**selection: Any) -> list[str]:
    return [of["asset"] for one in answer(ListFailures(**selection))["failures"] for of in one["assets"]]


def changed(**selection: Any) -> list[str]:
    return [each["asset"] for each in answer(ListChanges(since=SPAN["until"], **selection))["assets"]]


def filled(**selection: Any) -> list[str]:
    asked = FillAssets(**SPAN, while_paused=True, dry_run=True, **selection)
    if not listed(**selection):
        with pytest.raises(RequestSizeError, match="of 0 assets none"):
            answer(asked)
        return []
    return [step["dag_id"] for step in answer(asked)["plan"]["steps"]]


QUESTIONS: dict[type[AssetSelection], Callable[..., list[str]]] = {
    ListAssets: listed,
    ShowBoard: on_the_board,
    ListFailures: failed,
    ListChanges: changed,
    FillAssets: filled,
}


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Metadata:
    """Assets that were made, of each of which a day has failed since."""
    metadata.parse(tmp_path, estate=SOURCE)
    for name in NAMES:
        metadata.emit(name, *DAYS, at=datetime(2013, 1, 6, tzinfo=UTC))
        began = datetime(2013, 2, 1, tzinfo=UTC)
        put_runs(metadata, name, DAYS[1:2], "failed", began, end_date=began)
    return metadata


def test_all_questions_about_some_assets_are_asked_here() -> None:
    assert {one for one in OPERATIONS if issubclass(one, AssetSelection)} == set(QUESTIONS)


def test_each_question_narrows_the_assets_in_the_same_way(estate: Metadata) -> None:
    selections: list[tuple[dict[str, Any], list[str]]] = [
        ({}, NAMES),
        ({"asset": ["weather", "delays", "delays"]}, ["delays", "weather"]),
        ({"asset": []}, []),
        ({"search": "FLIGHTS"}, ["flights", "raw_flights"]),
        ({"tag": "nightly"}, ["delays", "raw_flights"]),
        ({"owner": "ann"}, ["delays", "flights"]),
        ({"group": "lake"}, ["raw_flights"]),
        ({"dag": "flights"}, ["delays", "flights", "raw_flights"]),
        ({"dag": "delays"}, ["delays", "flights"]),
        ({"tag": "nightly", "owner": "ann"}, ["delays"]),
        ({"asset": ["flights", "weather"], "dag": "delays"}, ["flights"]),
        ({"tag": "none"}, []),
    ]
    for ask in QUESTIONS.values():
        assert [(selection, sorted(ask(**selection))) for selection, _ in selections] == selections


def test_an_asset_that_there_is_not_is_refused(estate: Metadata) -> None:
    for ask in QUESTIONS.values():
        with pytest.raises(UnknownAssetError, match="weather"):
            ask(asset=["wether"])


def test_pages_of_some_assets_follow_each_other(estate: Metadata) -> None:
    page = answer(ListAssets(owner="ann", limit=1))
    rest = answer(ListAssets(owner="ann", limit=1, cursor=page["cursor"]))
    assert [each["name"] for one in (page, rest) for each in one["assets"]] == ["delays", "flights"]
    assert rest["cursor"] is None
