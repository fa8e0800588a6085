"""Pytest helpers, loaded by pytest's plug-in entry point.

.. code-block:: python

    def test_delays(partition_trial, partition_spark):
        flights = partition_spark.createDataFrame([("JFK", 12.0)], "origin string, dep_delay double")
        trial = partition_trial(daily_delays, "2013-02-08", inputs={"flights": flights})
        assert trial.value.count() == 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.authoring.local import Trial


#: py4j, between Python and Spark's JVM, leaves sockets to the garbage collector. Where warnings are errors, they would
#: fail tests that have nothing to do with them.
_PY4J = pytest.mark.filterwarnings(r"ignore:unclosed <socket\.socket .*laddr=\('127\.0\.0\.1':ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let no test with a fixture of ours fail by what py4j leaves open."""
    for item in items:
        if {"partition_trial", "partition_spark"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(_PY4J)


@pytest.fixture
def partition_trial() -> Callable[..., Trial]:
    """Calls :func:`airflow_partitions.authoring.local.try_partition` with the same arguments.

    Spark's session is kept for all tests of the process.
    """

    def trial(asset: Any, key: Any, **options: Any) -> Trial:
        from airflow_partitions.authoring.local import try_partition

        return try_partition(asset, key, **options)

    return trial


@pytest.fixture(scope="session")
def partition_spark() -> SparkSession:
    """The Spark session that :func:`partition_trial` uses."""
    from airflow_partitions.authoring.local.session import local_session

    return local_session()
