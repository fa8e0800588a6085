"""Partitions stored as folders of Parquet files, and of the other formats."""

from __future__ import annotations

from typing import ClassVar

import attrs

from airflow_partitions.storage.files import Files


@attrs.frozen
class Parquet(Files):
    """A folder of Hive-style partition folders, each with Parquet files: :class:`Files` of that format.

    .. code-block:: python

        days = PartitionByInterval("@daily", name="date")
        storage = Parquet("/lake/delays", partition=days, partition_on={"date": Column("%Y-%m-%d", "date")})
        storage.path_of(days.parse("2013-02-08"))  # "/lake/delays/date=2013-02-08"
    """

    kind: ClassVar[str] = "parquet"
    format: str = attrs.field(default="parquet", init=False)


@attrs.frozen
class Csv(Files):
    """:class:`Files` of comma-separated values. Options are those of Spark: ``sep``, ``header``, ``quote``, …"""

    kind: ClassVar[str] = "csv"
    format: str = attrs.field(default="csv", init=False)


@attrs.frozen
class Json(Files):
    """:class:`Files` with one JSON object per line."""

    kind: ClassVar[str] = "json"
    format: str = attrs.field(default="json", init=False)


@attrs.frozen
class Orc(Files):
    """:class:`Files` in ORC."""

    kind: ClassVar[str] = "orc"
    format: str = attrs.field(default="orc", init=False)


@attrs.frozen
class Avro(Files):
    """:class:`Files` in Avro. Spark needs its package ``spark-avro`` for them, the other readers ``fastavro``."""

    kind: ClassVar[str] = "avro"
    format: str = attrs.field(default="avro", init=False)


@attrs.frozen
class Text(Files):
    """:class:`Files` of plain text: one column ``value``, a row for each line."""

    kind: ClassVar[str] = "text"
    format: str = attrs.field(default="text", init=False)
