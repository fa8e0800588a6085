"""Avro, which Spark knows by a package of its own only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import fastavro
import pandas as pd
import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Avro, field

pytestmark = pytest.mark.spark

LETTERS = PartitionBySequence(["a", "b"], name="letter")
UNPACKED = """
import sys
sys.modules["cramjam"] = None
from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import ReaderError
from airflow_partitions.storage import Avro

try:
    Avro(sys.argv[1], partition=PartitionBySequence(["a"], name="letter"), ownership="read-only").read(as_="arrow")
except ReaderError as error:
    print(error)
"""
WITHOUT = """
import sys
from pyspark.sql import SparkSession
from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import ReaderError
from airflow_partitions.storage import Avro

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
letters = PartitionBySequence(["a", "b"], name="letter")
tries = [
    lambda: Avro(sys.argv[1], partition=letters, schema={"n": "bigint"}).read(spark=spark),
    lambda: Avro(sys.argv[1], partition=letters).read(spark=spark),
    lambda: Avro(sys.argv[1], partition=letters).save({"b": spark.range(1).withColumnRenamed("id", "n")}),
]
for call in tries:
    try:
        call()
    except ReaderError as error:
        print(error)
spark.stop()
"""


@pytest.mark.parametrize("declared", [{"n": "bigint", "s": "string"}, None], ids=["declared", "found"])
def test_spark_and_others_read_what_the_other_wrote(root: str, spark: Any, declared: Any) -> None:
    files = Avro(root, partition=LETTERS, schema=declared)
    files.save(
        {
            "a": pd.DataFrame({"n": [1, 2], "s": ["x", None]}),
            "b": lambda: spark.createDataFrame([(3, "y")], "n bigint, s string"),
        }
    )
    assert [partition.rows for partition in files.list()] == [2, 1]
    by_spark = files.read(field("letter").isin(["a", "b"]), spark=spark)
    assert sorted(map(tuple, by_spark.collect())) == [(1, "x", "a"), (2, None, "a"), (3, "y", "b")]
    assert files.read(as_="polars").rows() == [(1, "x", "a"), (2, None, "a"), (3, "y", "b")]


def test_files_whose_codec_needs_another_package(tmp_path: Path) -> None:
    folder = tmp_path / "lake" / "letter=a"
    folder.mkdir(parents=True)
    schema: Any = {"type": "record", "name": "row", "fields": [{"name": "n", "type": "long"}]}
    with (folder / "0.avro").open("wb") as file:
        fastavro.writer(file, schema, [{"n": 1}], codec="snappy")
    process = subprocess.run(
        [sys.executable, "-c", UNPACKED, f"{tmp_path}/lake"], capture_output=True, text=True, check=True
    )
    assert "expected that, or as_='spark'" in process.stdout, process.stdout


def test_spark_without_its_package(tmp_path: Path) -> None:
    Avro(f"{tmp_path}/lake", partition=LETTERS).save({"a": pd.DataFrame({"n": [1]})})
    command = [sys.executable, "-c", WITHOUT, f"{tmp_path}/lake"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    messages = [line for line in process.stdout.splitlines() if "knows no format 'avro'" in line]
    assert len(messages) == 3, process.stdout
    assert all(
        "expected its package: spark.jars.packages=org.apache.spark:spark-avro_2.13:4." in line for line in messages
    )
