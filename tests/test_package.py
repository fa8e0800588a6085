"""The public names, and the errors."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import airflow_partitions
from airflow_partitions.core import errors
from airflow_partitions.core.errors import PartitionError


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'PartitionByMagic'"):
        airflow_partitions.PartitionByMagic  # noqa: B018
    assert "PartitionByInterval" in dir(airflow_partitions)


def test_every_error_is_also_a_built_in_one() -> None:
    classes = [error for _, error in inspect.getmembers(errors, inspect.isclass) if error is not PartitionError]
    assert classes
    for error in classes:
        assert issubclass(error, PartitionError)
        assert issubclass(error, ValueError | OSError | RuntimeError | LookupError), error


def test_an_older_python_is_told_which_one_it_needs() -> None:
    program = "import sys; sys.version_info = (3, 9, 18); import airflow_partitions"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    error = process.stderr.splitlines()[-1]
    assert "needs Python 3.10 or newer, on Spark's driver and workers too; this is" in error
    assert error.endswith("Name another one by spark.pyspark.python and spark.pyspark.driver.python")
