"""Description of a dataset that is a table: where it is, and which of its columns hold the keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.storage.dataset import Dataset, Pairs, items
from airflow_partitions.storage.layout.table_layout import TableLayout
from airflow_partitions.storage.ownership import Ownership

if TYPE_CHECKING:
    from typing_extensions import Self

#: Airflow's own name of the connection to a catalog.
DEFAULT_CATALOG = "iceberg_default"


def _partition_on(value: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> Pairs | None:
    if value is None:
        return None
    expected = (
        "partition_on={}; expected the column of the table for each dimension, such as {{'date': 'departed_at',"
        " 'airport': 'origin'}}, or nothing for columns called like the dimensions"
    )
    return items(value, expected, LayoutError)


def _positive(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, timedelta) or value <= timedelta(0):
        raise InvalidDefinitionError(f"{field.name}={value!r}; expected a time above zero, such as timedelta(days=7)")


@attrs.frozen(kw_only=True)
class Maintenance:
    """How a table is kept small: by :func:`maintain_table`, and once a day by upkeep.

    :param keep_snapshots: how long snapshots are kept that no tag and no branch names; longer than any job takes, since
        who began before the last one that was forgotten has to begin again.
    :param keep_files: how long files that no snapshot names are left alone; longer than any job takes.
    :param compact: whether the small files of each partition are merged, too: see :func:`compact`.
    :raises InvalidDefinitionError: if a time is not above zero.
    """

    keep_snapshots: timedelta = attrs.field(default=timedelta(days=7), validator=_positive)
    keep_files: timedelta = attrs.field(default=timedelta(days=7), validator=_positive)
    compact: bool = False

    def to_json(self) -> dict[str, Any]:
        """JSON form, times in seconds."""
        times = {name: getattr(self, name).total_seconds() for name in ("keep_snapshots", "keep_files")}
        return {**times, "compact": self.compact}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Maintenance:
        """The inverse of :meth:`to_json`."""
        times = {name: timedelta(seconds=form[name]) for name in ("keep_snapshots", "keep_files")}
        return cls(**times, compact=form["compact"])


@attrs.frozen
class TableDataset(Dataset):
    """What there is to say about a table. Its parameters are those of :class:`.Iceberg`."""

    store: ClassVar[str] = "airflow_partitions.storage.stores.open_table:store_of_table"

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
