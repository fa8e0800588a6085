"""The program given to spark-submit for a decorated function, alone in its folder: Python searches that first.

Where a platform has no ``--py-files`` of its own, the program takes it. It passes over words that it does not know:
some platforms add theirs.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    if "--py-files" in sys.argv:
        from pyspark.sql import SparkSession

        context = SparkSession.builder.getOrCreate().sparkContext
        for file in sys.argv[sys.argv.index("--py-files") + 1].split(","):
            context.addPyFile(file)
    from airflow_partitions.spark.driver import main

    main()
