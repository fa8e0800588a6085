from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, LayoutError, StorageError
from airflow_partitions.storage import Column, Csv, FilePerKey, Files, Parquet
from airflow_partitions.storage.filesystem.paths import local

DAILY = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
PRODUCT = PartitionByProduct([DAILY, PartitionBySequence(["EWR", "JFK"], name="airport")])


def test_path_and_existence(tmp_path: Path) -> None:
    storage = Parquet(f"{tmp_path}/", partition=PRODUCT)
    key = PRODUCT.parse("2013-02-08|JFK")
    assert storage.path_of(key) == f"{tmp_path}/date=2013-02-08/airport=JFK"
    assert not storage.exists(key)
    Path(storage.path_of(key)).mkdir(parents=True)
    assert storage.exists(key)


@pytest.mark.parametrize(
    "storage",
    [
        Parquet("/lake/a"),
        Parquet("/lake/a", partition=PRODUCT, ownership="read-only"),
        Parquet(
            "file:///lake/a",
            partition=PRODUCT,
            partition_on={"airport": "{airport}", "d": Column("%Y-%m-%d", "date")},
            schema={"z": "string", "a": "array<double>"},
        ),
    ],
)
def test_json_round_trip(storage: Parquet) -> None:
    restored = Parquet.from_json(json.loads(json.dumps(storage.to_json(), sort_keys=True)))
    assert restored == storage
    assert hash(restored) == hash(storage)
    assert restored.partition_on == storage.partition_on


def test_copies_as_airflow_copies_operators() -> None:
    storage = Parquet("/lake/a", partition=PRODUCT, schema={"x": "int"})
    assert storage.layout
    assert copy.deepcopy(storage) == storage
    assert pickle.loads(pickle.dumps(Parquet("/lake/a"))) == Parquet("/lake/a")


def test_unbound_storage_has_no_paths() -> None:
    storage = Parquet("/lake/a", partition_on={"date": "%Y-%m-%d"})
    with pytest.raises(InvalidDefinitionError, match="has no partitions"):
        storage.path_of(DAILY.parse("2013-01-01"))
    assert storage.of(DAILY).path_of(DAILY.parse("2013-01-01")) == "/lake/a/date=2013-01-01"


def test_binding_checks_the_layout() -> None:
    with pytest.raises(LayoutError, match="'EWR' and 'JFK'"):
        Parquet("/lake/a", partition_on={"date": "%Y-%m-%d"}).of(PRODUCT)


def test_storage_is_bound_once() -> None:
    with pytest.raises(InvalidDefinitionError, match="can't be that of"):
        Parquet("/lake/a", partition=DAILY).of(PRODUCT)


def test_a_column_is_either_in_the_files_or_in_the_path() -> None:
    with pytest.raises(LayoutError, match=r"\['date'\] are partition columns and columns of the files"):
        Parquet("/lake/a", partition=DAILY, schema={"Date": "date"})


def test_relative_paths_are_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="'lake/a' is relative"):
        Parquet("lake/a")


def test_unknown_file_systems_are_refused_when_used() -> None:
    storage = Parquet("nowhere://bucket/lake", partition=DAILY)
    with pytest.raises(StorageError, match="can't be used: Unsupported filesystem"):
        storage.exists(DAILY.parse("2013-01-01"))


def test_file_uris_are_local() -> None:
    assert local("file:///lake/a") == Path("/lake/a")


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="'delta' is not known"):
        Parquet.from_json({"kind": "delta", "path": "/x"})


def test_forms_of_another_version_are_refused() -> None:
    form = Parquet("/x", ownership="read-only").to_json()
    assert Parquet.from_json(form) == Parquet("/x", ownership="read-only")
    with pytest.raises(InvalidDefinitionError, match="has a form of version 2; expected version 1"):
        Parquet.from_json({**form, "version": 2})


def test_eu8_files_take_the_partition_that_a_task_is_given(tmp_path: Path) -> None:
    import pandas as pd

    days = PartitionByInterval("@daily", name="date")
    files = Parquet(str(tmp_path / "raw"), partition=days)
    partition = Partition(days, "2013-02-08")
    files.save({partition: pd.DataFrame({"a": [1, 2]})})
    assert files.exists(partition)
    assert [each.key for each in files.list([partition])] == [partition.wrapped]
    assert files.read(partition, as_="pandas")["a"].tolist() == [1, 2]
    assert files.path_of(partition) == f"{files.path}/date=2013-02-08"


def test_json_form_of_datasets(tmp_path: Path) -> None:
    datasets = [
        Csv("/x", partition=DAILY, options={"sep": ";"}, credentials={"key": "secret"}),
        Files("s3://x/y", format="xml", partition=DAILY),
        Files("/x", format="csv", partition_on=FilePerKey(".csv", find={"maxdepth": 1})),
    ]
    for files in datasets:
        form = files.to_json()
        assert "secret" not in str(form)
        assert "secret" not in repr(files)
        assert Files.from_json(form) == files


def test_options_that_are_not_ours_to_give() -> None:
    with pytest.warns(UserWarning, match="option 'path' is ignored"):
        files = Csv("/x", options={"path": "/y", "sep": ";"})
    assert dict(files.options) == {"sep": ";"}
    with pytest.raises(InvalidDefinitionError, match="versioned"):
        Csv("/x", options={"versioned": True})
    with pytest.raises(InvalidDefinitionError, match="ownership='yes'; expected one of: 'owned'"):
        Csv("/x", ownership="yes")
