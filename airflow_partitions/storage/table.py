"""Partitions stored in a table of Iceberg."""

from __future__ import annotations

from typing import ClassVar

import attrs

from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.table_dataset import TableDataset


@attrs.frozen
class Iceberg(TableDataset, Storage):
    """A table of Iceberg, in which the rows of each key are a partition.

    .. code-block:: python

        days = PartitionByInterval("@daily", name="date", timezone="America/New_York")
        delays = Iceberg("flights.delays", catalog="lake", partition=days, partition_on={"date": "departed_at"})
        delays.read("2013-02-08", as_="polars")

    A key is a condition on columns of the table, whatever its partition spec is: ``departed_at`` from midnight to
    midnight in New York. A partition is published as one snapshot of the table, which replaces the files of the key and
    no others; so no file may hold rows of several keys. That is so if the spec has ``hours(departed_at)``, or
    whatever else keeps their rows apart.

    The functions of assets return the columns of the table. A column that holds the keys may be left out: it gets the
    value of the segment, or the start of the interval.

    :param path: the table, with its namespace: ``"flights.delays"``.
    :param catalog: Airflow's connection to the catalog, of type ``iceberg``: the host is the address of a REST catalog,
        login and password are its credentials, extra are more of pyiceberg's properties. A SQL catalog is told by
        extra alone: ``{"type": "sql", "uri": "postgresql+psycopg2://…"}``. It is looked up where the table is used.
    :param partition: definition of the stored partitions. An asset's own storage gets it from its decorator; an input
        without one is read as a whole.
    :param partition_on: dimension to the column of the table that holds it: a timestamp, date or text for times, a
        text or number for segments. Default: the column called like the dimension.
    :param schema: column to Spark type of the table, for ``create``. Without it the schema is that of the table.
    :param create: make the table when it is first written, with a partition spec that keeps the keys apart.
    :param maintenance: how upkeep keeps the table small; without it upkeep leaves the table alone.
    :param ownership: ``"read-only"`` for a table that others write. In one that is ``"owned"`` others may write too:
        what they wrote of a key is replaced when that is published, unless they did so after its run had begun.
    :param credentials: instead of a connection: pyiceberg's properties of the catalog. They are never part of the JSON
        form.
    :ivar pin: path of the folder with the table's metadata as it was: see :meth:`.Storage.freeze`.
    :raises LayoutError: if a dimension has no column.
    :raises InvalidDefinitionError: if the table has no namespace, or no columns to be made with.
    """

    kind: ClassVar[str] = "iceberg"
