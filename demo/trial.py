"""A job much like the demo's: it reads, joins, counts and writes Parquet."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

folder = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
rows = spark.range(100).select("id", (f.col("id") % 3).cast("string").alias("origin"))
rows.write.mode("overwrite").partitionBy("origin").parquet(f"{folder}/rows")
read = (
    spark.read.option("basePath", f"{folder}/rows")
    .schema("id bigint, origin string")
    .parquet(f"{folder}/rows/origin=1")
)
counts = read.where("origin = '1'").groupBy("origin").agg(f.count("*").alias("rows"), f.avg("id"))
read.join(counts, "origin", "left").coalesce(1).write.mode("overwrite").parquet(f"{folder}/joined")
spark.stop()
