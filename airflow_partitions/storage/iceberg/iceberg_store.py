"""Partitions of a table of Iceberg: its snapshots say which files are theirs."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import InvalidDefinitionError, MissingInputError, ResultError
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.iceberg.table.announced import withdraw
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.columns import arrow_schema, spark_columns
from airflow_partitions.storage.iceberg.table.contents import Contents
from airflow_partitions.storage.iceberg.table.describe import describe
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.maintenance import orphans
from airflow_partitions.storage.iceberg.table.new_table import FORMAT, make_table
from airflow_partitions.storage.iceberg.table.open import reference_to
from airflow_partitions.storage.iceberg.table.paths import plain
from airflow_partitions.storage.iceberg.table.pin import pinned
from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles
from airflow_partitions.storage.iceberg.table.publish import Publisher, WrittenFiles
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.iceberg.table.snapshots import last_number
from airflow_partitions.storage.iceberg.table.spec_fit import misfit
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.stores.folders import accepts
from airflow_partitions.storage.stores.last_commit import locked
from airflow_partitions.storage.stores.leftovers import leftovers
from airflow_partitions.storage.stores.staging import STAGING, Staging, claim
from airflow_partitions.storage.stores.store import Limits, Store

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.store import Accept

_log = logging.getLogger(__name__)


@attrs.frozen
class IcebergStore(Store):
    """The partitions of a table of Iceberg.

    Each commit is one snapshot on the main branch. Its summary says what each partition says about itself.

    :ivar table: the table.
    :ivar layout: its directories name the partitions; there are no such folders.
    :ivar columns: dimension to the column of the table that holds it.
    :ivar schema: column to Spark type, as declared.
    :ivar create: whether the table is made on first use.
    :ivar pin: folder of what the table held at one moment, which is read then.
    :ivar read_only: whether it belongs to someone else.
    """

    table: TableReference
    layout: Layout
    columns: Mapping[str, str]
    schema: Mapping[str, str] | None = None
    create: bool = False
    pin: str | None = None
    read_only: bool = False
    #: Where the table was when it was first looked at.
    _locations: list[str] = attrs.field(factory=list, init=False, repr=False, eq=False)
    #: The staging tables of the try at hand, so that they are known as long as it goes on.
    _shadows: list[Shadow] = attrs.field(factory=list, init=False, repr=False, eq=False)
    #: Names of what was written to these and is not published.
    _withheld: set[str] = attrs.field(factory=set, init=False, repr=False, eq=False)

    @property
    def root(self) -> str:  # type: ignore[override]
        """Location of the table; its name, as long as there is none."""
        if not self._locations:
            with suppress(MissingInputError):
                self._find()
        return self._locations[0] if self._locations else self.table.name

    @property
    def bookkeeping(self) -> Location:
        """Folder of all that is not data."""
        return bookkeeping(at(self.root, self.table.credentials))

    def version(self) -> int:
        table = self._find()
        return 0 if table is None else last_number(table.metadata)

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PlannedFiles]:
        table = self._find()
        if table is None:
            return {}
        keys = KeyFilter.of(self.layout, self.columns, table.schema())
        with translated_errors(f"table {self.table.name!r}", "read"):
            return Contents(table, keys).read(directories, accept and partial(accepts, accept=accept))

    def listed(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles]:
        return {directory: planned.unplanned for directory, planned in self.snapshot(directories, accept).items()}

    def recorded_schema(self) -> Mapping[str, str]:
        table = self._find()
        return {} if table is None else spark_columns(table.schema())

    def check_writable(self) -> None:
        if self.read_only:
            raise InvalidDefinitionError(
                f"table {self.table.name!r} has ownership='read-only', so it is never written; expected a table of your"
                " own, or ownership='owned'"
            )
        if self.pin is not None:
            raise InvalidDefinitionError(
                f"table {self.table.name!r} is read as {self.pin!r} has kept it, so it is not written; expected it as"
                " it is now"
            )
        self.table.check_writable()

    def staging(self, attempt: Attempt, directory: str = "") -> Staging:
        self.check_writable()
        table = self._made()
        if table.format_version != FORMAT:
            remedy = f"ALTER TABLE {self.table.name} SET TBLPROPERTIES ('format-version' = '{FORMAT}') makes it so"
            if table.format_version > FORMAT:
                remedy = "no table goes back to an older one; write to another table, and read this one"
            raise InvalidDefinitionError(
                f"table {self.table.name!r} has format version {table.format_version}; expected {FORMAT} to be"
                f" written: {remedy}"
            )
        keys = KeyFilter.of(self.layout, self.columns, table.schema())
        if (reason := misfit(table.spec(), keys)) is not None:
            _log.warning("table %s: %s", self.table.name, reason)
        with translated_errors(f"table {self.table.name!r}", "written"):
            staging = self.place_of(attempt, directory, last_number(table.metadata))
            claim(staging.folder, attempt)
            shadow = Shadow.make(
                table,
                staging.data,
                attempt.name,
                key_columns=self.columns.values(),
                schema=None if self.schema is None else arrow_schema(self.schema),
            )
        self._shadows.append(shadow)
        return staging

    def place_of(self, attempt: Attempt, directory: str = "", base: int | None = None) -> Staging:
        return Staging(self.bookkeeping / STAGING / attempt.name, base=base)

    def staged(self, folder: Location, members: Sequence[str] = ("",)) -> Mapping[str, int]:
        with translated_errors(f"table {self.table.name!r}", "read"):
            return self._shadow(folder).names

    def _shadow(self, folder: Location) -> Shadow:
        shadow = Shadow.open(folder, self.table.properties)
        if shadow not in self._shadows:
            self._shadows.append(shadow)
        return shadow

    def written_to(self, folder: Location, directory: str) -> Location:
        return folder  # one table has them all

    def withhold(self, files: Collection[str]) -> None:
        self._withheld.update(files)

    def discard(self, staging: Staging) -> None:
        # As long as its staging place is there nobody else writes as this try: what no snapshot names, none will.
        for file in orphans(self.table, datetime.max.replace(tzinfo=UTC), [staging.folder.name]):
            remove(file)
        withdraw(self.table, staging.folder)
        super().discard(staging)

    def expired(self, limits: Limits) -> list[Location]:
        if self._find() is None:
            return []
        places = leftovers(self.bookkeeping, self.bookkeeping / "log", limits.staged)
        # To look for files of all tries would be to read all that the table says, after each publish.
        tries = {place.name for place in places if place.parent == self.bookkeeping / STAGING}
        return [*places, *orphans(self.table, limits.staged, tries)]

    def clear_away(self, location: Location) -> None:
        if location.parent == self.bookkeeping / STAGING:
            withdraw(self.table, location)
        super().clear_away(location)

    def _committed(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> list[PartitionMetadata | None]:
        self.check_writable()
        written = self._written(changes)
        publisher = Publisher(self.table, self.layout, self.columns, attempt, base, rule)
        with self._one_at_a_time():
            published = publisher.publish(changes, written)
        for name in self._withheld:  # no snapshot will name them, and nobody would look for them
            remove(at(f"{self.root}/{name}", self.table.credentials))
        return published

    def _written(self, changes: Sequence[Change]) -> dict[str, WrittenFiles]:
        """What *changes* have written, by directory.

        :raises ResultError: if it is not what their writers said.
        """
        folders: dict[Location, list[Change]] = {}
        for change in changes:
            if change.files and change.folder is not None:
                folders.setdefault(change.folder, []).append(change)
        written: dict[str, WrittenFiles] = {}
        for folder, own in folders.items():
            shadow = self._shadow(folder)
            files = {name: file for name, file in shadow.files_by_name().items() if name not in self._withheld}
            sizes = {name: file.file_size_in_bytes for name, file in files.items()}
            expected = {name: size for change in own for name, size in change.files.items()}
            if sizes != expected:
                missing, extra = sorted(expected.keys() - files.keys()), sorted(files.keys() - expected.keys())
                raise ResultError(
                    f"the files in {folder} are not those the job wrote: missing {missing[:3]}, unexpected {extra[:3]}"
                )
            schema = shadow.table.schema()
            for change in own:
                written[change.directory] = WrittenFiles(tuple(files[name] for name in change.files), schema)
        return written

    def _described(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> bool:
        with self._one_at_a_time():
            return describe(self.table, self.layout, self.columns, directory, content, metadata)

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Let those who publish from this machine wait for each other, rather than do it again: it is quicker."""
        place = self.bookkeeping
        if isinstance(place, Path):
            place.mkdir(parents=True, exist_ok=True)
            with locked(place):
                yield
        else:
            yield

    def _find(self) -> Table | None:
        """The table as it is read, ``None`` if there is none, and it is made when it is written."""
        table: Table | None
        if self.pin is not None:
            table = pinned(at(self.pin, self.table.credentials), self.table.properties)
        else:
            table = self.table.find() if self.create else self.table.load()
        if table is not None and not self._locations:
            self._locations.append(plain(table.location()).rstrip("/"))
        return table

    def _made(self) -> Table:
        """The table, which is made if there is none."""
        table = self._find()
        if table is not None:
            return table
        if self.schema is None:
            raise InvalidDefinitionError(
                f"table {self.table.name!r} can't be made: nobody said which columns it has; expected schema={{…}},"
                " each column with its type in Spark"
            )
        return make_table(self.table, self.schema, self.layout, self.columns)


def store_of_table(dataset: Iceberg) -> IcebergStore:
    """The store of a *dataset* that is a table of Iceberg, as it is now or as it is pinned.

    :raises StorageError: if its catalog is a connection that can't be looked up.
    """
    return IcebergStore(
        reference_to(dataset),
        dataset.layout,
        dataset.columns,
        None if dataset.schema is None else dict(dataset.schema),
        create=dataset.create,
        pin=dataset.pin,
        read_only=dataset.ownership is Ownership.READ_ONLY,
    )
