"""Inputs that stay the same for all tasks of a Dag run; the real Airflow part is in tests/scheduler/test_spark.py."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.core.errors import InvalidDefinitionError, MissingInputError, StorageError
from airflow_partitions.engine.runs.freezing import Freezing, check_freeze
from airflow_partitions.frames.input import Input
from airflow_partitions.storage import Iceberg, Parquet, maintain_table
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.stores.pinned_store import PINS

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="day")
WEEK = PartitionByInterval("0 0 * * 1", start="2012-12-31", name="week")


@pytest.fixture
def numbers(tmp_path: Path) -> Parquet:
    files = Parquet(str(tmp_path / "numbers"), partition=DAYS, schema={"n": "bigint"})
    for day in range(7, 14):
        write(files, f"2013-01-{day:02}", 1)
    return files


def write(files: Parquet, day: str, *numbers: int, mode: str = "overwrite") -> None:
    with Commit(files) as commit:
        pq.write_table(pa.table({"n": list(numbers)}), commit.stage(day) / "part-0.parquet")
        commit.put(day, mode=mode, rows=len(numbers))


def read(files: Parquet, day: str | None = None) -> list[int]:
    numbers: list[int] = files.read(day, as_="arrow")["n"].to_pylist()
    return numbers


class Run:
    """A Dag run, as its tasks see it."""

    def __init__(self) -> None:
        self.states: dict[str, str | None] = {"first": None, "second": None}
        self.xcoms: dict[str, str] = {}
        self.started = 1

    def task(self, name: str) -> tuple[Any, Freezing]:
        """The context of a task that begins, and how it takes part."""
        instance = SimpleNamespace(
            xcom_pull=lambda task_ids, key: self.xcoms.get(task_ids),
            xcom_push=lambda key, value: self.xcoms.update({name: value}),
            get_task_states=lambda dag_id, task_ids, run_ids: {"run": {each: self.states[each] for each in task_ids}},
        )
        dag_run = SimpleNamespace(dag_id="dag", run_id="run", start_date=f"start {self.started}")
        context: Any = {"ti": instance, "dag_run": dag_run}
        self.states[name] = "running"
        return context, Freezing.of(context, [each for each in self.states if each != name], None)

    def clear(self, *names: str) -> None:
        """Clear tasks of a run that is over."""
        self.started += 1
        self.states |= dict.fromkeys(names)


def needed(numbers: Parquet, key: str = "2013-01-07") -> dict[str, Input]:
    return {"numbers": Input.needed_by(Partition(WEEK, f"{key}T00:00Z" if "T" in key else key), "numbers", numbers)}


def total_of(inputs: dict[str, Input]) -> int:
    return sum(read(inputs["numbers"].storage))


def test_tasks_of_a_run_see_what_the_first_one_saw(numbers: Parquet) -> None:
    run = Run()
    context, first = run.task("first")
    assert total_of(first.freeze(needed(numbers))) == 7
    write(numbers, "2013-01-08", 10)
    write(numbers, "2013-01-08", 20)
    write(numbers, "2013-01-09", 5, mode="append")
    first.release(context, first.freeze(needed(numbers)))  # the other one is not done
    run.states["first"] = "success"
    context, second = run.task("second")
    inputs = second.freeze(needed(numbers))
    assert total_of(inputs) == 7
    assert sum(read(numbers)) == 31
    second.release(context, inputs)
    assert not list(Path(str(bookkeeping(Path(numbers.path))), PINS).iterdir())
    with pytest.raises(StorageError, match="was released"):
        total_of(inputs)


def test_what_is_tried_again_or_cleared_in_part_sees_the_same(numbers: Parquet) -> None:
    run = Run()
    _, first = run.task("first")
    assert total_of(first.freeze(needed(numbers))) == 7
    write(numbers, "2013-01-08", 10)
    _, again = run.task("first")
    assert total_of(again.freeze(needed(numbers))) == 7
    run.states |= {"first": "success", "second": "failed"}
    run.clear("second")
    _, second = run.task("second")
    assert total_of(second.freeze(needed(numbers))) == 7
    run.states["second"] = "success"
    run.clear("first")
    _, first = run.task("first")
    assert total_of(first.freeze(needed(numbers))) == 7


def test_a_run_that_is_cleared_as_a_whole_lists_anew(numbers: Parquet) -> None:
    run = Run()
    _, first = run.task("first")
    first.freeze(needed(numbers))
    write(numbers, "2013-01-08", 10)
    run.states |= {"first": "success", "second": "failed"}
    run.clear("first", "second")
    _, second = run.task("second")
    _, first = run.task("first")
    assert total_of(second.freeze(needed(numbers))) == total_of(first.freeze(needed(numbers))) == 16


def test_what_is_not_there_yet_may_come(numbers: Parquet) -> None:
    run = Run()
    (Path(numbers.path) / "day=2013-01-13").rename(Path(numbers.path) / "_away")
    _, first = run.task("first")
    with pytest.raises(MissingInputError, match="2013-01-13"):
        first.freeze(needed(numbers))
    (Path(numbers.path) / "_away").rename(Path(numbers.path) / "day=2013-01-13")
    _, again = run.task("first")
    assert total_of(again.freeze(needed(numbers))) == 7


def test_what_is_no_longer_kept_is_told(numbers: Parquet) -> None:
    frozen = numbers.freeze("run")
    write(numbers, "2013-01-08", 10)
    assert read(frozen, "2013-01-08") == [1]
    clean(numbers, now=datetime.now(UTC) + timedelta(days=2))
    assert read(frozen, "2013-01-09") == [1]
    with pytest.raises(StorageError, match=r"1 partitions have changed since .* such as 'day=2013-01-08'"):
        read(frozen, "2013-01-08")
    with pytest.raises(StorageError, match="have changed since"):
        read(frozen)


def test_data_of_others_that_was_overwritten_is_told(numbers: Parquet) -> None:
    frozen = attrs.evolve(numbers, ownership="read-only").freeze("run", folder=f"{numbers.path}-listings")
    file = next(Path(numbers.path, "day=2013-01-08").glob("*.parquet"))
    pq.write_table(pa.table({"n": [1, 2, 3]}), file)
    with pytest.raises(StorageError, match="have changed since"):
        read(frozen, "2013-01-08")


def test_a_log_keeps_the_old_files_where_they_are(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "numbers"), partition=DAYS, log=str(tmp_path / "log"))
    write(files, "2013-01-08", 1)
    frozen = files.freeze("run")
    write(files, "2013-01-08", 10)
    assert (read(frozen, "2013-01-08"), read(files)) == ([1], [10])


def test_old_listings_are_removed(numbers: Parquet) -> None:
    import os

    first = numbers.freeze("first")
    assert first.pin is not None
    old = (datetime.now(UTC) - timedelta(days=8)).timestamp()
    os.utime(first.pin, (old, old))
    second = numbers.freeze("second")
    assert [str(path) for path in Path(str(bookkeeping(Path(numbers.path))), PINS).iterdir()] == [second.pin]
    assert clean(numbers, now=datetime.now(UTC) + timedelta(days=8))
    assert not list(Path(str(bookkeeping(Path(numbers.path))), PINS).iterdir())


def test_listings_beside_the_data_of_others_are_refused(numbers: Parquet) -> None:
    foreign = attrs.evolve(numbers, ownership="read-only")
    with pytest.raises(
        InvalidDefinitionError, match="input 'numbers' has ownership='read-only', nothing is written there"
    ):
        check_freeze(True, {"numbers": foreign}, "delays")
    check_freeze("/lake/listings", {"numbers": foreign}, "delays")
    check_freeze(False, {"numbers": foreign}, "delays")
    check_freeze(True, {"numbers": numbers}, "delays")


def test_a_table_that_is_read_as_a_whole_stays_the_same_for_all_tasks(tmp_path: Path) -> None:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "warehouse")}
    stored = Iceberg("db.rates", credentials=properties, schema={"day": "date", "n": "bigint"}, create=True).of(DAYS)
    stored.save({"2013-01-07": pa.table({"n": [1]})})
    rates = Iceberg("db.rates", credentials=properties)
    inputs = {"rates": Input.needed_by(Partition(WEEK, "2013-01-07"), "rates", rates)}
    run = Run()
    context, first = run.task("first")
    frozen = first.freeze(inputs)
    assert frozen["rates"].storage.read(as_="arrow")["n"].to_pylist() == [1]
    stored.save({"2013-01-07": pa.table({"n": [10]})}, mode="overwrite")
    maintain_table(stored, now=datetime.now(UTC) + timedelta(days=9))
    first.release(context, frozen)  # the other one is not done
    run.states["first"] = "success"
    context, second = run.task("second")
    frozen = second.freeze(inputs)
    assert frozen["rates"].handed_over(tmp_path / "job") == frozen["rates"]
    assert frozen["rates"].storage.read(as_="arrow")["n"].to_pylist() == [1]
    second.release(context, frozen)
    with pytest.raises(StorageError, match="was released"):
        frozen["rates"].storage.read(as_="arrow")
    foreign = Iceberg("db.rates", credentials=properties, ownership="read-only")
    with pytest.raises(InvalidDefinitionError, match="input 'rates' has ownership='read-only'"):
        check_freeze(True, {"rates": foreign}, "delays")
