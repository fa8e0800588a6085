"""What is loaded when a Dag file only describes its datasets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import airflow_partitions
from airflow_partitions import storage

HEAVY = {"airflow", "fsspec", "numpy", "pandas", "pyarrow", "pyspark", "upath"}


def loaded(statement: str) -> set[str]:
    """Names of the modules that a new process has loaded after *statement*."""
    program = f"{statement}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=Path(airflow_partitions.__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return set(json.loads(process.stdout))


def own_modules(modules: set[str]) -> set[str]:
    return {name.removeprefix("airflow_partitions").lstrip(".") for name in modules if name.startswith("airflow_parti")}


def test_the_package_alone_loads_nothing() -> None:
    modules = loaded("import airflow_partitions.storage")
    assert own_modules(modules) == {"", "exports", "storage"}
    assert not HEAVY & modules


def test_a_description_loads_no_store_and_no_reader() -> None:
    modules = loaded(
        "from airflow_partitions import PartitionByInterval\n"
        "from airflow_partitions.storage import Column, Parquet, field\n"
        "days = PartitionByInterval('@daily', start='2013-01-01', name='date')\n"
        "delays = Parquet('/lake/delays', partition=days, partition_on={'date': Column('%Y-%m-%d', 'date')})\n"
        "Parquet.from_json(delays.to_json()) == delays and field('date') > '2013-01-01'\n"
    )
    assert not HEAVY & modules
    folders = {name.split(".")[1] for name in own_modules(modules) if name.startswith("storage.")}
    descriptions = {"column_type", "dataset", "file_dataset", "layout", "ownership", "storage", "files", "formats"}
    assert folders == descriptions | {"filesystem", "filters"}


@pytest.mark.parametrize("name", storage.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(storage, name).__name__ == name
    assert name in dir(storage)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Parquets'"):
        storage.Parquets  # noqa: B018
