"""Partitions stored in a table of Iceberg: where it is, and which of its columns hold the keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.storage.dataset import Pairs, items
from airflow_partitions.storage.iceberg.default_catalog import DEFAULT_CATALOG
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.policy import Maintenance
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from typing_extensions import Self


def _partition_on(value: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> Pairs | None:
    if value is None:
        return None
    expected = (
        "partition_on={}; expected the column of the table for each dimension, such as {{'date': 'departed_at',"
        " 'airport': 'origin'}}, or nothing for columns called like the dimensions"
    )
    return items(value, expected, LayoutError)


class TableLayout(Layout):
    """A name for each key, as if it had a folder: ``date=2013-02-08/airport=EWR``.

    The columns of the table that hold the keys are read with its others.
    """

    in_frames = False


@attrs.frozen
class Iceberg(Storage):
    """A table of Iceberg, in which the rows of each key are a partition.

    .. code-block:: python

        days = PartitionByInterval("@daily", name="date", timezone="America/New_York")
        delays = Iceberg("flights.delays", catalog="lake", partition=days, partition_on={"date": "departed_at"})
        delays.read("2013-02-08", as_="polars")

    A key is a condition on columns of the table, whatever its partition spec is: ``departed_at`` from midnight to
    midnight in New York. A partition is published as one snapshot of the table, which replaces the files of the key and
    no others; so no file may hold rows of several keys. That is so if the spec has ``hours(departed_at)``, or
    whatever else keeps their rows apart.

    The functions of assets return the columns of the table. A column that holds the keys may be left out: it gets the
    value of the segment, or the start of the interval.

    :param path: the table, with its namespace: ``"flights.delays"``.
    :param catalog: Airflow's connection to the catalog, of type ``iceberg``: the host is the address of a REST catalog,
        login and password are its credentials, extra are more of pyiceberg's properties. A SQL catalog is told by
        extra alone: ``{"type": "sql", "uri": "postgresql+psycopg2://…"}``. It is looked up where the table is used.
    :param partition: definition of the stored partitions. An asset's own storage gets it from its decorator; an input
        without one is read as a whole.
    :param partition_on: dimension to the column of the table that holds it: a timestamp, date or text for times, a
        text or number for segments. Default: the column called like the dimension.
    :param schema: column to Spark type of the table, for ``create``. Without it the schema is that of the table.
    :param create: make the table when it is first written, with a partition spec that keeps the keys apart.
    :param maintenance: how upkeep keeps the table small; without it upkeep leaves the table alone.
    :param ownership: ``"read-only"`` for a table that others write. In one that is ``"owned"`` others may write too:
        what they wrote of a key is replaced when that is published, unless they did so after its run had begun.
    :param credentials: instead of a connection: pyiceberg's properties of the catalog. They are never part of the JSON
        form.
    :ivar pin: path of the folder with the table's metadata as it was: see :meth:`.Storage.freeze`.
    :raises LayoutError: if a dimension has no column.
    :raises InvalidDefinitionError: if the table has no namespace, or no columns to be made with.
    """

    kind: ClassVar[str] = "iceberg"
    store: ClassVar[str] = "airflow_partitions.storage.iceberg.iceberg_store:store_of_table"
    backend: ClassVar[str] = "airflow_partitions.storage.iceberg.iceberg_backend:IcebergBackend"

    catalog: str = attrs.field(default=DEFAULT_CATALOG, kw_only=True)
    partition_on: Pairs | None = attrs.field(default=None, converter=_partition_on, kw_only=True)
    create: bool = attrs.field(default=False, kw_only=True)
    maintenance: Maintenance | None = attrs.field(
        default=None,
        kw_only=True,
        validator=attrs.validators.optional(attrs.validators.instance_of(Maintenance)),
    )

    @staticmethod
    def check_path(path: Any) -> str:
        if not isinstance(path, str) or len(parts := path.split(".")) < 2 or not all(parts):
            raise InvalidDefinitionError(f"table {path!r} has no namespace; expected one such as 'db.delays'")
        return path

    def __attrs_post_init__(self) -> None:
        if self.ownership not in (Ownership.OWNED, Ownership.READ_ONLY):
            raise InvalidDefinitionError(
                f"storage {self.path!r}: ownership={self.ownership.value!r} is about files; expected 'read-only' for a"
                " table that others write, or 'owned', where rows of others are replaced with those of their key"
            )
        if self.maintenance is not None and self.ownership is Ownership.READ_ONLY:
            raise InvalidDefinitionError(
                f"storage {self.path!r} has ownership='read-only': others look after it; expected no maintenance="
            )
        if self.create and self.schema is None:
            raise InvalidDefinitionError(
                f"storage {self.path!r}: create=True needs the columns of the table; expected schema={{…}}, with those"
                " that hold the keys"
            )
        if self.partition is not None:
            self._check_columns()

    def _check_columns(self) -> None:
        if set(self.columns) != set(self.layout.definition.dimensions):
            raise LayoutError(
                f"storage {self.path!r}: partition_on={dict(self.partition_on or ())}; expected a column of the table"
                f" for each of the dimensions {', '.join(self.layout.definition.dimensions)}"
            )
        if self.schema is not None and (missing := set(self.columns.values()) - {name for name, _ in self.schema}):
            raise LayoutError(
                f"storage {self.path!r}: the column {min(missing)!r} of partition_on= is not in the schema"
                f" {dict(self.schema)}; expected all columns of the table, also those that hold the keys"
            )

    def whole(self) -> Self:
        return self

    @property
    def format(self) -> str:
        return "iceberg"

    @property
    def connection(self) -> str | None:
        return None if self.credentials else self.catalog

    @property
    def in_folder(self) -> bool:
        return False

    @cached_property
    def layout(self) -> TableLayout:
        """Names of the partitions."""
        if self.partition is None:
            raise InvalidDefinitionError(
                f"storage {self.path!r} has no partitions; expected {type(self).__name__}(…, partition=…), or"
                " .of(definition)"
            )
        return TableLayout(self.partition)

    @property
    def columns(self) -> dict[str, str]:
        """Dimension to the column of the table that holds it."""
        return {name: name for name in self.layout.definition.dimensions} | dict(self.partition_on or ())

    @property
    def place(self) -> str:
        """The table, in its catalog."""
        return f"{self.catalog}://{self.path}"

    @property
    def lineage_name(self) -> tuple[str, str]:
        """Namespace and name by which OpenLineage knows it: those of the catalog, which is not asked."""
        return f"{self.format}://{self.catalog}", self.path

    @property
    def key_columns(self) -> Mapping[str, str | None]:
        """The columns of the table that hold the keys, each with its Spark type, if it is known."""
        return {name: dict(self.schema or ()).get(name) for name in self.columns.values()}

    def _more_to_json(self) -> Mapping[str, Any]:
        return {
            "catalog": self.catalog,
            # Lists, because the order of columns matters and JSON objects have none.
            "partition_on": None if self.partition_on is None else [list(pair) for pair in self.partition_on],
            "create": self.create or None,
            "maintenance": None if self.maintenance is None else self.maintenance.to_json(),
        }

    @classmethod
    def arguments_of(cls, form: Mapping[str, Any], credentials: Mapping[str, Any] | None) -> dict[str, Any]:
        on, maintenance = form.get("partition_on"), form.get("maintenance")
        return {
            "catalog": form.get("catalog", DEFAULT_CATALOG),
            "partition_on": None if on is None else [(name, column) for name, column in on],
            "create": form.get("create", False),
            "maintenance": None if maintenance is None else Maintenance.from_json(maintenance),
            "credentials": credentials or {},
        }
