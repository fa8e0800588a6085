"""What all tests share."""

from __future__ import annotations

import logging
import os

import pytest

# Short jobs: a third less processor time than with Java's defaults.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("spark"):
            # pyspark leaves the sockets of its results to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: _GROUPS.index(_group(item)))  # what takes longest begins first


_GROUPS = ["airflow sqlite", "airflow postgresql", "spark", ""]


def _group(item: pytest.Item) -> str:
    """What one process does: each Airflow, and all that uses Spark, take long to start."""
    if item.get_closest_marker("airflow") and hasattr(item, "callspec"):
        return f"airflow {item.callspec.params['airflow']}" if "airflow" in item.callspec.params else ""
    return "spark" if item.get_closest_marker("spark") else ""


@pytest.fixture(scope="session", autouse=True)
def quiet_gateway() -> None:
    # Its threads still log when pytest has closed the streams.
    logging.getLogger("py4j").setLevel(logging.WARNING)
