"""Published partitions, as any other reader finds them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from demo.landing import NEW_YORK, partition_of

if TYPE_CHECKING:
    from pandas import DataFrame

#: How the values in the files of one partition become one.
TOTALS = {
    "days": "sum",
    "hours": "sum",
    "flights": "sum",
    "cancelled": "sum",
    "delay": "sum",
    "wind_speed": "max",
    "visib": "min",
}


def folder_of(asset: str, key: str) -> str:
    """Where the partition *key* of *asset* is in the lake."""
    day, _, airport = key.partition("|")
    if "T" in day:
        return f"{asset}/{partition_of(datetime.fromisoformat(key).astimezone(NEW_YORK))}"
    return f"{asset}/date={day}" + (f"/airport={airport}" if airport else "")


def rows_of(lake: Path, asset: str, key: str) -> DataFrame:
    """The rows of a partition; without columns if it is not there."""
    import pandas as pd

    files = sorted((lake / folder_of(asset, key)).glob("[!_.]*.parquet"))
    return pd.concat([pd.read_parquet(file) for file in files]) if files else pd.DataFrame()


def totals(lake: Path, asset: str, key: str) -> dict[str, float]:
    """The number of rows of a partition, and the total of each column that has one; empty if it is not there."""
    rows = rows_of(lake, asset, key)
    return total(rows) if len(rows.columns) else {}


def total(rows: DataFrame) -> dict[str, float]:
    """The number of *rows*, and the total of each column that has one."""
    values = {name: rows[name].dropna() for name in TOTALS if name in rows}
    return {"rows": len(rows)} | {name: float(each.agg(TOTALS[name])) for name, each in values.items() if len(each)}


def stored(lake: Path, asset: str) -> int:
    """How many partitions of *asset* with one partition column there are."""
    return sum(1 for _ in (lake / asset).glob("*=*"))
