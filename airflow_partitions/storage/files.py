"""Partitioned datasets of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import attrs

from airflow_partitions.storage.file_dataset import FileDataset
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.storage.maintenance.build_index import Indexed
    from airflow_partitions.storage.scan.scan_plan import Where


@attrs.frozen
class Files(FileDataset, Storage):
    """A folder of Hive-style partition folders with files of one format.

    .. code-block:: python

        days = PartitionByInterval("@daily", name="date")
        delays = Files("/lake/delays", format="csv", partition=days, schema={"carrier": "string", "delay": "double"})
        delays.read(field("date").between("2013-02-01", "2013-03-01"), as_="pandas")

    :param path: absolute path of the folder, or its URL on a file system that fsspec knows (``s3://bucket/delays``).
    :param format: what the files hold; there must be a reader for it: ``"parquet"``, ``"csv"``, ``"json"``, ``"orc"``,
        ``"avro"``, ``"text"``, or one of your own.
    :param partition: definition of the stored partitions. An asset's own storage gets it from its decorator; an input
        without one is read as a whole.
    :param partition_on: partition column to format (text, or :class:`Column` for another type than string), in the
        order of the folders. A format with ``%`` is a strftime format of the time dimension's start in its zone,
        ``"{dimension}"`` is that dimension's text. Default: one text column per dimension, named like it. Instead of
        columns: :class:`FilePerKey`, where every file is a partition.
    :param schema: column to Spark type of the columns inside the files (``{"origin": "string"}``). Without it the
        schema is the one that commits recorded, or else that of the first file read.
    :param index: columns of the files (``("carrier",)``; of tables ``{"items": ("price",)}``). Every writer remembers
        which files have which of their values, so that a filter on them opens only these, and needs no condition on the
        folders. What is stored without it is read whole until :meth:`build_index`.
    :param ownership: whose the files are, as :class:`Ownership` or its text: ``"owned"``; ``"read-only"``: someone
        else's, they are never written; ``"add-only"``: partitions may be added, but what is there already is never
        removed; ``"adopted"``: what is there becomes ours.
    :param log: folder of the log that says which partitions there are. By default in the bookkeeping where folders
        can't be exchanged or what they hold belongs to others; else the folders themselves tell.
    :param options: options of the format, as Spark calls them (``{"sep": ";"}``). They are no place for secrets, such
        as keys of encryption: all but ``credentials`` are in the JSON form, in ``repr``, and in the list of the
        machine's processes while Spark runs.
    :param credentials: arguments of the fsspec file system. Readers get them too, unless ``options`` has
        ``credentials`` of its own (``None``: none at all). They are never part of the JSON form.
    :param conn_id: instead of credentials: Airflow's connection whose file system it lies on. It is looked up where
        files are used, which takes Airflow there.
    :param tables: names of the tables that every partition has, each in a folder of its own below that of the
        partition. They are written together; ``schema`` has the columns of each then (``{"core": {"delay": "double"},
        …}``), and :meth:`table` is for reading one.
    :ivar pin: path of the listing that names the partitions: see :meth:`.Storage.freeze`.
    :ivar members: the names of the tables, as given.
    :ivar member: the table to be read: see :meth:`table`.
    :raises LayoutError: if two keys would share one folder.
    :raises InvalidDefinitionError: if an indexed column is not in *schema*, or can't be compared.
    """

    kind: ClassVar[str] = "files"

    def build_index(self, where: Where = None, *, dry_run: bool = False) -> Sequence[Indexed]:
        """Give stored partitions the index that is declared, by reading its columns; what has it is left alone.

        Each partition gets it in one step, and is published by it neither anew nor to consumers. A writer that is
        quicker wins; its partition is left for the next time. An index of columns that are not declared is dropped.

        :param where: which partitions, as for :meth:`list`.
        :param dry_run: change nothing, only tell.
        :return: what became of each partition that was without it.
        :raises InvalidDefinitionError: if an indexed column is not in the schema, can't be compared, or there is no
            schema; if the dataset belongs to someone else, or this is one table or a listing of it.
        :raises StorageError: if files can't be read.
        :raises SchemaError: if they don't fit the schema.
        """
        from airflow_partitions.storage.maintenance.build_index import build_index

        return build_index(self, where, dry_run=dry_run)
