"""Kedro's IncrementalDataset: only what is past a checkpoint that is confirmed. Rows K7 to K9 of the list."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import CheckpointError, ConfirmedError, InvalidDefinitionError
from airflow_partitions.storage import Csv
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.consumers.consumer import Consumer
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, names, sizes

DAYS = PartitionByInterval("@daily", start="2019-01-01", name="date")
GREATER = {"comparison_func": "operator.gt"}


@pytest.fixture
def files(root: str) -> Csv:
    dataset = Csv(root, partition=DAYS, schema={"data": "int"}, options={"header": "true"})
    add(dataset, "2019-12-31", "2020-01-01", "2020-01-02")
    return dataset


def add(files: Csv, *keys: str) -> None:
    with Commit(files) as commit:
        for number, key in enumerate(keys):
            (commit.stage(key) / "data.csv").write_text(f"data\n{number}\n")
            commit.put(key)


def test_k7_only_ids_past_the_checkpoint_and_eager(files: Csv) -> None:
    batch = Consumer(files, checkpoint=GREATER).take()
    loaded = batch.load(as_="pandas")
    assert [(key, type(frame), int(frame["data"].iloc[0])) for key, frame in loaded.items()] == [
        ("2019-12-31", pd.DataFrame, 0),
        ("2020-01-01", pd.DataFrame, 1),
        ("2020-01-02", pd.DataFrame, 2),
    ]
    batch.confirm()
    add(files, "2020-01-03", "2019-06-01")
    assert Consumer(files, checkpoint=GREATER).take().keys == ["2020-01-03"]  # the other one is behind it


def test_k7_an_empty_result_is_no_error(files: Csv) -> None:
    Consumer(files, checkpoint=GREATER).take().confirm()
    batch = Consumer(files, checkpoint=GREATER).take()
    assert batch.load(as_="pandas") == {}
    batch.confirm()
    assert Consumer(files).checkpoint.watermark == "2020-01-02"


def test_k8_the_checkpoint_is_beside_the_data_and_moves_only_when_confirmed(files: Csv, root: str) -> None:
    batch = Consumer(files, checkpoint=GREATER).take()
    assert batch.load(as_="pandas")
    assert Consumer(files).checkpoint.watermark is None
    batch.put_back()
    Consumer(files, checkpoint=GREATER).take(limit=2).confirm()
    assert Consumer(files).checkpoint.watermark == "2020-01-01"
    assert names(bookkeeping(at(root)) / "consumers") == ["default"]
    assert [str(partition.key) for partition in files.list()] == ["2019-12-31", "2020-01-01", "2020-01-02"]


def test_k8_it_is_elsewhere_if_configured(files: Csv, root: str, tmp_path: Path) -> None:
    before = sizes(at(root))
    external = Csv(root, partition=DAYS, schema={"data": "int"}, options={"header": "true"}, ownership="read-only")
    with pytest.raises(InvalidDefinitionError, match="give state="):
        Consumer(external, checkpoint=GREATER)
    Consumer(external, checkpoint=GREATER, state=f"{tmp_path}/state").take().confirm()
    assert not Consumer(external, checkpoint=GREATER, state=f"{tmp_path}/state").take()
    assert sizes(at(root)) == before


def test_k8_two_confirmations_are_refused(files: Csv) -> None:
    batch = Consumer(files, checkpoint=GREATER).take()
    same = Consumer(files, checkpoint=GREATER).batch(batch.id)  # in another task of the pipeline
    same.confirm()
    with pytest.raises(ConfirmedError):
        batch.confirm()


def test_k8_a_confirmation_changes_nothing_for_the_tasks_after_it(files: Csv) -> None:
    batch = Consumer(files, checkpoint=GREATER).take()
    batch.confirm()
    add(files, "2020-02-01")
    assert Consumer(files, checkpoint=GREATER).batch(batch.id).keys == ["2019-12-31", "2020-01-01", "2020-01-02"]


def last_month(key: str, checkpoint: str) -> bool:
    return key[:7] >= checkpoint[:7]


def test_k9_a_comparison_function_by_import_path(files: Csv) -> None:
    monthly = {"comparison_func": f"{__name__}:last_month"}
    Consumer(files, checkpoint=monthly).take().confirm()
    assert Consumer(files, checkpoint=monthly).take().keys == ["2020-01-01", "2020-01-02"]
    with pytest.raises(InvalidDefinitionError, match="can't be imported"):
        Consumer(files, checkpoint={"comparison_func": "no_such_module.function"})


def test_k9_a_forced_checkpoint_in_short_and_full_form(files: Csv) -> None:
    Consumer(files).take().confirm()
    assert Consumer(files, checkpoint="2019-12-31").take().keys == ["2020-01-01", "2020-01-02"]
    full = Consumer(files, "b", checkpoint={"force_checkpoint": "2020-01-01", "comparison_func": "operator.ge"})
    assert full.take().keys == ["2020-01-01", "2020-01-02"]
    with pytest.raises(CheckpointError, match="'yesterday' is no key"):
        Consumer(files, checkpoint="yesterday").take()


def test_k9_the_empty_text_loads_all(files: Csv) -> None:
    Consumer(files).take().confirm()
    assert len(Consumer(files, checkpoint="").take()) == 3
