"""What a task knows of combinations that are added at runtime: from the list, over the execution API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG, Asset

from airflow_partitions import (
    Dependency,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
    Selection,
)
from airflow_partitions.core.definitions.runtime import LISTED
from airflow_partitions.core.errors import InvalidKeyError, MissingInputError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.addresses import keys_of
from airflow_partitions.engine.runs.pre_execute import partition_of
from airflow_partitions.engine.runs.runtime_key import listing
from airflow_partitions.frames.input import Input
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys, remove_runtime_keys
from airflow_partitions.storage import Parquet
from tests.metadata import Metadata
from tests.supervisor import Supervisor, supervisor

__all__ = ["supervisor"]

pytestmark = pytest.mark.airflow

TENANTS = PartitionBySequence(["acme", "beta"], name="tenant")
REGIONS = PartitionBySequence(["eu", "us"], name="region")
PAIRS = PartitionAtRuntime("pairs", of=PartitionByProduct([TENANTS, REGIONS]))
DAYS = PartitionByInterval("@daily", name="day")
ORDERS = PartitionByProduct([TENANTS, REGIONS, DAYS], only=PAIRS)
SOURCE = """
TENANTS = PartitionBySequence(["acme", "beta"], name="tenant")
REGIONS = PartitionBySequence(["eu", "us"], name="region")
PAIRS = PartitionAtRuntime("pairs", of=PartitionByProduct([TENANTS, REGIONS]))

@asset(schedule=None, partition=PAIRS)
def accounts(): ...
"""


@pytest.fixture
def accounts(metadata: Metadata, supervisor: Supervisor, tmp_path: Path) -> Iterator[Any]:
    """The asset to whose list pairs are added, in a process that runs a task."""
    metadata.parse(tmp_path, accounts=SOURCE)
    token = LISTED.set(listing())
    yield partitioned_asset("accounts")
    LISTED.reset(token)


def context(day: str) -> dict[str, Any]:
    """That of a run which waits for orders."""
    upstream = Asset("orders")
    dag = DAG("daily", schedule=Partitioned(upstream, DAYS, upstreams={"orders": ORDERS}))
    now = datetime.now(UTC)
    run = SimpleNamespace(partition_key=day, run_id="run1", run_after=now, start_date=now)
    return {"dag": dag, "dag_run": run}


def test_a_task_reads_the_list_once_and_only_if_it_has_to(accounts: Any, supervisor: Supervisor) -> None:
    add_runtime_keys(accounts, ["acme|eu", "beta|us"], by="eve")
    partition = partition_of(context("2013-01-02"))
    assert supervisor.messages == []
    needed = partition.upstream("orders")
    assert [str(key) for key in needed] == ["acme|eu|2013-01-02", "beta|us|2013-01-02"]
    assert needed.definition == ORDERS
    asked = len(supervisor.messages)
    assert asked
    assert len(Dependency(DAYS, ORDERS).upstream("2013-01-03")) == 2
    assert "beta|eu|2013-01-02" not in Selection.between(ORDERS, partition.start, partition.end)  # type: ignore[arg-type]
    assert len(supervisor.messages) == asked


def test_another_task_knows_what_was_changed_since(accounts: Any) -> None:
    add_runtime_keys(accounts, ["acme|eu"], by="eve")
    partition = partition_of(context("2013-01-02"))
    assert len(partition.upstream("orders")) == 1
    add_runtime_keys(accounts, ["acme|us"], by="eve")
    remove_runtime_keys(accounts, ["acme|eu"])
    assert [str(key) for key in partition.upstream("orders")] == ["acme|eu|2013-01-02"]
    LISTED.set(listing())
    assert [str(key) for key in partition.upstream("orders")] == ["acme|us|2013-01-02"]
    assert [str(key) for key in keys_of(ORDERS.known, "acme|us|2013-01-02")] == ["acme|us|2013-01-02"]
    with pytest.raises(InvalidKeyError, match=r"no tenant 'acme' with region 'eu'.*nearest: acme\|us\|2013-01-02"):
        keys_of(ORDERS.known, "acme|eu|2013-01-02")


def test_an_input_is_what_is_on_the_list(accounts: Any, tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"price": [1.5]})
    storage = Parquet(str(tmp_path / "orders"), partition=ORDERS)
    storage.save({"acme|eu|2013-01-02": frame, "beta|us|2013-01-02": frame})
    add_runtime_keys(accounts, ["beta|us"], by="eve")
    orders = Input.needed_by(partition_of(context("2013-01-02")), "orders", storage)
    (folder,) = orders.stored()
    assert folder.endswith("tenant=beta/region=us/day=2013-01-02")
    assert orders.selection is not None
    assert list(storage.read(orders.selection, "pandas")["tenant"]) == ["beta"]
    add_runtime_keys(accounts, ["acme|us"], by="eve")
    LISTED.set(listing())
    orders = Input.needed_by(partition_of(context("2013-01-02")), "orders", storage)
    with pytest.raises(MissingInputError, match=r"acme\|us"):
        orders.stored()
