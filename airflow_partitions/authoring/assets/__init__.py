"""Decorators that make a partitioned asset and the Dag that materializes it."""

from airflow_partitions.authoring.assets.decorator import asset
from airflow_partitions.authoring.assets.infer import INFER
from airflow_partitions.authoring.assets.spark import spark_asset

__all__ = ["INFER", "asset", "spark_asset"]
