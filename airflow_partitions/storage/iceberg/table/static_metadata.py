"""Tables in no catalog: a folder with metadata of its own, which Spark and pyiceberg read by its path."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import load_file_io
from pyiceberg.table import StaticTable
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from airflow_partitions.storage.filesystem.filesystem import create, names, read, write
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.iceberg.table.damage import damage_told

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

_METADATA = re.compile(r"v(\d+)\.metadata\.json")
_FOLDER, _HINT = "metadata", "version-hint.text"
#: Properties that tables in a folder may not have, or that would send their writes to a branch.
_NOT_HERE = ("write.metadata.path", "write.wap.enabled")


def form_of(metadata: TableMetadata) -> dict[str, Any]:
    """JSON form of *metadata*, for a table in a folder."""
    form: dict[str, Any] = json.loads(metadata.model_dump_json())
    form["properties"] = {name: value for name, value in form["properties"].items() if name not in _NOT_HERE}
    return form


def without_history(metadata: TableMetadata) -> TableMetadata:
    """*metadata* that tells of no snapshot: thousands of them take longer to write than all else."""
    nothing: dict[str, Any] = {"snapshots": [], "snapshot_log": [], "metadata_log": [], "refs": {}}
    return metadata.model_copy(update={**nothing, "statistics": [], "partition_statistics": []})


def version_of(folder: Location) -> int | None:
    """Number of the newest metadata of the table in *folder*, ``None`` if there is no table."""
    if (hint := read(folder / _FOLDER / _HINT)) is not None:
        version = int(hint)
        while (folder / _FOLDER / _name(version + 1)).exists():  # the hint comes after the metadata
            version += 1
        return version
    # Spark takes away the old hint first, and goes on where it can't write the new one.
    versions = [int(match[1]) for name in names(folder / _FOLDER) if (match := _METADATA.fullmatch(name))]
    return max(versions, default=None)


def write_static(folder: Location, form: Mapping[str, Any], version: int = 1) -> None:
    """Make *form* the metadata of the table in *folder*."""
    with translate_errors(f"table {str(folder)!r}", "written"):
        (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
        write(folder / _FOLDER / _name(version), json.dumps(form, separators=(",", ":")).encode())
        write(folder / _FOLDER / _HINT, str(version).encode())


def create_static(folder: Location, form: Mapping[str, Any]) -> None:
    """Make *form* the metadata of the table in *folder*, if there is none: of several that try at once, one does."""
    if version_of(folder) is not None:
        return
    version = 1 + secrets.randbelow(2**30)
    with translate_errors(f"table {str(folder)!r}", "written"):
        (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
        write(folder / _FOLDER / _name(version), json.dumps(form, separators=(",", ":")).encode())
        with suppress(FileExistsError):
            create(folder / _FOLDER / _HINT, str(version).encode())


def static_table(folder: Location, form: Mapping[str, Any], properties: Mapping[str, str], version: int) -> StaticTable:
    """The table in *folder* whose metadata *version* is *form*, which need not be read."""
    metadata, path = TableMetadataUtil.parse_obj(dict(form)), f"{folder}/{_FOLDER}/{_name(version)}"
    io = load_file_io({**properties, **metadata.properties}, path)
    return StaticTable(("static-table", path), metadata, path, io, NoopCatalog("static-table"))


def read_static(folder: Location, properties: Mapping[str, str], version: int | None = None) -> StaticTable:
    """The table in *folder*.

    :param properties: what its files are reached with.
    :param version: number of the metadata to read, else the newest.
    """
    with translate_errors(f"table {str(folder)!r}", "read"):
        number = version_of(folder) if version is None else version
        if number is None:
            raise FileNotFoundError(f"there is no metadata in {folder}")
        path = f"{folder}/{_FOLDER}/{_name(number)}"
        with damage_told(path):
            return StaticTable.from_metadata(path, dict(properties))


def _name(version: int) -> str:
    return f"v{version}.metadata.json"
