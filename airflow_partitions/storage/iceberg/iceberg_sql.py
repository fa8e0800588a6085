"""Statements by which SQL engines see a table of Iceberg: in its own catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.io.spark_reader import quoted
from airflow_partitions.storage.sql.text import listed, sql_name, sql_text

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

#: The properties of catalogs that pyiceberg and the engines call the same, and that are no secrets.
_SAME = ("warehouse", "scope", "oauth2-server-uri", "s3.endpoint", "s3.path-style-access", "client.region")
#: Backends of SQLAlchemy, with the classes of their JDBC drivers; Trino reaches those that have a server.
_DRIVERS = {"postgresql": "org.postgresql.Driver", "mysql": "com.mysql.cj.jdbc.Driver"}


@attrs.frozen
class _Catalog:
    """What engines are told of a catalog.

    :ivar name: its name; a SQL catalog has it in its rows.
    :ivar kind: ``"rest"``, ``"sql"``, …
    :ivar uri: its address, without a password.
    :ivar user: who may see a database.
    :ivar properties: what else is no secret.
    :ivar left: names of the properties that are not shown.
    """

    name: str
    kind: str
    uri: str | None
    user: str | None
    properties: Mapping[str, str]
    left: tuple[str, ...]

    @classmethod
    def of(cls, dataset: Iceberg) -> _Catalog:
        """The catalog of *dataset*."""
        from airflow_partitions.storage.iceberg.table.open import reference_to

        properties = reference_to(dataset).properties
        kind, uri, user, left = properties.get("type", "rest"), properties.get("uri"), None, []
        if kind == "sql" and uri is not None:
            from sqlalchemy.engine import make_url

            url = make_url(uri)
            uri, user = _jdbc(url, dataset), url.username
            left += ["password"] if url.password else []
        left += sorted(properties.keys() - {*_SAME, "type", "uri"})
        same = {name: properties[name] for name in _SAME if name in properties}
        return cls(dataset.catalog, kind, uri, user, same, tuple(left))

    def note(self, where: str) -> str:
        """A comment on what is not shown; nothing if all is.

        :param where: it belongs.
        """
        if not self.left:
            return ""
        return f"-- Not shown, and yours to add {where}: {', '.join(self.left)}\n"


def _jdbc(url: URL, dataset: Iceberg) -> str:
    """The address of a database as Java says it, without who may see it."""
    backend = url.get_backend_name()
    if backend == "sqlite":
        return f"jdbc:sqlite:{url.database}"
    if backend not in _DRIVERS:
        raise InvalidDefinitionError(
            f"catalog {dataset.catalog!r} of table {dataset.path!r} is in {backend!r}, whose address in Java is not"
            f" known here; expected one in sqlite, {', '.join(_DRIVERS)}, or a REST catalog"
        )
    place = url.host if url.port is None else f"{url.host}:{url.port}"
    return f"jdbc:{backend}://{place}/{url.database}"


def iceberg_statements(dataset: Iceberg, table: str, engine: str) -> Iterator[str]:
    """The statements by which *engine* sees *dataset* as *table*, each without its end.

    :raises InvalidDefinitionError: if it can't.
    :raises StorageError: if the connection can't be looked up, or the table not be reached.
    """
    return _ENGINES[engine](dataset, table)


def _spark(dataset: Iceberg, table: str) -> Iterator[str]:
    catalog = _Catalog.of(dataset)
    prefix = f"spark.sql.catalog.{catalog.name}"
    kind = "jdbc" if catalog.kind == "sql" else catalog.kind
    settings = {"type": kind, "uri": catalog.uri, **catalog.properties}
    if kind == "jdbc":
        settings |= {"jdbc.schema-version": "V1", "jdbc.user": catalog.user}
    yield f"{catalog.note(f'as {prefix}.…')}{_set(prefix, 'org.apache.iceberg.spark.SparkCatalog')}"
    for name, value in settings.items():
        if value is not None:
            yield _set(f"{prefix}.{name}", value)
    if table != f"{catalog.name}.{dataset.path}":
        if "." in table:
            raise InvalidDefinitionError(
                f"table {table!r} is not where {dataset.path!r} is; expected a name without dots, for a view of the"
                f" session, or {catalog.name}.{dataset.path} for the table itself"
            )
        place = ".".join(map(quoted, (catalog.name, *dataset.path.split("."))))
        yield f"CREATE OR REPLACE TEMPORARY VIEW {quoted(table)} AS TABLE {place}"


def _set(name: str, value: str) -> str:
    return f"SET {quoted(name)}={quoted(value)}"


def _duckdb(dataset: Iceberg, table: str) -> Iterator[str]:
    catalog = _Catalog.of(dataset)
    view = f"CREATE OR REPLACE VIEW {'.'.join(map(sql_name, table.split('.')))} AS SELECT * FROM"
    yield "INSTALL iceberg"
    yield "LOAD iceberg"
    if catalog.kind == "rest":
        warehouse = sql_text(catalog.properties.get("warehouse", ""))
        note = catalog.note("by CREATE SECRET (TYPE iceberg, …)")
        endpoint = sql_text(catalog.uri or "")
        yield f"{note}ATTACH IF NOT EXISTS {warehouse} AS {sql_name(catalog.name)} (TYPE iceberg, ENDPOINT {endpoint})"
        yield f"{view} {'.'.join(map(sql_name, (catalog.name, *dataset.path.split('.'))))}"
        return
    from airflow_partitions.storage.iceberg.table.open import open_table
    from airflow_partitions.storage.iceberg.table.paths import plain

    # DuckDB asks REST catalogs only: of others it sees the table as it is now.
    yield f"{view} iceberg_scan({sql_text(plain(open_table(dataset).metadata_location))})"


def _trino(dataset: Iceberg, table: str) -> Iterator[str]:
    catalog = _Catalog.of(dataset)
    name, _, path = table.partition(".")
    if path != dataset.path:
        raise InvalidDefinitionError(
            f"table {table!r} is not where {dataset.path!r} is; expected it in a catalog of Trino, such as"
            f" '{catalog.name}.{dataset.path}'"
        )
    uri = catalog.uri or ""
    if catalog.kind == "rest":
        properties = {"iceberg.catalog.type": "rest", "iceberg.rest-catalog.uri": uri}
        if "warehouse" in catalog.properties:
            properties["iceberg.rest-catalog.warehouse"] = catalog.properties["warehouse"]
    elif catalog.kind == "sql" and (driver := _DRIVERS.get(uri.split(":")[1])) is not None:
        place = "iceberg.jdbc-catalog"
        properties = {
            "iceberg.catalog.type": "jdbc",
            f"{place}.catalog-name": catalog.name,
            f"{place}.driver-class": driver,
            f"{place}.connection-url": uri,
            f"{place}.default-warehouse-dir": catalog.properties.get("warehouse", ""),
            **({} if catalog.user is None else {f"{place}.connection-user": catalog.user}),
        }
    else:
        raise InvalidDefinitionError(
            f"catalog {catalog.name!r} of table {dataset.path!r} is of type {catalog.kind!r} ({uri or 'no address'}),"
            f" which Trino is not told of here; expected a REST catalog, or one in {' or '.join(_DRIVERS)}"
        )
    clauses = (f"{sql_name(key)} = {sql_text(value)}" for key, value in properties.items())
    note = catalog.note("as Trino calls them")
    yield f"{note}CREATE CATALOG IF NOT EXISTS {sql_name(name)} USING iceberg\nWITH {listed(clauses)}"
    yield f"DESCRIBE {'.'.join(map(sql_name, (name, *path.split('.'))))}"


#: What each engine is told about a table of Iceberg.
_ENGINES: Mapping[str, Callable[[Iceberg, str], Iterator[str]]] = {
    "spark": _spark,
    "duckdb": _duckdb,
    "trino": _trino,
}
