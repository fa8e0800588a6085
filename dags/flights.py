"""Flights that leave New York, by the hour, the day, the day and airport, and over three days.

The landing zone has one Parquet partition per hour, of flights and of weather. Each Dag run makes one partition of an
asset. Two assets read the landing zone, with Spark jobs that read exactly the hours they need; one counts carriers, by
tasks that make many hours each. The other four depend on each other: from the hours of `hourly_departures` the rest
follows.
"""

from __future__ import annotations

import os
from typing import Annotated

import pyarrow as pa

from airflow_partitions import (
    Lookback,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    asset,
    spark_asset,
)
from airflow_partitions.storage import Parquet

LAKE = os.environ.get("AIRFLOW_PARTITIONS_LAKE", "/lake")
CONNECTION = os.environ.get("AIRFLOW_PARTITIONS_LAKE_CONNECTION")  # of a lake that is reached by one
NEW_YORK = "America/New_York"
YEAR = {"timezone": NEW_YORK, "start": "2013-01-01", "end": "2014-01-01"}

HOURS = PartitionByInterval("@hourly", **YEAR)
DAYS = PartitionByInterval("@daily", name="date", **YEAR)
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
AIRPORT_DAYS = PartitionByProduct([DAYS, AIRPORTS])

DAY_COLUMN = {"date": "%Y-%m-%d"}
HOUR_COLUMN = {"hour": "%Y-%m-%dT%H:%M%z"}  # with the offset: on 3 November there are two hours 01:00

FLIGHTS = Parquet(
    f"{LAKE}/landing/flights",
    partition=HOURS,
    partition_on=HOUR_COLUMN,
    schema={"carrier": "string", "flight": "bigint", "origin": "string", "dest": "string", "dep_delay": "double"},
    ownership="read-only",
    conn_id=CONNECTION,
)
WEATHER = Parquet(
    f"{LAKE}/landing/weather",
    partition=HOURS,
    partition_on=HOUR_COLUMN,
    schema={"origin": "string", "temp": "double", "wind_speed": "double", "visib": "double"},
    ownership="read-only",
    conn_id=CONNECTION,
)

SMALL = {"spark.sql.shuffle.partitions": "2"}  # no more tasks than small partitions need


@spark_asset(
    schedule="@hourly",
    partition=HOURS,
    storage=Parquet(f"{LAKE}/hourly_flights", partition_on=HOUR_COLUMN, conn_id=CONNECTION),
    inputs={"flights": FLIGHTS, "weather": WEATHER},
    strict=True,
    conf=SMALL,
)
def hourly_flights(flights, weather):
    """Every flight that was to leave in the hour, with the weather at its airport."""
    return flights.join(weather.drop("hour"), "origin", "left")


@spark_asset(
    schedule="@daily",
    partition=AIRPORT_DAYS,
    storage=Parquet(f"{LAKE}/airport_days", partition_on={**DAY_COLUMN, "airport": "{airport}"}, conn_id=CONNECTION),
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


@asset(
    schedule="@hourly",
    partition=HOURS,
    storage=Parquet(f"{LAKE}/hourly_departures", partition_on=HOUR_COLUMN, conn_id=CONNECTION),
    inputs={"flights": FLIGHTS, "weather": WEATHER},
)
def hourly_departures(
    flights: Annotated[pa.Table, ["origin", "dep_delay"]],
    weather: Annotated[pa.Table, ["origin", "wind_speed", "visib"]],
) -> pa.Table:
    """Flights and weather of the hour, one row per airport: so few that a plain Python task makes them."""
    from pyarrow import compute

    nulls = compute.CountOptions(mode="only_null")
    counts = flights.group_by("origin").aggregate(
        [([], "count_all"), ("dep_delay", "count", nulls), ("dep_delay", "sum")]
    )
    rows = pa.table({"origin": AIRPORTS.values}).join(counts, "origin").join(weather, "origin")
    return pa.table(
        {
            "origin": rows["origin"],
            "flights": rows["count_all"].fill_null(0),
            "cancelled": rows["dep_delay_count"].fill_null(0),
            "delay": rows["dep_delay_sum"],
            "wind_speed": rows["wind_speed"],
            "visib": rows["visib"],
        }
    )


@asset(
    schedule="@hourly",
    partition=HOURS,
    storage=Parquet(f"{LAKE}/hourly_carriers", partition_on=HOUR_COLUMN, conn_id=CONNECTION),
    inputs={"flights": FLIGHTS},
    batch="auto",
)
def hourly_carriers(partitions, flights: Annotated[pa.Table, ["hour", "carrier", "dep_delay"]]) -> pa.Table:
    """Flights of each carrier, hour by hour: one task makes many hours, and each has a run of its own."""
    print(f"{len(partitions):,} hours at once, from {partitions[0]} on")
    counts = flights.group_by(["hour", "carrier"]).aggregate([([], "count_all"), ("dep_delay", "count")])
    return counts.rename_columns({"count_all": "flights", "dep_delay_count": "departed"})


@spark_asset(
    schedule=hourly_departures,
    partition=DAYS,
    storage=Parquet(f"{LAKE}/daily_departures", partition_on=DAY_COLUMN, conn_id=CONNECTION),
    strict=True,
    conf=SMALL,
)
def daily_departures(hourly_departures):
    """The whole day, once its 23, 24 or 25 hours are there."""
    from pyspark.sql import functions as f

    return hourly_departures.agg(
        f.count_distinct("hour").alias("hours"),
        *(f.sum(name).alias(name) for name in ("flights", "cancelled", "delay")),
    )


@spark_asset(
    schedule=hourly_departures,
    partition=AIRPORT_DAYS,
    storage=Parquet(
        f"{LAKE}/airport_departures", partition_on={**DAY_COLUMN, "airport": "{airport}"}, conn_id=CONNECTION
    ),
    strict=True,
    conf=SMALL,
)
def airport_departures(partition, hourly_departures):
    """The day at one airport, with the worst of its weather. An hour is part of three partitions."""
    from pyspark.sql import functions as f

    return hourly_departures.where(f.col("origin") == partition["airport"]).agg(
        f.count_distinct("hour").alias("hours"),
        *(f.sum(name).alias(name) for name in ("flights", "cancelled", "delay")),
        f.max("wind_speed").alias("wind_speed"),
        f.min("visib").alias("visib"),
    )


@spark_asset(
    schedule=daily_departures,
    partition=DAYS,
    rules={"daily_departures": Lookback(2)},
    storage=Parquet(f"{LAKE}/three_day_departures", partition_on=DAY_COLUMN, conn_id=CONNECTION),
    strict=True,
    conf=SMALL,
)
def three_day_departures(daily_departures):
    """The day and the two before it, once all three are there."""
    from pyspark.sql import functions as f

    return daily_departures.agg(
        f.count_distinct("date").alias("days"),
        *(f.sum(name).alias(name) for name in ("hours", "flights", "cancelled", "delay")),
    )
