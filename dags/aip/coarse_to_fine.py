"""One partition becomes many.

The first asset is made once a year. When it is there, twelve runs of the second appear, one per month of that year.
"""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, asset


@asset(schedule="@yearly", partition=PartitionByInterval("@yearly"), tags=["aip-76"])
def yearly_data(partition):
    """One year."""
    print(f"read {partition}")


@asset(schedule=yearly_data, partition=PartitionByInterval("@monthly"), max_active_runs=12, tags=["aip-76"])
def data_using_slow_data(partition):
    """One month, made with the data of its year."""
    print(f"made {partition}")
