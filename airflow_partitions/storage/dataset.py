"""Description of a dataset: what it holds, whatever stores it."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.definitions.definition import check_definition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.column_type import check_type
from airflow_partitions.storage.filesystem.paths import lineage_name
from airflow_partitions.storage.ownership import Ownership, ownership_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from airflow_partitions.storage.layout.layout import Layout
    from airflow_partitions.storage.policy import Maintenance

Fields = tuple[tuple[str, str], ...]
Pairs = tuple[tuple[str, Any], ...]

#: Version of the JSON form.
VERSION = 1


def items(value: Any, expected: str, error: type[InvalidDefinitionError] = InvalidDefinitionError) -> Pairs:
    """The items of a mapping, or pairs as they are.

    :param expected: the argument and what it may be, for the message.
    """
    pairs = tuple(value.items() if isinstance(value, Mapping) else value if isinstance(value, Iterable) else [value])
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise error(expected.format(repr(value)))
    return pairs


def _fields(columns: Mapping[str, Any] | Iterable[tuple[str, str]] | None) -> Fields | None:
    """Columns and types; those of a table begin with its name, as its files do: ``core/delay``."""
    if columns is None:
        return None
    fields: list[tuple[str, str]] = []
    expected = "schema={}; expected each column with its type in Spark, such as {{'carrier': 'string', 'n': 'bigint'}}"
    for name, kind in items(columns, expected):
        fields += [(f"{name}/{n}", k) for n, k in kind.items()] if isinstance(kind, Mapping) else [(name, kind)]
    for name, kind in fields:
        check_type(name, kind)
    return tuple(fields)


def pairs_of(pairs: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> Pairs:
    """The items of a mapping, pairs as they are, or nothing."""
    return tuple(pairs.items() if isinstance(pairs, Mapping) else pairs or ())


def _path(path: str, dataset: Any) -> str:
    return str(dataset.check_path(path))


@attrs.frozen
class Dataset(ABC):
    """What there is to say about a dataset, whatever stores it: nothing of it is looked up.

    :cvar kind: names the class in the JSON form.
    :cvar store: import path of the function that opens the :class:`.Store` of such a dataset.
    :cvar backend: import path of the :class:`.Backend` of such a dataset.
    :ivar path: where it is: the folder of files, or the name of a table in its catalog.
    """

    kind: ClassVar[str]
    store: ClassVar[str]
    backend: ClassVar[str]

    # The types of such converters are not known to mypy.
    path: str = attrs.field(converter=attrs.Converter(_path, takes_self=True))  # type: ignore[misc]
    partition: PartitionDefinition | None = attrs.field(
        default=None, kw_only=True, validator=attrs.validators.optional(lambda _, __, value: check_definition(value))
    )
    schema: Fields | None = attrs.field(default=None, converter=_fields, kw_only=True)
    ownership: Ownership = attrs.field(default=Ownership.OWNED, converter=ownership_of, kw_only=True)
    credentials: Pairs = attrs.field(factory=dict, converter=pairs_of, kw_only=True, repr=False, eq=False)
    pin: str | None = attrs.field(default=None, init=False)

    @classmethod
    def __attrs_init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    @staticmethod
    @abstractmethod
    def check_path(path: Any) -> str:
        """The *path*, if it can be that of such a dataset."""

    # What only some datasets have, as those that don't have it say it.

    @property
    @abstractmethod
    def format(self) -> str:
        """What it is read and written as, such as ``"parquet"``."""

    @property
    def connection(self) -> str | None:
        """The connection of Airflow by which it is reached, if one is."""
        return None

    @property
    def in_folder(self) -> bool:
        """Whether there is a folder at its path, beside which something can be kept."""
        return True

    @property
    def index(self) -> tuple[str, ...]:
        """Columns of which it is remembered which files have which of their values."""
        return ()

    @property
    def options(self) -> Pairs:
        """Options of the format."""
        return ()

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the tables that every partition has."""
        return ()

    @property
    def member(self) -> str | None:
        """The table to be read."""
        return None

    @property
    def maintenance(self) -> Maintenance | None:
        """How upkeep keeps it small, if it does."""
        return None

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Names of the partitions.

        :raises InvalidDefinitionError: if it is bound to no definition.
        """

    @property
    def place(self) -> str:
        """Where it is, among all datasets."""
        return self.path

    @property
    def lineage_name(self) -> tuple[str, str]:
        """Namespace and name by which OpenLineage knows it."""
        return lineage_name(self.path)

    @property
    def key_columns(self) -> Mapping[str, str | None]:
        """The columns of frames that hold the keys, each with its Spark type, if it is known."""
        return {name: column.type for name, column in self.layout.columns.items()} if self.layout.in_frames else {}

    def table(self, name: str) -> Self:
        """One table of each partition, to be read.

        :raises InvalidDefinitionError: if there is no such table.
        """
        raise InvalidDefinitionError(f"storage {self.path!r} has no table {name!r}; expected one of: (it has none)")

    def of(self, definition: PartitionDefinition) -> Self:
        """This storage, bound to the *definition* of what it holds.

        :raises InvalidDefinitionError: if it is bound to another one.
        """
        if self.partition is not None and self.partition != definition:
            raise InvalidDefinitionError(
                f"storage {self.path!r} holds partitions of {self.partition!r}; it can't be that of {definition!r}"
            )
        return attrs.evolve(self, partition=definition).pinned(self.pin)

    def declaring(self, schema: Mapping[str, str] | Iterable[tuple[str, str]]) -> Self:
        """This dataset with these columns and types, whatever it declares, and no index of others."""
        return attrs.evolve(self, schema=schema).pinned(self.pin)

    def whole(self) -> Self:
        """All of each partition, whatever its columns."""
        return attrs.evolve(self, schema=None).pinned(self.pin)

    def pinned(self, pin: str | None) -> Self:
        """This dataset as *pin* says, the path of what :meth:`.Storage.freeze` has kept; ``None``: as it is now."""
        dataset = attrs.evolve(self)
        object.__setattr__(dataset, "pin", pin)
        return dataset

    def path_of(self, key: Key | Any) -> str:
        """Path of the folder of *key*: wrapped, plain, its text or a partition.

        :raises InvalidKeyError: if the definition has no such key.
        """
        return f"{self.path}/{self.layout.directory_of(self.layout.key(key))}"

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`. It holds no credentials."""
        form = {
            "version": VERSION,
            "kind": self.kind,
            "path": self.path,
            "partition": None if self.partition is None else self.partition.to_json(),
            "schema": None if self.schema is None else [list(field) for field in self.schema],
            "ownership": self.ownership.value,
            "pin": self.pin,
            **self._more_to_json(),
        }
        return {name: value for name, value in form.items() if value is not None}

    @abstractmethod
    def _more_to_json(self) -> Mapping[str, Any]:
        """What the JSON form of such a dataset has besides."""

    @classmethod
    def from_json(cls, form: Mapping[str, Any], credentials: Mapping[str, Any] | None = None) -> Self:
        """The dataset whose :meth:`to_json` is *form*, of the class that the form names.

        :param credentials: instead of the connection it names, if it does.
        :raises InvalidDefinitionError: if it is of no known kind.
        """
        if form.get("version", VERSION) != VERSION:  # who writes a form by hand need not say it
            raise InvalidDefinitionError(
                f"storage {form.get('path')!r} has a form of version {form['version']!r}; expected version"
                f" {VERSION}: use one version of airflow-partitions on both sides"
            )
        kind = _kind(form.get("kind"))
        if not issubclass(kind, cls):
            raise InvalidDefinitionError(f"storage of kind {kind.kind!r} is no {cls.__name__}; expected a form of one")
        partition, fields = form.get("partition"), form.get("schema")
        more = kind.arguments_of(form, credentials)
        if partition is not None:
            more["partition"] = from_json(partition)
        dataset = kind(
            form["path"],
            schema=None if fields is None else [(name, type_) for name, type_ in fields],
            ownership=form.get("ownership", Ownership.OWNED),
            **more,
        )
        return dataset.pinned(form.get("pin"))

    @classmethod
    @abstractmethod
    def arguments_of(cls, form: Mapping[str, Any], credentials: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments that such a dataset takes besides."""


#: The classes of datasets by their kind; those of the package are loaded when a form names them.
_KINDS: dict[str, type[Dataset] | str] = {
    "files": "airflow_partitions.storage.files:Files",
    "parquet": "airflow_partitions.storage.formats:Parquet",
    "csv": "airflow_partitions.storage.formats:Csv",
    "json": "airflow_partitions.storage.formats:Json",
    "orc": "airflow_partitions.storage.formats:Orc",
    "avro": "airflow_partitions.storage.formats:Avro",
    "text": "airflow_partitions.storage.formats:Text",
    "iceberg": "airflow_partitions.storage.iceberg.iceberg_dataset:Iceberg",
}


def _kind(name: Any) -> type[Dataset]:
    if name not in _KINDS:
        raise InvalidDefinitionError(f"storage of kind {name!r} is not known; expected one of: {', '.join(_KINDS)}")
    kind = _KINDS[name]
    return pkgutil.resolve_name(kind) if isinstance(kind, str) else kind
