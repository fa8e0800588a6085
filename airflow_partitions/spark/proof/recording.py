"""The choice of who counts, by the kind of the session."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from airflow_partitions.spark.proof.promise import Promise
from airflow_partitions.spark.proof.proof import Proof

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def recording(spark: SparkSession, promise: Callable[[], Promise] = Promise) -> AbstractContextManager[Proof]:
    """Count what *spark* reads inside the block.

    A session with a driver is compared with what was promised when the job has ended. A session of Spark Connect is
    told the promise first: its server refuses what a strict job may not read.

    :raises MissingListenerError: if the job is strict, and the Spark Connect server has no listener.
    """
    if hasattr(spark, "_jsparkSession"):
        from airflow_partitions.spark.proof import classic

        return classic.counted(spark, promise)
    from airflow_partitions.spark.proof import connect

    return connect.counted(spark, promise)
