"""A partition of a table that somebody else keeps is a filter on its time column.

The bounds are aware and half-open: no second is lost between two days, and no row is in both. Any engine takes them.
One that is asked in text, as pyiceberg's ``row_filter`` is, wants them in ISO 8601, with a ``T``:
``ts >= '{{ partition.start | ts }}' AND ts < '{{ partition.end | ts }}'``, in Python ``partition.start.isoformat()``.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@daily"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def daily_sales_data(partition):
    """Sales of one day."""
    from datetime import timedelta

    import pyarrow as pa
    import pyarrow.compute as pc

    sales = pa.table({"ts": [partition.start + timedelta(hours=hour) for hour in range(-12, 36)]})
    rows = sales.filter((pc.field("ts") >= partition.start) & (pc.field("ts") < partition.end))
    print(f"{rows.num_rows} of {sales.num_rows} rows")
