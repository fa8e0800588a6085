"""Shadow tables: where a try writes, in no catalog, with data files that lie below the real table already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakValueDictionary

import attrs
from pyiceberg.exceptions import ValidationError
from pyiceberg.io import FileIO
from pyiceberg.manifest import DATA_FILE_TYPE, DataFile, ManifestContent
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import StaticTable, Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Record

from airflow_partitions.core.errors import ResultError, SchemaError
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.iceberg.table.data_files import write_files
from airflow_partitions.storage.iceberg.table.live_files import all_manifests_of, entries_of
from airflow_partitions.storage.iceberg.table.paths import below
from airflow_partitions.storage.iceberg.table.spec_fit import keep_apart
from airflow_partitions.storage.iceberg.table.static_metadata import (
    form_of,
    read_static,
    static_table,
    version_of,
    without_history,
    write_static,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

#: Folder of the data files of tries, below the location of a table.
DATA = "data"
#: What a table says before it has a snapshot.
_NOTHING: Mapping[str, Any] = {"current-snapshot-id": -1, "last-sequence-number": 0}
_METRICS = "write.metadata.metrics.column."
#: Lets Spark write other columns by its path; then a statement of SQL can't insert by the places of columns.
_ANY_COLUMNS = "write.spark.accept-any-schema"
#: Whose the shadow is, in its properties.
_LOCATION = "airflow.location"
#: The partition spec of the real table: files are published under it.
_SPEC = "airflow.partition-spec"
#: Levels between the shadow of several keys and the folder of one of them.
_DEEPEST = 32
#: Number of the metadata that a shadow begins with.
_FIRST = 1
_PARTITION = [field.name for field in DATA_FILE_TYPE[2].fields].index("partition")


@attrs.define(eq=False)
class Shadow:
    """A table with the columns, partition spec, order and properties of a real one, and nothing in it.

    Spark writes to it by its path, without any catalog: ``frame.write.format("iceberg").mode("append").save(folder)``.
    What it writes becomes that of the real table when its files are named by a snapshot of that.

    :ivar folder: where its metadata is.
    :ivar properties: what its files are reached with.
    """

    folder: Location
    properties: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    #: The newest version of the metadata that is known here: no version is written twice.
    _known: tuple[int, StaticTable] | None = attrs.field(default=None, init=False, repr=False)
    #: Those for one of several keys each, which are forgotten together with this one.
    _copies: list[Shadow] = attrs.field(factory=list, init=False, repr=False)

    @classmethod
    def make(
        cls,
        table: Table,
        folder: Location,
        attempt_name: str,
        *,
        key_columns: Iterable[str] = (),
        schema: pa.Schema | None = None,
    ) -> Shadow:
        """Make the shadow of *table* in *folder*.

        :param attempt_name: folder of its data files, below the location of the table.
        :param key_columns: columns whose least and greatest values are kept whole.
        :param schema: columns that may be written, too; the table gets them when they are published.
        """
        location = table.location().rstrip("/")
        form = form_of(without_history(table.metadata))
        form |= {**_NOTHING, "location": str(folder), "table-uuid": str(uuid4())}
        form["properties"] |= {
            "write.data.path": f"{location}/{DATA}/{attempt_name}",
            _ANY_COLUMNS: "true",
            _LOCATION: location,
            _SPEC: str(table.metadata.default_spec_id),
            **{f"{_METRICS}{name}": "full" for name in key_columns},
        }
        shadow = cls(folder, dict(table.io.properties))
        if schema is not None:
            transaction = static_table(folder, form, shadow.properties, _FIRST).transaction()
            transaction.update_schema().union_by_name(schema).commit()
            form = form_of(transaction.table_metadata)
        return shadow.with_metadata(form, _FIRST)

    @property
    def data(self) -> str:
        """Folder of its data files."""
        return str(self.table.properties["write.data.path"])

    @classmethod
    def open(cls, folder: Location, properties: Mapping[str, str] | None = None) -> Shadow:
        """The shadow in *folder*; a copy, for one of several keys, of that in a folder above.

        :param properties: what its files are reached with.
        :raises ResultError: if there is none.
        """
        if (known := _KNOWN.get(str(folder))) is not None:
            return known
        shadow = cls(folder, properties or {})
        if version_of(folder) is not None:
            return shadow
        above: Location = folder
        for _ in range(_DEEPEST):
            above = above.parent
            if (parent := _KNOWN.get(str(above))) is not None or version_of(above) is not None:
                return (parent or cls(above, shadow.properties)).copied_to(shadow)
        raise ResultError(f"{str(folder)!r} holds no table to write to; expected the staging folder of a try")

    def copied_to(self, shadow: Shadow) -> Shadow:
        """*shadow*, made as this one was before anything was written."""
        self._copies.append(shadow)
        form = form_of(without_history(self.table.metadata))
        return shadow.with_metadata({**form, **_NOTHING, "location": str(shadow.folder)}, _FIRST)

    def with_metadata(self, form: Mapping[str, Any], version: int) -> Shadow:
        """This shadow, with *form* as its metadata."""
        write_static(self.folder, form, version)
        self._known = version, static_table(self.folder, form, self.properties, version)
        _KNOWN[str(self.folder)] = self
        return self

    @property
    def table(self) -> StaticTable:
        """The shadow as it is now, whoever has written to it."""
        version = version_of(self.folder)
        if self._known is None or self._known[0] != version:
            self._known = version or _FIRST, read_static(self.folder, self.properties, version)
        return self._known[1]

    def append(self, *tables: pa.Table, evolve: bool = False) -> None:
        """Write the rows of *tables*, each to files of its own, by the names of columns; those that are missing are
        null.

        :param evolve: columns may come, and become wider.
        :raises SchemaError: if they don't fit the columns of the table.
        """
        with translate_errors(f"table {str(self.folder)!r}", "written"):
            table = self.table
            transaction = table.transaction()
            try:
                _append(transaction, table.io, tables, evolve=evolve)
            except (ValueError, ValidationError) as error:
                raise SchemaError(f"rows can't be written to {str(self.folder)!r}: {error}") from error
            self._change(transaction)

    def keep_apart(self, keys: KeyFilter) -> None:
        """Let each file that is written hold rows of one key only.

        :raises LayoutError: if no partition spec can see to that.
        """
        with translate_errors(f"table {str(self.folder)!r}", "written"):
            transaction = self.table.transaction()
            keep_apart(transaction, keys)
            self._change(transaction)

    def _change(self, transaction: Transaction) -> None:
        self.replace_metadata(transaction.table_metadata)

    def let_insert(self) -> None:
        """Let statements of SQL insert rows, whose columns they tell by their places."""
        metadata = self.table.metadata
        properties = {name: value for name, value in metadata.properties.items() if name != _ANY_COLUMNS}
        if properties != metadata.properties:
            self.replace_metadata(metadata.model_copy(update={"properties": properties}))

    def replace_metadata(self, metadata: TableMetadata) -> None:
        """Let it be the table that *metadata* tells of."""
        before = _FIRST if self._known is None else self._known[0]
        self.with_metadata(form_of(metadata), before + 1)

    def files(self) -> tuple[DataFile, ...]:
        """What was written; without files that hold no row, of which nobody can say whose they are.

        :raises ResultError: if rows were deleted, too.
        """
        return self._files(self.table)

    def _files(self, table: Table) -> tuple[DataFile, ...]:
        snapshot = table.current_snapshot()
        spec = table.specs()[int(table.metadata.properties[_SPEC])]
        files: list[DataFile] = []
        with translate_errors(f"table {str(self.folder)!r}", "read"):
            for manifest in all_manifests_of(snapshot, table.io):
                if manifest.content is not ManifestContent.DATA:
                    raise ResultError(
                        f"the job deleted rows in {str(self.folder)!r}; expected it to append what the partition is to"
                        " hold, and nothing else"
                    )
                entries = entries_of(manifest, table.io)
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
        table = self.table
        location = table.metadata.properties[_LOCATION]
        return dict(sorted((below(location, file.file_path), file) for file in self._files(table)))


def _append(transaction: Transaction, io: FileIO, tables: Sequence[pa.Table], *, evolve: bool) -> None:
    """Write each of *tables* to files of its own, and append them."""
    for rows in {rows.schema: rows for rows in tables}.values():
        if evolve:
            transaction.update_schema().union_by_name(rows.schema).commit()
        transaction.append(rows if len(tables) == 1 else rows.slice(0, 0))  # which sees whether its columns fit
    if len(tables) > 1:
        with transaction.update_snapshot().fast_append() as snapshot:
            for file in write_files(transaction.table_metadata, io, tables):
                snapshot.append_data_file(file)


#: Those that are in use in this process, by folder: what one has written none has to read.
_KNOWN: WeakValueDictionary[str, Shadow] = WeakValueDictionary()


def _under(spec: PartitionSpec, file: DataFile) -> DataFile:
    """*file* with partition values of *spec*, to which :meth:`Shadow.keep_apart` has added others."""
    if file.spec_id != spec.spec_id:
        file[_PARTITION] = Record(*(file.partition[number] for number in range(len(spec.fields))))
        file.spec_id = spec.spec_id
    return file
