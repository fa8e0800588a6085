"""The Spark session of the local loop, kept for the life of the process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def local_session() -> SparkSession:
    """A session on two threads of this machine; the second call gives the first one's.

    :raises MissingSparkError: if Spark is not installed here.
    """
    from airflow_partitions.spark.installed import check_installed

    check_installed()
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of every call back from Spark
    builder = SparkSession.builder.master("local[2]").appName("airflow_partitions local")
    for name, value in {
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
