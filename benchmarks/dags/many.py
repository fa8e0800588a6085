"""Small hourly partitions, made in each way that there is: one task for each, or one task for many."""

from __future__ import annotations

import os
from typing import Any

import pandas as pd
import polars as pl

from airflow_partitions import PartitionByInterval, asset, spark_asset
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
HOURS = PartitionByInterval("@hourly", start="2013-01-01", end="2015-01-01", name="hour")
ON = {"hour": "%Y-%m-%dT%H"}
FLIGHTS = Parquet(
    f"{LAKE}/flights",
    partition=HOURS,
    partition_on=ON,
    schema={"origin": "string", "delay": "double"},
    ownership="read-only",
)
COMMON: dict[str, Any] = {"schedule": None, "partition": HOURS, "inputs": {"flights": FLIGHTS}}


def stored(name: str) -> Parquet:
    return Parquet(f"{LAKE}/{name}", partition_on=ON)


@asset(**COMMON, storage=stored("single"))
def single(flights: pd.DataFrame) -> pd.DataFrame:
    return flights.groupby("origin", as_index=False)["delay"].mean()


@asset(**COMMON, storage=stored("batched"), batch=1000)
def batched(flights: pd.DataFrame) -> pd.DataFrame:
    return flights.groupby("origin", as_index=False)["delay"].mean()


@asset(**COMMON, storage=stored("together"), batch=1000)
def together(partitions: list[Any], flights: pd.DataFrame) -> pd.DataFrame:  # noqa: ARG001 - all of a batch
    return flights.groupby(["hour", "origin"], as_index=False)["delay"].mean()


@asset(**COMMON, storage=stored("polars_batched"), batch=1000)
def polars_batched(flights: pl.DataFrame) -> pl.DataFrame:
    return flights.group_by("origin").agg(pl.col("delay").mean())


@asset(**COMMON, storage=stored("polars_threads"), batch=1000, threads=4)
def polars_threads(flights: pl.DataFrame) -> pl.DataFrame:
    return flights.group_by("origin").agg(pl.col("delay").mean())


@asset(**COMMON, storage=stored("polars_together"), batch=1000)
def polars_together(partitions: list[Any], flights: pl.LazyFrame) -> pl.LazyFrame:  # noqa: ARG001
    return flights.group_by("hour", "origin").agg(pl.col("delay").mean())


@spark_asset(**COMMON, storage=stored("spark_single"), conn_id="warm")
def spark_single(flights):
    return flights.groupBy("origin").avg("delay").toDF("origin", "delay")


@spark_asset(**COMMON, storage=stored("spark_batched"), conn_id="warm", batch=1000)
def spark_batched(flights):
    return flights.groupBy("origin").avg("delay").toDF("origin", "delay")


@spark_asset(**COMMON, storage=stored("spark_together"), conn_id="warm", batch=1000)
def spark_together(partitions, flights):  # noqa: ARG001
    return flights.groupBy("hour", "origin").avg("delay").toDF("hour", "origin", "delay")


@spark_asset(**COMMON, storage=stored("cold_batched"), conn_id="cold", batch=1000)
def cold_batched(flights):
    return flights.groupBy("origin").avg("delay").toDF("origin", "delay")


@spark_asset(**COMMON, storage=stored("cold_together"), conn_id="cold", batch=1000)
def cold_together(partitions, flights):  # noqa: ARG001
    return flights.groupBy("hour", "origin").avg("delay").toDF("hour", "origin", "delay")
