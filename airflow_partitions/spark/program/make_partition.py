"""The program given to spark-submit for a decorated function, alone in its folder: Python searches that first."""

from __future__ import annotations

from airflow_partitions.spark.driver import main

if __name__ == "__main__":
    main()
