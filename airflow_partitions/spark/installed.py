"""The Spark of this environment."""

from __future__ import annotations

from airflow_partitions.core.errors import MissingSparkError


def check_installed() -> None:
    """Refuse an environment with a client of Spark Connect only, such as Airflow's provider brings.

    :raises MissingSparkError: if it can't run jobs.
    """
    try:
        import pyspark.core  # noqa: F401 - not part of pyspark-client
    except ImportError as error:
        raise MissingSparkError(
            f"Spark is not installed here ({error}); expected pip install 'airflow-partitions[spark]', or"
            " SPARK_HOME with the folder of another one, or spark-binary in the extra of Airflow's connection to Spark"
        ) from error
