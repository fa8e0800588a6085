"""Staging tables that the catalog knows, for engines that reach a table by nothing but its name there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError

from airflow_partitions.core.errors import InvalidDefinitionError, ResultError
from airflow_partitions.storage.filesystem.filesystem import read, write
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.shadow import Shadow

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: Holds the name of the table of a try, in its staging place.
_NAME = "table"


def announce(table: TableReference, place: Location, shadow: Shadow) -> str:
    """Let the catalog of *table* know its *shadow*; the name that it has there, with its namespace.

    :param place: the staging place of the try, which keeps the name.
    :raises InvalidDefinitionError: if such a catalog takes in no table that is made already.
    :raises StorageError: if it can't be reached, or says no.
    """
    own = attrs.evolve(table, name=f"{table.name}__{place.name.replace('-', '_')}")
    write(place / _NAME, own.name.encode())  # before the catalog has it: who clears the place away looks here
    catalog = own.open()
    with translated_errors(f"table {own.name!r} of catalog {own.catalog!r}", "made"):
        shadow.let_insert()
        try:
            catalog.register_table(own.name, shadow.table.metadata_location)
        except TableAlreadyExistsError:
            pass  # this try has asked before
        except NotImplementedError as error:
            raise InvalidDefinitionError(
                f"catalog {own.catalog!r} of table {table.name!r} takes in no table that is made already; expected one"
                " of type 'rest', 'sql', 'glue' or 'hive', or a job that writes to {{ partition.staging }}"
            ) from error
    return own.name


def recall(table: TableReference, place: Location, shadow: Shadow) -> None:
    """Let *shadow* be what was written to it by its name, if it has one, which is over then.

    :raises ResultError: if somebody has put another table in its place.
    :raises StorageError: if the catalog can't be reached.
    """
    if (own := _announced(table, place)) is None or (written := own.find()) is None:
        return
    if written.metadata.table_uuid != shadow.table.metadata.table_uuid:
        raise ResultError(
            f"table {own.name!r} was dropped and made anew; expected the job to append to the one that is there, by"
            f" INSERT INTO {own.name}"
        )
    shadow.replace_metadata(written.metadata)
    withdraw(table, place)


def withdraw(table: TableReference, place: Location) -> None:
    """Let the catalog forget the table of the try whose staging place is *place*. No file is removed.

    :raises StorageError: if it can't be reached.
    """
    if (own := _announced(table, place)) is None:
        return
    catalog = own.open()
    what = f"table {own.name!r} of catalog {own.catalog!r}"
    with translated_errors(what, "dropped"), suppress(NoSuchTableError):  # it may be forgotten already
        catalog.drop_table(own.name)


def _announced(table: TableReference, place: Location) -> TableReference | None:
    name = read(place / _NAME)
    return None if name is None else attrs.evolve(table, name=name.decode())
