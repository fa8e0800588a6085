"""The page for notebooks: its snippets run as they are printed, and give the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.storage import Column, Parquet
from tests.docs.pages import Block, blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SNIPPETS = [block for block in blocks("python") if block.page == "notebook.md"]
DELAYS = PartitionByProduct(
    [
        PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date"),
        PartitionBySequence(["EWR", "JFK", "LGA"], name="airport"),
    ]
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The dataset of the page, of which one partition was replaced."""
    files = Parquet(
        f"{tmp_path}/delays",
        partition=DELAYS,
        partition_on={"date": Column("%Y-%m-%d", "date"), "airport": "{airport}"},
    )
    frame = pd.DataFrame({"carrier": ["UA", "UA", "B6"], "delay": [20.0, 30.0, 5.0]})
    keys = [f"2013-02-0{day}|{airport}" for day in (7, 8, 9) for airport in ("EWR", "JFK")]
    files.save(dict.fromkeys(keys, frame))
    files.save({"2013-02-08|EWR": frame}, mode="overwrite")
    return tmp_path


@pytest.fixture
def namespace(spark: SparkSession) -> dict[str, Any]:
    return {"spark": spark}


@pytest.mark.spark
def test_snippets_run_as_printed_and_read_each_row_once(root: Path, namespace: dict[str, Any]) -> None:
    rows: list[Any] = []

    def run(block: Block) -> None:
        exec(compile(block.text.replace("/lake", str(root)), str(block), "exec"), namespace)

    pandas, polars, duckdb, arrow, spark, package, paths = SNIPPETS
    run(pandas)
    rows.append(len(namespace["frame"]))
    run(polars)
    rows.append(namespace["frame"].height)
    run(duckdb)
    rows.append(namespace["rows"])
    run(arrow)
    rows.append(namespace["table"].num_rows)
    run(spark)
    rows.append(namespace["frame"].count())
    run(package)
    rows.append(len(namespace["frame"]))
    run(paths)
    rows += [namespace["frame"].height, namespace["rows"]]
    assert rows == [6, 4, [("B6", 5.0), ("UA", 25.0)], 9, 6, 9, 9, (9,)]
