"""Flights that leave New York, as tables of Iceberg: each of them, by the day and airport, and by the day.

The landing zone has one Parquet partition per hour. A Spark job brings six of them at a time to a table; the delays of
a day at an airport are made by polars, and checked before anybody sees them; the day of the city follows from its three
airports.
"""

from __future__ import annotations

import os
from typing import Annotated

import polars as pl

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, asset, spark_asset
from airflow_partitions.checks import NotNull, ValueRange
from airflow_partitions.storage import Iceberg, Parquet

LAKE = os.environ.get("AIRFLOW_PARTITIONS_LAKE", "/lake")
CATALOG = "lake"  # a connection of Airflow, of type iceberg
YEAR = {"timezone": "America/New_York", "start": "2013-01-01", "end": "2014-01-01"}

HOURS = PartitionByInterval("@hourly", **YEAR)
QUARTERS = PartitionByInterval("0 */6 * * *", name="quarter", **YEAR)  # of days, by the clock: 5 to 7 hours
DAYS = PartitionByInterval("@daily", name="date", **YEAR)
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")

COLUMNS = {
    "time_hour": "timestamp",
    "carrier": "string",
    "flight": "bigint",
    "origin": "string",
    "dest": "string",
    "dep_delay": "double",
}
COUNTS = {"flights": "bigint", "cancelled": "bigint", "delay": "double", "latest": "double"}

LANDING = Parquet(
    f"{LAKE}/tables/landing/flights",
    partition=HOURS,
    partition_on={"hour": "%Y-%m-%dT%H:%M%z"},
    schema=COLUMNS,
    ownership="read-only",
)

# Spark reads and writes the tables without a catalog; it only needs the package.
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
CONF = {"spark.driver.memory": "1g", "spark.ui.enabled": "false", "spark.jars.packages": ICEBERG}


@spark_asset(
    schedule="0 */6 * * *",
    partition=QUARTERS,
    storage=Iceberg(
        "flights.departures", catalog=CATALOG, partition_on={"quarter": "time_hour"}, schema=COLUMNS, create=True
    ),
    inputs={"landing": LANDING},
    strict=True,
    conf=CONF,
)
def departures(landing):
    """Every flight that was to leave in these hours."""
    return landing.drop("hour")


@asset(
    schedule=departures,
    partition=PartitionByProduct([DAYS, AIRPORTS]),
    storage=Iceberg(
        "flights.airport_delays",
        catalog=CATALOG,
        schema={"date": "date", "airport": "string", "carrier": "string", **COUNTS},
        create=True,
    ),
    checks=[NotNull("carrier"), ValueRange("latest", at_most=24 * 60)],
)
def airport_delays(partition, departures: Annotated[pl.LazyFrame, ["carrier", "origin", "dep_delay"]]) -> pl.LazyFrame:
    """The day of each carrier at one airport; delays in minutes, none of which is longer than a day."""
    delay = pl.col("dep_delay")
    here = departures.filter(pl.col("origin") == partition["airport"])
    return here.group_by("carrier").agg(
        flights=pl.len().cast(pl.Int64),
        cancelled=delay.null_count().cast(pl.Int64),
        delay=delay.sum(),
        latest=delay.max(),
    )


@asset(
    schedule=airport_delays,
    partition=DAYS,
    storage=Iceberg("flights.city_delays", catalog=CATALOG, schema={"date": "date", **COUNTS}, create=True),
)
def city_delays(airport_delays: pl.LazyFrame) -> pl.LazyFrame:
    """The day of all three airports, once they are there."""
    return airport_delays.select(pl.sum("flights", "cancelled", "delay"), pl.max("latest"))
