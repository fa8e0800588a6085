"""Records of partitions whose snapshots have expired, in a file that the table names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import uuid4

from pyiceberg.io import FileIO
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata

from airflow_partitions.core.errors import StorageError

#: The property of a table that names the file.
RECORDS = "airflow.records"


def read_records(metadata: TableMetadata, io: FileIO) -> dict[str, str]:
    """What was published in directories, as snapshots that have expired said.

    :raises StorageError: if the file is damaged.
    """
    path = metadata.properties.get(RECORDS)
    if path is None:
        return {}
    with io.new_input(path).open() as file:
        data = file.read()
    try:
        return dict(json.loads(data))
    except (ValueError, TypeError) as error:
        raise StorageError(f"{path!r} is damaged ({error}); expected what partitions say about themselves") from error


def write_records(table: Table, records: Mapping[str, str]) -> str:
    """Write what was published in directories; path of the file."""
    path = table.location_provider().new_metadata_location(f"airflow-records-{uuid4()}.json")
    with table.io.new_output(path).create() as file:
        file.write(json.dumps(dict(records), separators=(",", ":")).encode())
    return path
