"""Datasets as tables of Spark's catalog, for ad-hoc SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import InvalidDefinitionError, StorageError
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.io.spark_reader import quoted, spark_path
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.sql.ddl import spark_name, spark_table, spark_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Partitions added or dropped by one statement.
_BATCH = 500


def explore(spark: SparkSession, files: Files, table: str) -> None:
    """Register *files* as the external table *table* with the partitions that are stored now; call it again for later.

    .. code-block:: python

        explore(spark, delays, "delays")
        spark.sql("SELECT carrier, avg(delay) FROM delays WHERE date = '2013-02-08' GROUP BY carrier")

    Dropping the table leaves the files. A query sees the folders that were registered, with what they hold when it
    runs.

    :param table: its name, with the catalog's or the database's if wanted (``lake.delays``).
    :raises InvalidDefinitionError: if nothing tells its columns, or its files lie where folders tell nothing.
    :raises StorageError: if there is another table of that name.
    """
    statement, name = spark_table(files, table), spark_name(table)
    _check_free(spark, files, table)
    spark.sql(statement)
    partitions = snapshot(files)
    registered = {tuple(row[0].split("/")) for row in spark.sql(f"SHOW PARTITIONS {name}").collect()}
    gone = registered - {tuple(partition.directory.split("/")) for partition in partitions.values()}
    specs = [_spec(files.layout.texts_of("/".join(levels))) for levels in gone]
    for some in _batches(specs):
        spark.sql(f"ALTER TABLE {name} DROP IF EXISTS {', '.join(some)}")
    for some in _batches([f"{_spec(p.values)} LOCATION {spark_text(_folder(p))}" for p in partitions.values()]):
        spark.sql(f"ALTER TABLE {name} ADD IF NOT EXISTS {' '.join(some)}")
    for partition in partitions.values():
        if partition.folder is None and tuple(partition.directory.split("/")) in registered:  # it may lie elsewhere now
            spark.sql(f"ALTER TABLE {name} {_spec(partition.values)} SET LOCATION {spark_text(_folder(partition))}")
    spark.catalog.refreshTable(table)


def _check_free(spark: SparkSession, files: Files, table: str) -> None:
    if not spark.catalog.tableExists(table):
        return
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
    location = next((row["data_type"] for row in rows if row["col_name"] == "Location"), "")
    if _slashes(location) != _slashes(spark_path(files.path)):
        raise StorageError(f"table {table!r} is there already, at {location!r}; expected that of {files.path!r}")


def _slashes(location: str) -> str:
    """A location without what Spark and others write differently: ``file:/a``, ``file:///a``, ``/a``."""
    return re.sub("/+", "/", location.removeprefix("file:"))


def _folder(partition: StoredPartition) -> str:
    """The one folder that holds the partition's files."""
    folders = {path.rpartition("/")[0] for path in partition.paths} or {partition.path}
    if len(folders) > 1:
        raise InvalidDefinitionError(
            f"partition {partition.directory!r} lies in {len(folders)} folders, and a table can name one; expected it"
            " to be compacted first"
        )
    return spark_path(folders.pop())


def _spec(texts: Mapping[str, str]) -> str:
    return f"PARTITION ({', '.join(f'{quoted(name)} = {spark_text(text)}' for name, text in texts.items())})"


def _batches(all_: list[str]) -> Iterator[list[str]]:
    return (all_[i : i + _BATCH] for i in range(0, len(all_), _BATCH))
