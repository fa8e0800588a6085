"""An expensive asset follows a cheap one, but not at every step.

``language_model`` has no schedule of its own to go wrong. Each new hour asks for its day; the first 23 leave it waiting
for the others, and the last one starts the run.
"""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, asset


@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"), tags=["aip-76"])
def hourly_texts(partition):
    """Texts of one hour."""
    print(f"collected the texts of {partition}")


@asset(schedule=hourly_texts, partition=PartitionByInterval("@daily"), tags=["aip-76"])
def language_model(partition, hourly_texts):
    """Trained on the texts of one day, once all its hours are there."""
    print(f"trained on {hourly_texts.name} from {partition.start} to {partition.end}")
