"""Shadow tables: where a try writes, in no catalog, with data files that lie below the real table already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
from pyiceberg.exceptions import ValidationError
from pyiceberg.manifest import DATA_FILE_TYPE, DataFile, ManifestContent
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import StaticTable, Table
from pyiceberg.typedef import Record

from airflow_partitions.core.errors import ResultError, SchemaError
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.iceberg.table.paths import below
from airflow_partitions.storage.iceberg.table.spec_fit import keep_apart
from airflow_partitions.storage.iceberg.table.static_metadata import (
    form_of,
    read_static,
    version_of,
    without_history,
    write_static,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

#: Folder of the data files of tries, below the location of a table.
DATA = "data"
#: What a table says before it has a snapshot.
_NOTHING: Mapping[str, Any] = {"current-snapshot-id": -1, "last-sequence-number": 0}
_METRICS = "write.metadata.metrics.column."
#: Whose the shadow is, in its properties.
_LOCATION = "airflow.location"
#: The partition spec of the real table: files are published under it.
_SPEC = "airflow.partition-spec"
#: Levels between the shadow of several keys and the folder of one of them.
_DEEPEST = 32
_PARTITION = [field.name for field in DATA_FILE_TYPE[2].fields].index("partition")


@attrs.frozen
class Shadow:
    """A table with the columns, partition spec, order and properties of a real one, and nothing in it.

    Spark writes to it by its path, without any catalog: ``frame.write.format("iceberg").mode("append").save(folder)``.
    What it writes becomes that of the real table when its files are named by a snapshot of that.

    :ivar folder: where its metadata is.
    :ivar properties: what its files are reached with.
    """

    folder: Location
    properties: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @classmethod
    def make(
        cls,
        table: Table,
        folder: Location,
        attempt_name: str,
        *,
        key_columns: Iterable[str] = (),
        schema: pa.Schema | None = None,
    ) -> Self:
        """Make the shadow of *table* in *folder*.

        :param attempt_name: folder of its data files, below the location of the table.
        :param key_columns: columns whose least and greatest values are kept whole.
        :param schema: columns that may be written, too; the table gets them when they are published.
        """
        location = table.location().rstrip("/")
        form = form_of(without_history(table.metadata))
        form |= {**_NOTHING, "location": str(folder)}
        form["properties"] |= {
            "write.data.path": f"{location}/{DATA}/{attempt_name}",
            "write.spark.accept-any-schema": "true",
            _LOCATION: location,
            _SPEC: str(table.metadata.default_spec_id),
            **{f"{_METRICS}{name}": "full" for name in key_columns},
        }
        write_static(folder, form)
        shadow = cls(folder, dict(table.io.properties))
        if schema is not None:
            transaction = shadow.table.transaction()
            transaction.update_schema().union_by_name(schema).commit()
            write_static(folder, form_of(transaction.table_metadata))
        return shadow

    @property
    def data(self) -> str:
        """Folder of its data files."""
        return str(self.table.properties["write.data.path"])

    @classmethod
    def open(cls, folder: Location, properties: Mapping[str, str] | None = None) -> Self:
        """The shadow in *folder*; a copy, for one of several keys, of that in a folder above.

        :param properties: what its files are reached with.
        :raises ResultError: if there is none.
        """
        shadow = cls(folder, properties or {})
        if version_of(folder) is None:
            parent: Location = folder
            for _ in range(_DEEPEST):
                parent = parent.parent
                if version_of(parent) is not None:
                    table = read_static(parent, shadow.properties, version=1)
                    write_static(
                        folder, {**form_of(without_history(table.metadata)), **_NOTHING, "location": str(folder)}
                    )
                    break
            else:
                raise ResultError(f"{str(folder)!r} holds no table to write to; expected the staging folder of a try")
        return shadow

    @property
    def table(self) -> StaticTable:
        """The shadow as it is now."""
        return read_static(self.folder, self.properties)

    def append(self, *tables: pa.Table, evolve: bool = False) -> None:
        """Write the rows of *tables*, each to files of its own, by the names of columns; those that are missing are
        null.

        :param evolve: columns may come, and become wider.
        :raises SchemaError: if they don't fit the columns of the table.
        """
        table = self.table
        with translate_errors(f"table {str(self.folder)!r}", "written"):
            transaction = table.transaction()
            try:
                for rows in tables:
                    if evolve:
                        transaction.update_schema().union_by_name(rows.schema).commit()
                    transaction.append(rows)
            except (ValueError, ValidationError) as error:
                raise SchemaError(f"rows can't be written to {str(self.folder)!r}: {error}") from error
            write_static(self.folder, form_of(transaction.table_metadata), (version_of(self.folder) or 1) + 1)

    def keep_apart(self, keys: KeyFilter) -> None:
        """Let each file that is written hold rows of one key only.

        :raises LayoutError: if no partition spec can see to that.
        """
        with translate_errors(f"table {str(self.folder)!r}", "written"):
            transaction = self.table.transaction()
            keep_apart(transaction, keys)
            write_static(self.folder, form_of(transaction.table_metadata))

    def files(self) -> tuple[DataFile, ...]:
        """What was written; without files that hold no row, of which nobody can say whose they are.

        :raises ResultError: if rows were deleted, too.
        """
        table = self.table
        snapshot = table.current_snapshot()
        spec = table.specs()[int(table.metadata.properties[_SPEC])]
        files: list[DataFile] = []
        with translate_errors(f"table {str(self.folder)!r}", "read"):
            for manifest in () if snapshot is None else snapshot.manifests(table.io):
                if manifest.content is not ManifestContent.DATA:
                    raise ResultError(
                        f"the job deleted rows in {str(self.folder)!r}; expected it to append what the partition is to"
                        " hold, and nothing else"
                    )
                entries = manifest.fetch_manifest_entry(table.io)
                files += [_under(spec, each.data_file) for each in entries if each.data_file.record_count]
        return tuple(files)

    @property
    def rows(self) -> int:
        """How many rows were written."""
        return sum(file.record_count for file in self.files())

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.file_size_in_bytes for file in self.files())

    @property
    def names(self) -> dict[str, int]:
        """Path below the location of the real table to size, of all files."""
        return {name: file.file_size_in_bytes for name, file in self.files_by_name().items()}

    def files_by_name(self) -> dict[str, DataFile]:
        """Path below the location of the real table to file, of all files."""
        location = self.table.metadata.properties[_LOCATION]
        return dict(sorted((below(location, file.file_path), file) for file in self.files()))


def _under(spec: PartitionSpec, file: DataFile) -> DataFile:
    """*file* with partition values of *spec*, to which :meth:`Shadow.keep_apart` has added others."""
    if file.spec_id != spec.spec_id:
        file[_PARTITION] = Record(*(file.partition[number] for number in range(len(spec.fields))))
        file.spec_id = spec.spec_id
    return file
