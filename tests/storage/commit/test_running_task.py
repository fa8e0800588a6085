"""What is saved in a task of Airflow."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from airflow.sdk import Asset
from airflow.sdk.execution_time.context import set_current_context

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.core.errors import ConflictError, StoredError
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.metadata.counts import count, size

DAYS = PartitionByInterval("@daily", name="date")
RAW = Asset("raw")


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "raw"), partition=DAYS)


@pytest.fixture
def run() -> Iterator[Any]:
    """Enter a task of a run of 2013-02-08, as Airflow does, and give its context."""
    entered = ExitStack()

    def enter(run_id: str = "run", number: int = 1, outlets: tuple[Asset, ...] = (RAW,)) -> dict[str, Any]:
        instance = SimpleNamespace(dag_id="dag", run_id=run_id, task_id="task", map_index=-1, try_number=number)
        context: dict[str, Any] = {
            "ti": instance,
            "task": SimpleNamespace(outlets=list(outlets)),
            "partition": Partition(DAYS, "2013-02-08"),
            "outlet_events": defaultdict(lambda: SimpleNamespace(extra={"mine": 1})),
        }
        entered.close()
        entered.enter_context(set_current_context(context))
        return context

    with entered:
        yield enter


def rows(count: int) -> pd.DataFrame:
    return pd.DataFrame({"a": range(count)})


def test_eu_10_a_cleared_task_saves_its_partition_again(files: Parquet, run: Any) -> None:
    partition = run()["partition"]
    files.save({partition: rows(2)})
    run(number=2)
    (metadata,) = files.save({partition: rows(3)}).values()
    assert (metadata.rows, metadata.attempt.run_id, metadata.attempt.number) == (3, "run/task", 2)
    assert len(files.read(partition, as_="pandas")) == 3
    run(number=1)
    with pytest.raises(ConflictError, match="try 2 of run"):
        files.save({partition: rows(1)})


def test_eu_10_a_later_run_of_the_partition_replaces_it(files: Parquet, run: Any) -> None:
    files.save({run("first")["partition"]: rows(2)})
    files.save({run("second")["partition"]: rows(3)})
    assert len(files.read(as_="pandas")) == 3


def test_eu_10_another_partition_is_created_once(files: Parquet, run: Any) -> None:
    run("first")
    files.save({"2013-02-09": rows(2)})
    run("first", 2)
    files.save({"2013-02-09": rows(3)})
    run("second")
    with pytest.raises(StoredError, match="stored already by try 2 of run 'first/task'"):
        files.save({"2013-02-09": rows(3)})
    with pytest.raises(StoredError):
        files.save({"2013-02-09": rows(3)}, mode="create")


def test_eu_10_what_is_appended_by_a_later_try_stands_beside_the_rest(files: Parquet, run: Any) -> None:
    partition = run()["partition"]
    files.save({partition: rows(2)}, mode="append")
    run(number=2)
    files.save({partition: rows(1)}, mode="append")
    assert len(files.read(as_="pandas")) == 3


def test_eu13_the_event_and_the_log_tell_the_counts(files: Parquet, run: Any, caplog: pytest.LogCaptureFixture) -> None:
    context = run()
    with caplog.at_level(logging.INFO, "airflow_partitions"):
        (metadata,) = files.save({context["partition"]: rows(2)}).values()
    assert context["outlet_events"][RAW].extra == {"mine": 1, "rows": 2, "files": 1, "bytes": metadata.bytes}
    assert "Published 2013-02-08: 2 rows, 1 file, " in caplog.text
    context = run(outlets=(RAW, Asset("other")))
    files.save({context["partition"]: rows(2)}, mode="overwrite")
    files.save({"2013-02-10": rows(2)})
    assert context["outlet_events"] == {}


def test_outside_of_a_task_nothing_is_known(files: Parquet) -> None:
    files.save({"2013-02-08": rows(2)})
    with pytest.raises(StoredError):
        files.save({"2013-02-08": rows(2)})


def test_counts_in_words() -> None:
    assert [count(n, "row") for n in (None, 0, 1, 1200)] == ["uncounted rows", "0 rows", "1 row", "1,200 rows"]
    sizes = [size(n) for n in (0, 999, 1500, 999_960, 2_000_000_000, 5 * 10**12)]
    assert sizes == ["0 B", "999 B", "1.5 kB", "1.0 MB", "2.0 GB", "5.0 TB"]
