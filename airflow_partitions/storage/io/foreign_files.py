"""Files that no writer of ours has written: what they hold, and whether it is of the partition that it is to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import ForeignRowsError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.filesystem.filesystem import sizes
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.io.arrow_reader import FORMATS, source_of
from airflow_partitions.storage.io.arrow_writer import foreign_values, schema_of_rows
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.schema import check_names
from airflow_partitions.storage.metadata.staged_files import StagedFiles

if TYPE_CHECKING:
    import pyarrow.dataset as ds

    from airflow_partitions.storage.filesystem.filesystem import Location


def foreign_files(request: WriteRequest, key: Key, files: Mapping[str, int]) -> StagedFiles:
    """The *files* in the folder of *request*, as a writer would tell of them that has written them for *key*.

    Rows and columns are told by the footers of Parquet and ORC; other files are read. Where a file has a column of the
    partition, that is read, too: its values are to be those of *key*.

    :param files: file name to size in bytes.
    :raises ForeignRowsError: if a row is of another partition.
    :raises ResultError: if there is nothing but columns of the partition.
    :raises SchemaError: if they have other columns than the dataset declares, or not all of them the same.
    :raises StorageError: if they can't be read; :class:`.DamagedError` if one is none of the format.
    """
    dataset, name = request.dataset, request.name_of(key)
    if dataset.format not in FORMATS:
        return StagedFiles(None, files, {})
    # As they are: with all of their columns, also those that are of the folders of partitions.
    everything = dataset.whole() if dataset.member is None else dataset.whole().table(dataset.member)
    if dataset.format == "csv" and dict(dataset.options).get("header") not in (True, "true", "True"):
        everything = dataset  # whose columns have their names from nowhere else
    everything = attrs.evolve(everything, path=str(request.folder))
    with translate_errors(name, f"read as {dataset.format}"):
        source = source_of(ReadRequest(dataset=everything))
        check_names(source.schema.names, name)
        _check_rows(source, key, request)
        columns = source.schema
        for column in _partition_columns(source, request):
            columns = columns.remove(columns.get_field_index(column))
        if not len(columns):
            raise ResultError(f"{name}: there are only partition columns in {[*files]}; expected others too")
        schema = schema_of_rows(columns, dataset, name)
        request.check(schema, name)
        return StagedFiles(source.count_rows(), files, schema)


def check_flat(folder: Location, members: Sequence[str], name: str) -> None:
    """Refuse files in *folder* that lie deeper than those of a partition.

    :param members: the folders that tables have there, if there are any.
    :param name: of the partition, for the message.
    :raises ResultError: if there is one.
    """
    for place in (folder / member for member in members) if members else (folder,):
        below = [n for n in sizes(place) if "/" in n and not any(level[0] in "_." for level in n.split("/"))]
        if below:
            raise ResultError(
                f"{name}: the job has left {min(below)!r} in a folder of its own; expected all files of the partition"
                f" in {str(place)!r} itself: let it write one partition, without PARTITION BY"
            )


def _partition_columns(source: ds.Dataset, request: WriteRequest) -> dict[str, str]:
    """The columns of the files that are those of the folders, with the names that they have there."""
    layout = request.dataset.layout
    names = {name.lower(): name for name in layout.columns} if layout.in_frames else {}
    return {column: names[column.lower()] for column in source.schema.names if column.lower() in names}


def _check_rows(source: ds.Dataset, key: Key, request: WriteRequest) -> None:
    """Make sure that all rows are of *key*, as far as their columns tell."""
    dataset = request.dataset
    columns = _partition_columns(source, request)
    if not columns:
        return
    texts = dataset.layout.values_of(key)
    for batch in source.to_batches(columns=list(columns)):
        for column, own in columns.items():
            if foreign := foreign_values(batch[column], dataset.layout.columns[own].type, texts[own]):
                raise ForeignRowsError(
                    f"partition {str(key)!r} of {dataset.path!r}: rows belong elsewhere, for example"
                    f" {column}={foreign[0]}; expected only rows of the partition: let the job leave out the others"
                )
