"""Writing DataFrames of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.errors import ForeignRowsError, ResultError
from airflow_partitions.keys import Key
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.places.place import is_local
from airflow_partitions.storage.reading.readers.spark import format_options, known_format, quoted, spark_path
from airflow_partitions.storage.reading.scan import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_partitions.storage.places.filesystem import Place


def write_spark(frame: DataFrame, files: Files, key: Key, folder: Place) -> tuple[int, dict[str, str]]:
    """Write *frame* to *folder* as the rows of *key*; they are counted on the way.

    :return: how many rows there are, and column to Spark type.
    :raises ForeignRowsError: if a row belongs to another partition.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    names = {name.lower(): name for name in files.layout.columns}
    texts = files.layout.values_of(key)
    held = {column: names[column.lower()] for column in frame.columns if column.lower() in names}
    strange = f.lit(False)
    for column, name in held.items():
        kind = files.layout.columns[name].type
        strange = strange | ~f.col(quoted(column)).try_cast(kind).eqNullSafe(f.lit(texts[name]).cast(kind))
    counts = Observation()
    kept = frame.observe(counts, f.count(f.lit(1)).alias("rows"), f.count_if(strange).alias("strange")).drop(*held)
    if not kept.columns:
        raise ResultError(f"partition {str(key)!r}: there are only partition columns {[*held]}; expected others too")
    options = {**output_options(str(folder)), **format_options(Scan(files=files))}
    with known_format(files.format, frame.sparkSession):
        kept.write.mode("append").format(files.format).options(**options).save(spark_path(str(folder)))
    if found := counts.get["strange"]:
        raise ForeignRowsError(
            f"partition {str(key)!r} of {files.path!r}: {found} rows belong elsewhere; expected only rows whose"
            f" {', '.join(held)} is that of the partition: filter them, or drop these columns"
        )
    return counts.get["rows"], {field.name: field.dataType.simpleString() for field in kept.schema.fields}


def output_options(folder: str) -> dict[str, str]:
    """How Spark's tasks bring their files to *folder*, where nobody looks before it is published.

    On object stores a rename is a copy, so that one for each task is enough there; for none configure the magic
    committer of S3A.
    """
    options = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
    return options if is_local(folder) else {**options, "mapreduce.fileoutputcommitter.algorithm.version": "2"}
