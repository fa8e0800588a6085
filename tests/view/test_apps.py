"""Where Airflow's UI shows the view."""

from __future__ import annotations

import pytest
from airflow import __version__ as airflow_version
from airflow import plugins_manager
from airflow.api_fastapi.core_api.datamodels.dags import DAGResponse
from airflow.api_fastapi.core_api.datamodels.plugins import ReactAppResponse

from airflow_partitions.view.apps import BUNDLES, react_apps


@pytest.mark.parametrize(
    ("airflow", "destinations"),
    [
        ("3.3.2", ["nav", "dag"]),
        ("3.3.9", ["nav", "dag"]),
        ("3.4.0.dev0", ["nav", "dag", "asset"]),
        ("3.4.0", ["nav", "dag", "asset"]),
        ("4.0.0", ["nav", "dag", "asset"]),
    ],
)
def test_view_stands_where_that_airflow_has_a_place_for_it(airflow: str, destinations: list[str]) -> None:
    assert [app["destination"] for app in react_apps("/asset-partitions", airflow)] == destinations


def test_installed_airflow_takes_each_place() -> None:
    apps = [ReactAppResponse.model_validate(app) for app in react_apps("/asset-partitions", airflow_version)]
    assert len({app.url_route for app in apps}) == len(apps)
    assert len({app.bundle_url for app in apps}) == 1  # loaded once


def test_the_tab_of_a_dag_is_where_that_has_partitions_once_airflow_asks() -> None:
    (before,), (since,) = [
        [app.get("applies_to") for app in react_apps("/asset-partitions", airflow) if app["destination"] == "dag"]
        for airflow in ("3.3.2", "3.4.0")
    ]
    assert before is None
    (field,) = since
    assert DAGResponse.model_fields[field].annotation is bool
    assert since[field] == ["true"]
    if (problem_of := getattr(plugins_manager, "_describe_applies_to_path_error", None)) is not None:  # since 3.4
        assert problem_of(field, "dag") is None
        assert problem_of("timetable_parted", "dag") is not None


def test_it_has_a_place_and_an_icon_of_its_own_in_the_menu() -> None:
    nav, *_ = react_apps("/asset-partitions", airflow_version)
    assert nav["nav_top_level"]
    for icon in (nav["icon"], nav["icon_dark_mode"]):
        assert (BUNDLES / icon.rpartition("/")[2]).is_file()
