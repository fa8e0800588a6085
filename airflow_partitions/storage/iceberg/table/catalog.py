"""References to tables: by the name of a table in a catalog."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import attrs
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    CommitStateUnknownException,
    ForbiddenError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NotInstalledError,
    OAuthError,
    RESTError,
    ServerError,
    ServiceUnavailableError,
    UnauthorizedError,
    ValidationError,
)
from pyiceberg.table import Table
from requests.exceptions import RequestException
from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError, SQLAlchemyError

from airflow_partitions.core.errors import (
    DeniedError,
    InvalidDefinitionError,
    MissingInputError,
    StorageError,
    UnreachableError,
)
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.iceberg.table.damage import damage_told
from airflow_partitions.storage.iceberg.table.static_metadata import read_static, version_of

#: What commits one table at a time, and is reached without a JVM.
_KINDS = ("rest", "sql", "glue", "hive", "dynamodb", "bigquery", "in-memory")
#: What is found by the names of folders, and only read: of two writers at once one would be lost.
_READ = "hadoop"
#: pyiceberg's names of what reaches S3, and fsspec's.
_S3 = {"s3.access-key-id": "key", "s3.secret-access-key": "secret", "s3.session-token": "token"}


#: What is raised for metadata that is none.
_UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, EOFError, SystemError, ValidationError)


def _properties(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if value is not None}


@attrs.frozen
class TableReference:
    """A table of Iceberg in a catalog.

    :ivar name: the table with its namespace: ``"db.delays"``.
    :ivar catalog: name of the catalog. Several may share one SQL database, each row tells whose it is.
    :ivar properties: pyiceberg's properties of the catalog, such as ``uri``; also secrets.
    """

    name: str
    catalog: str
    properties: Mapping[str, str] = attrs.field(factory=dict, converter=_properties, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if len(parts := self.name.split(".")) < 2 or not all(parts):
            raise InvalidDefinitionError(f"table {self.name!r} has no namespace; expected one such as 'db.delays'")

    @property
    def namespace(self) -> str:
        """The namespace of the table."""
        return self.name.rpartition(".")[0]

    @property
    def credentials(self) -> dict[str, Any]:
        """What fsspec reaches the files of the table with."""
        options: dict[str, Any] = {ours: self.properties[name] for name, ours in _S3.items() if name in self.properties}
        if endpoint := self.properties.get("s3.endpoint"):
            options["endpoint_url"] = endpoint
        if region := self.properties.get("s3.region"):
            options["client_kwargs"] = {"region_name": region}
        return options

    def open(self) -> Catalog:
        """The catalog.

        :raises InvalidDefinitionError: if its properties make no sense, or it is one that is only read.
        :raises StorageError: if it can't be reached.
        """
        self.check_writable()
        options = tuple(sorted(self.properties.items()))
        with self._translated("reached"):
            try:
                return _opened(self.catalog, options)
            except (ValueError, TypeError) as error:
                raise InvalidDefinitionError(
                    f"catalog {self.catalog!r} of table {self.name!r} can't be opened: {error}; expected properties"
                    " of a catalog, such as uri='postgresql+psycopg2://…' or uri='https://…'"
                ) from error

    @property
    def is_writable(self) -> bool:
        """Whether anybody can commit to the catalog without a JVM."""
        return self._kind in _KINDS

    @property
    def _kind(self) -> str:
        return self.properties.get("type", _KINDS[0])

    def check_writable(self) -> None:
        """Refuse to be written to, if nobody can commit to the catalog without a JVM.

        :raises InvalidDefinitionError: if so.
        """
        if not self.is_writable:
            raise InvalidDefinitionError(
                f"catalog {self.catalog!r} of table {self.name!r} is of type {self._kind!r}, to which nobody commits"
                f" without a JVM; expected type 'rest', or 'sql' for what Spark calls a JDBC catalog ({_READ!r} is"
                " only read)"
            )

    def load(self) -> Table:
        """The table as it is now.

        :raises MissingInputError: if there is none of this name; the message has the nearest.
        :raises InvalidDefinitionError: if the catalog makes no sense.
        :raises StorageError: if the catalog can't be reached, or the metadata not be read.
        """
        table = self.find()
        if table is None:
            raise MissingInputError(
                f"there is no table {self.name!r} in catalog {self.catalog!r}{self._nearest()}; expected it to be made"
                " first, or create=True"
            )
        return table

    def find(self) -> Table | None:
        """The table as it is now, ``None`` if there is none."""
        if self._kind == _READ:
            return self._by_path()
        catalog = self.open()
        with self._translated("loaded"):
            try:
                with damage_told(f"the metadata of table {self.name!r} in catalog {self.catalog!r}", _UNREADABLE):
                    return catalog.load_table(self.name)
            except (NoSuchTableError, NoSuchNamespaceError):
                return None

    def _by_path(self) -> Table | None:
        """The table in the folder that its name means."""
        if (warehouse := self.properties.get("warehouse")) is None:
            raise InvalidDefinitionError(
                f"catalog {self.catalog!r} of table {self.name!r} says no warehouse; expected the folder of its tables"
            )
        folder = at(f"{warehouse.rstrip('/')}/{self.name.replace('.', '/')}", self.credentials)
        with self._translated("loaded"):
            return None if version_of(folder) is None else read_static(folder, self.properties)

    def _nearest(self) -> str:
        try:
            catalog = self.open()
            names = [".".join(each) for space in catalog.list_namespaces() for each in catalog.list_tables(space)]
        except Exception:  # noqa: BLE001 - not every catalog lists, and it is only said to be kind
            return ""
        nearest = get_close_matches(self.name, names, n=1, cutoff=0)
        return f"; nearest: {nearest[0]!r}" if nearest else ", which has none"

    @contextmanager
    def _translated(self, verb: str) -> Iterator[None]:
        with translated_errors(f"table {self.name!r} of catalog {self.catalog!r}", verb):
            yield


@contextmanager
def translated_errors(what: str, verb: str) -> Iterator[None]:
    """Raise errors of catalogs, and of the file systems below, as those of ours; the original is the cause.

    :param what: what it is about.
    :param verb: what can't be done to it.
    """
    try:
        with translate_errors(what, verb):
            try:
                yield
            except RequestException as error:  # which is an OSError, too
                raise ConnectionError(_reason(error)) from error
    except (UnauthorizedError, ForbiddenError, OAuthError, AuthorizationExpiredError) as error:
        raise DeniedError(f"{what} can't be {verb}: {_reason(error)}; expected credentials that allow it") from error
    except NotInstalledError as error:
        raise StorageError(f"{what} can't be {verb}: {_reason(error)}; expected it to be installed") from error
    except (CommitStateUnknownException, ServerError, ServiceUnavailableError, SQLAlchemyError) as error:
        raise UnreachableError(
            f"{what} can't be {verb}: {_reason(error)}; check the catalog's address and the network, and try again"
        ) from error
    except RESTError as error:
        raise StorageError(f"{what} can't be {verb}: {_reason(error)}; try again once that is mended") from error


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:500]


_CATALOGS: dict[tuple[str, tuple[tuple[str, str], ...]], Catalog] = {}


def _opened(name: str, options: tuple[tuple[str, str], ...]) -> Catalog:
    """The catalog, opened once in a process."""
    if (name, options) not in _CATALOGS:
        try:
            _CATALOGS[name, options] = load_catalog(name, **dict(options))
        except (IntegrityError, OperationalError, ProgrammingError) as error:
            if "iceberg_tables" not in str(error):
                raise
            # Another was quicker to make the tables of a catalog that had none.
            _CATALOGS[name, options] = load_catalog(name, **dict(options))
    return _CATALOGS[name, options]


def _forget() -> None:
    """Leave the connections of the parent process alone."""
    for catalog in _CATALOGS.values():
        if (engine := getattr(catalog, "engine", None)) is not None:
            engine.dispose(close=False)
    _CATALOGS.clear()


os.register_at_fork(after_in_child=_forget)
