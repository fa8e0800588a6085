"""Decorators that make a partitioned asset and the Dag that materialises it."""

from airflow_partitions.assets.decorator import asset
from airflow_partitions.assets.infer import INFER
from airflow_partitions.assets.spark import spark_asset

__all__ = ["INFER", "asset", "spark_asset"]
