"""Dag files as the Dag processor reads them, and storage for batches."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions.storage import Iceberg, Parquet

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

DagBags = Callable[[str], "DagBag"]

HEADER = """
import datetime as dt
from airflow.sdk import DAG, Asset, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow_partitions import *
from airflow_partitions import (
    PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence, Partitioned, asset, spark_asset,
)
from airflow_partitions.storage import Parquet
DAYS = PartitionByInterval("@daily", start="2013-01-01")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
HELPER = 7
"""


@pytest.fixture
def dag_bag(tmp_path: Path) -> DagBags:
    """Reads a Dag file with this *source*."""

    def parse(source: str) -> DagBag:
        from airflow.dag_processing.dagbag import DagBag

        (tmp_path / "case.py").write_text(HEADER + textwrap.dedent(source))
        return DagBag(str(tmp_path))

    return parse


@pytest.fixture(params=["files", "iceberg"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "files":
        return Parquet(str(tmp_path / "made"), partition_on={"date": "%Y-%m-%d"})
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
    schema = {"date": "date", "n": "bigint"}
    return Iceberg("lake.made", credentials=catalog, schema=schema, partition_on={"date": "date"}, create=True)


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "made"), partition_on={"date": "%Y-%m-%d"})
