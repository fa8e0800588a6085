"""Files as others write them, and the rows of any frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.storage import Files, field

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", end="2014-01-01", name="date")
AIRPORT_DAYS = PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")])
SCHEMA = {"carrier": "string", "delay": "double"}
FRAMES = {"arrow": pa.Table, "pandas": pd.DataFrame, "polars": pl.DataFrame}
WEEK = field("date").between("2013-01-02", "2013-01-09") & (field("airport") == "JFK")
LETTERS = PartitionBySequence(["a"], name="letter")


def add(files: Files, key: str, columns: dict[str, Any]) -> Path:
    folder = Path(files.path_of(files.layout.definition.parse(key)))
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "0.parquet")
    return folder / "0.parquet"


def rows(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, pd.DataFrame):
        return pa.Table.from_pandas(frame).to_pylist()
    return frame.to_arrow().to_pylist() if isinstance(frame, pl.DataFrame) else frame.to_pylist()
