"""Tables of Iceberg by their metadata files, copied to Parquet: all that Spark sees in them."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for metadata, _, folder in (pair.partition("=") for pair in sys.argv[1:]):
    spark.read.format("iceberg").load(metadata).coalesce(1).write.mode("overwrite").parquet(folder)
spark.stop()
