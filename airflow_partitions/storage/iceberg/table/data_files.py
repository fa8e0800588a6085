"""Data files of a table, written for many frames at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionFieldValue, PartitionKey, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import TableProperties, WriteTask
from pyiceberg.table.metadata import TableMetadata

if TYPE_CHECKING:
    import pyarrow as pa


def write_files(metadata: TableMetadata, io: FileIO, tables: Sequence[pa.Table]) -> Iterator[DataFile]:
    """Write each of *tables* to data files of its own, by the partition spec of the table that *metadata* describes.

    pyiceberg does so for one of them in a step of a transaction, for each of which all metadata is made anew.

    :param tables: their columns fit those of the table.
    """
    from pyiceberg.io.pyarrow import bin_pack_arrow_table, pyarrow_to_schema, write_file

    schema, run, numbers = metadata.schema(), uuid4(), count()
    size = int(
        metadata.properties.get(
            TableProperties.WRITE_TARGET_FILE_SIZE_BYTES, TableProperties.WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT
        )
    )

    def tasks() -> Iterator[WriteTask]:
        for rows in filter(len, tables):
            columns = pyarrow_to_schema(rows.schema, schema.name_mapping, format_version=metadata.format_version)
            for key, own in _partitions(metadata.spec(), schema, rows):
                for batches in bin_pack_arrow_table(own, size):
                    yield WriteTask(run, next(numbers), columns, batches, partition_key=key)

    yield from write_file(io, metadata, tasks())


def _partitions(spec: PartitionSpec, schema: Schema, rows: pa.Table) -> Iterator[tuple[PartitionKey | None, pa.Table]]:
    """The *rows* of each partition of *spec*, in their order."""
    import pyarrow as pa

    if spec.is_unpartitioned():
        yield None, rows
        return
    names = [field.name for field in spec.fields]
    values = pa.table(
        [
            field.transform.pyarrow_transform(schema.find_type(field.source_id))(_column(rows, schema, field.source_id))
            for field in spec.fields
        ],
        names=names,
    )
    found = values.group_by(names).aggregate([]).to_pylist()
    for each in found:
        fields = [PartitionFieldValue(field, each[field.name]) for field in spec.fields]
        yield PartitionKey(fields, spec, schema), rows if len(found) == 1 else rows.filter(_are(values, each))


def _column(rows: pa.Table, schema: Schema, number: int) -> Any:
    """The column of *rows* that has this *number* in *schema*; it may be within another."""
    import pyarrow.compute as pc

    name, *within = str(schema.find_column_name(number)).split(".")
    return reduce(pc.struct_field, within, rows[name])


def _are(values: pa.Table, each: dict[str, Any]) -> Any:
    """Where *values* are *each*."""
    import pyarrow.compute as pc

    columns = (
        pc.is_null(values[name]) if value is None else pc.fill_null(pc.equal(values[name], value), fill_value=False)
        for name, value in each.items()
    )
    return reduce(pc.and_, columns)
