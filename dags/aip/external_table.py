"""A partition of a table that somebody else keeps is a filter on its time column.

The table is one of Iceberg, in the catalog of the connection ``shop``. A day is read from midnight to midnight,
half-open: no second is lost between two days, and no row is in both. Files that hold no row of the day are not opened.

An engine that is asked in text, as pyiceberg's own ``row_filter`` is, wants the bounds in ISO 8601, with a ``T``:
``ts >= '{{ partition.start | ts }}' AND ts < '{{ partition.end | ts }}'``, in Python ``partition.start.isoformat()``.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from airflow_partitions import PartitionByInterval, asset
from airflow_partitions.storage import Iceberg

DAYS = PartitionByInterval("@daily")
SALES = Iceberg("shop.sales", catalog="shop", partition=DAYS, partition_on={"time": "ts"}, ownership="read-only")


@asset(
    schedule="@daily",
    partition=DAYS,
    inputs={"sales": SALES},
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def daily_sales_data(partition, sales: pa.Table):
    """Sales of one day."""
    print(f"{sales.num_rows} rows of {partition}")
