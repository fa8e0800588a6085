"""Flights that leave New York, by the hour and by day and airport.

The landing zone has one Parquet partition per hour, of flights and of weather. Each Dag run makes one partition of an
asset, with a Spark job that reads exactly the hours it needs.
"""

from __future__ import annotations

import os

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, spark_asset
from airflow_partitions.storage import Parquet

LAKE = os.environ.get("AIRFLOW_PARTITIONS_LAKE", "/lake")
NEW_YORK = "America/New_York"
YEAR = {"timezone": NEW_YORK, "start": "2013-01-01", "end": "2014-01-01"}

HOURS = PartitionByInterval("@hourly", **YEAR)
HOUR_COLUMN = {"hour": "%Y-%m-%dT%H:%M%z"}  # with the offset: on 3 November there are two hours 01:00

FLIGHTS = Parquet(
    f"{LAKE}/landing/flights",
    partition=HOURS,
    partition_on=HOUR_COLUMN,
    schema={"carrier": "string", "flight": "bigint", "origin": "string", "dest": "string", "dep_delay": "double"},
    external=True,
)
WEATHER = Parquet(
    f"{LAKE}/landing/weather",
    partition=HOURS,
    partition_on=HOUR_COLUMN,
    schema={"origin": "string", "temp": "double", "wind_speed": "double", "visib": "double"},
    external=True,
)

# Small partitions: a small driver and no more tasks than cores.
SMALL = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false"}


@spark_asset(
    schedule="@hourly",
    partition=HOURS,
    storage=Parquet(f"{LAKE}/hourly_flights", partition_on=HOUR_COLUMN),
    inputs={"flights": FLIGHTS, "weather": WEATHER},
    strict=True,
    conf=SMALL,
)
def hourly_flights(flights, weather):
    """Every flight that was to leave in the hour, with the weather at its airport."""
    return flights.join(weather.drop("hour"), "origin", "left")


@spark_asset(
    schedule="@daily",
    partition=PartitionByProduct(
        [PartitionByInterval("@daily", name="date", **YEAR), PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")]
    ),
    storage=Parquet(f"{LAKE}/airport_days", partition_on={"date": "%Y-%m-%d", "airport": "{airport}"}),
    inputs={"flights": FLIGHTS},
    strict=True,
    conf=SMALL,
)
def airport_days(partition, flights):
    """Flights, cancellations and mean delay of each carrier at one airport on one day."""
    from pyspark.sql import functions as f

    here = flights.where(flights.origin == partition["airport"])
    return here.groupBy("carrier").agg(
        f.count("*").alias("flights"),
        f.count_if(f.isnull("dep_delay")).alias("cancelled"),
        f.avg("dep_delay").alias("mean_delay"),
    )
