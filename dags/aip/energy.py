"""Partitions that nobody knows before the task has looked.

Every hour one run trains a model per customer and adds the customer as a partition. Each one added starts a run of
``energy_prediction``. A run that finds no customer starts nothing.

Each hour has new models, so each hour predicts for all customers again. With ``once=True`` only those would be
predicted that are new.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionAtRuntime, asset

active_customers = PartitionAtRuntime(name="active_energy_customers")


@asset(schedule="@hourly", partition=active_customers, start_date=datetime(2024, 1, 1, tzinfo=UTC), tags=["aip-76"])
def energy_consumption_model():
    """Get the list of customers, and train a model for each."""
    for customer in ("acme", "initech", "umbrella"):
        print(f"trained the model of {customer}")
        active_customers.add_partition(key=customer, metadata={"error": len(customer) / 100})


@asset(schedule=energy_consumption_model, partition=active_customers, tags=["aip-76"])
def energy_prediction(partition):
    """The consumption of one customer, as its model predicts it."""
    print(f"predicted {partition.key} with an error of {partition.metadata['error']}")
