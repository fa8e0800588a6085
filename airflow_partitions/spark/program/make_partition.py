"""The program given to spark-submit for a decorated function, alone in its folder: Python searches that first.

Where a platform has no ``--py-files``, its arguments are what comes along for Python.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    if sys.argv[1:]:
        from pyspark.sql import SparkSession

        context = SparkSession.builder.getOrCreate().sparkContext
        for file in sys.argv[1:]:
            context.addPyFile(file)
    from airflow_partitions.spark.driver import main

    main()
