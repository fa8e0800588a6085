"""Partitioned datasets of files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs

from airflow_partitions.definitions import PartitionAtRuntime, PartitionDefinition, from_json
from airflow_partitions.errors import InvalidDefinitionError, LayoutError
from airflow_partitions.keys import Key
from airflow_partitions.storage.filesystem.paths import check_path
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.layout.layout import Layout
from airflow_partitions.storage.stores.file_store import FilePerKey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
    from airflow_partitions.storage.scan.plan import Where
    from airflow_partitions.storage.scan.stored_partition import StoredPartition

_Columns = tuple[tuple[str, Column], ...]
_Fields = tuple[tuple[str, str], ...]
_Pairs = tuple[tuple[str, Any], ...]

#: How the files belong to someone else.
EXTERNAL = (False, True, "use-existing", "possess-existing")
#: What a dataset says itself, so that an option that says it too is ignored.
_OURS = ("path", "filepath", "basePath")


def _columns(given: Mapping[str, str | Column] | Iterable[tuple[str, str | Column]] | None) -> _Columns | None:
    if given is None:
        return None
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple((name, column if isinstance(column, Column) else Column(column)) for name, column in pairs)


def _fields(given: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> _Fields | None:
    if given is None:
        return None
    return tuple((given.items()) if isinstance(given, Mapping) else given)


def _pairs(given: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> _Pairs:
    return tuple(given.items() if isinstance(given, Mapping) else given or ())


def _options(given: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> _Pairs:
    pairs = _pairs(given)
    if any(name == "versioned" for name, _ in pairs):
        raise InvalidDefinitionError("options={'versioned': …}: partitions have no versions of their own; leave it out")
    if ours := [name for name, _ in pairs if name in _OURS]:
        warnings.warn(
            f"option {ours[0]!r} is ignored: the paths are those of the partitions", UserWarning, stacklevel=4
        )
    return tuple(pair for pair in pairs if pair[0] not in _OURS)


@attrs.frozen
class Files:
    """A folder of Hive-style partition folders with files of one format.

    .. code-block:: python

        days = PartitionByInterval("@daily", name="date")
        delays = Files("/lake/delays", format="csv", partition=days, schema={"carrier": "string", "delay": "double"})
        delays.read(field("date").between("2013-02-01", "2013-03-01"), as_="pandas")

    :param path: absolute path of the folder, or its URL on a file system that fsspec knows (``s3://bucket/delays``).
    :param format: what the files hold; there must be a reader for it: ``"parquet"``, ``"csv"``, ``"json"``, ``"orc"``,
        ``"avro"``, ``"text"``, or one of your own.
    :param partition: definition of the stored partitions. An asset's own storage gets it from its decorator; an input
        without one is read as a whole.
    :param partition_on: partition column to format (text, or :class:`Column` for another type than string), in the
        order of the folders. A format with ``%`` is a strftime format of the time dimension's start in its zone,
        ``"{dimension}"`` is that dimension's text. Default: one text column per dimension, named like it.
    :param schema: column to Spark type of the columns inside the files (``{"origin": "string"}``). Without it the
        schema is that of the first file read.
    :param external: the files belong to someone else: they are read, never written. ``"use-existing"``: partitions may
        be added, but what is there already is never removed; ``"possess-existing"``: what is there becomes ours.
    :param manifest: folder of the log that says which partitions there are. By default ``_manifest`` below *path* where
        folders can't be exchanged or what they hold belongs to others; else the folders themselves tell.
    :param suffix: every file whose name ends with it is a partition, named by its path below *path* without the suffix;
        there are no folders with partition columns then.
    :param find: with *suffix*: what the file system's ``find`` is told, such as ``{"maxdepth": 1}``.
    :param options: options of the format, as Spark calls them (``{"sep": ";"}``).
    :param credentials: arguments of the fsspec file system. Readers get them too, unless ``options`` has
        ``credentials`` of its own (``None``: none at all). They are never part of the JSON form.
    :param conn_id: instead of credentials: Airflow's connection whose file system it lies on. It is looked up where
        files are used, which takes Airflow there.
    :ivar frozen: path of the listing that tells the partitions: see :meth:`freeze`.
    :raises LayoutError: if two keys would share one folder.
    """

    kind: ClassVar[str] = "files"

    path: str = attrs.field(converter=check_path)
    format: str = attrs.field(default="parquet", kw_only=True)
    suffix: str | None = attrs.field(default=None, kw_only=True)
    find: _Pairs = attrs.field(default=(), converter=_pairs, kw_only=True)
    partition: PartitionDefinition | None = attrs.field(kw_only=True)
    partition_on: _Columns | None = attrs.field(default=None, converter=_columns, kw_only=True)
    schema: _Fields | None = attrs.field(default=None, converter=_fields, kw_only=True)
    external: bool | str = attrs.field(default=False, kw_only=True)
    manifest: str | None = attrs.field(default=None, converter=attrs.converters.optional(check_path), kw_only=True)
    options: _Pairs = attrs.field(default=(), converter=_options, kw_only=True)
    conn_id: str | None = attrs.field(default=None, kw_only=True)
    credentials: _Pairs = attrs.field(converter=_pairs, kw_only=True, repr=False, eq=False)
    frozen: str | None = attrs.field(default=None, kw_only=True)

    @partition.default
    def _named(self) -> PartitionDefinition | None:
        return None if self.suffix is None else PartitionAtRuntime("file")

    @credentials.default
    def _connected(self) -> Mapping[str, Any]:
        return {} if self.conn_id is None else {"conn_id": self.conn_id}

    def __attrs_post_init__(self) -> None:
        if self.conn_id is not None and dict(self.credentials) != {"conn_id": self.conn_id}:
            raise InvalidDefinitionError(f"storage {self.path!r}: expected credentials= or conn_id=, not both")
        if self.external not in EXTERNAL:
            raise InvalidDefinitionError(
                f"storage {self.path!r}: external={self.external!r}; expected one of {', '.join(map(repr, EXTERNAL))}"
            )
        if self.partition is None:
            return
        if self.suffix is not None and self.partition_on is not None:
            raise LayoutError(f"storage {self.path!r}: expected suffix= or partition_on=, not both")
        both = {name.lower() for name, _ in self.schema or ()} & {name.lower() for name in self.layout.columns}
        if both and self.layout.in_frames:
            raise LayoutError(
                f"storage {self.path!r}: {sorted(both)} are partition columns and columns of the files; expected one or"
                " the other: leave them out of schema= or rename them in partition_on="
            )

    @cached_property
    def layout(self) -> Layout:
        """Folder names of the partitions."""
        if self.partition is None:
            raise InvalidDefinitionError(
                f"storage {self.path!r} has no partitions; expected {type(self).__name__}(…, partition=…), or"
                " .of(definition)"
            )
        if self.suffix is not None:
            return FilePerKey(self.partition, self.suffix)
        return Layout(self.partition, None if self.partition_on is None else dict(self.partition_on))

    def of(self, definition: PartitionDefinition) -> Self:
        """This storage, bound to the *definition* of what it holds.

        :raises InvalidDefinitionError: if it is bound to another one.
        """
        if self.partition is not None and self.partition != definition:
            raise InvalidDefinitionError(
                f"storage {self.path!r} holds partitions of {self.partition!r}; it can't be that of {definition!r}"
            )
        return attrs.evolve(self, partition=definition)

    def path_of(self, key: Key) -> str:
        """Path of the folder of *key*."""
        return f"{self.path}/{self.layout.directory_of(key)}"

    def exists(self, key: Key | Any) -> bool:
        """Whether there is a partition *key*, be it empty.

        :raises StorageError: if the storage can't be reached.
        """
        return self.get(key) is not None

    def get(self, key: Key | Any) -> StoredPartition | None:
        """The partition *key* (wrapped, plain or its text), ``None`` if it is not stored.

        :raises InvalidKeyError: if the definition has no such key.
        """
        from airflow_partitions.storage.scan.plan import get

        return get(self, key)

    def get_many(self, where: Where = None) -> Mapping[Key, StoredPartition]:
        """The stored partitions that *where* asks for, by key: see :meth:`list`."""
        return {found.key: found for found in self.list(where)}

    def list(self, where: Where = None) -> Iterator[StoredPartition]:
        """The stored partitions that *where* asks for, with their files, sizes and metadata.

        :param where: a :class:`Filter` on dimensions and partition columns, a :class:`Selection`, a key or several.
            Keys that are not stored are left out.
        :raises FilterError: if a part of the filter can't be decided for a partition as a whole.
        """
        from airflow_partitions.storage.scan.plan import list_

        return list_(self, where)

    def load(
        self,
        where: Where = None,
        as_: str | type = "spark",
        *,
        spark: SparkSession | None = None,
        columns: Iterable[str] | None = None,
        full_scan: bool = False,
    ) -> Mapping[str, Callable[[], Any]]:
        """A function for each partition, by the text of its key, which reads it. Nothing is read before it is called.

        The parameters are those of :meth:`read`.
        """
        from airflow_partitions.storage.io.read import load

        return load(self, where, as_, spark=spark, columns=columns, full_scan=full_scan)

    def read(
        self,
        where: Where = None,
        as_: str | type = "spark",
        *,
        spark: SparkSession | None = None,
        columns: Iterable[str] | None = None,
        full_scan: bool = False,
    ) -> Any:
        """One frame of all the partitions that *where* asks for, with the partition columns behind the others.

        The schema is the declared one: a column that a file lacks is null, a narrower type is widened.

        :param where: as for :meth:`list`; a filter may also speak of columns of the files.
        :param as_: ``"spark"``, ``"pandas"``, ``"polars"`` or ``"arrow"``, the type of the frame itself, or what you
            registered a reader for.
        :param spark: the session; by default the active one.
        :param columns: only these, in this order.
        :param full_scan: read every partition if the filter excludes none.
        :raises MissingInputError: if a key that was asked for is not stored, or nothing tells the schema.
        :raises FilterError: if the filter has no part that excludes a partition, without *full_scan*.
        :raises SchemaError: if a file does not fit the schema; before any job is started.
        """
        from airflow_partitions.storage.io.read import read

        return read(self, where, as_, spark=spark, columns=columns, full_scan=full_scan)

    def save(
        self,
        data: Mapping[Any, Any],
        *,
        mode: str = "create",
        attempt: Attempt | None = None,
        user: Mapping[str, Any] | None = None,
        evolve: bool = False,
    ) -> Mapping[str, PartitionMetadata]:
        """Write partitions, the counterpart of :meth:`load`: all of *data* is published in one step, or nothing.

        .. code-block:: python

            delays.save({"2013-02-08": frame, "2013-02-09": lambda: ask("2013-02-09")})

        :param data: key to frame of pandas, polars, Arrow or Spark, or to a function that gives one. Functions are
            called one by one, when all before is written. Partition columns of a frame are checked and left out.
        :param mode: ``"create"`` fails if there is a partition, ``"append"`` adds to it, ``"overwrite"`` replaces it.
        :param attempt: who writes; a newer try of the same run makes anew what the earlier ones made.
        :param user: what to keep with each partition.
        :param evolve: let the schema change: columns may come, go, and become wider.
        :return: what each partition says about itself, by the text of its key.
        :raises InvalidKeyError: if a key is not one of the definition, or given twice; before anything is called.
        :raises ForeignRowsError: if a row belongs to another partition.
        :raises SchemaError: if what is given has another schema than the dataset, without *evolve*.
        :raises WriterError: if the format can't hold it.
        :raises StoredError: if a partition to be created is stored.
        :raises ConflictError: if another writer was there first.
        """
        from airflow_partitions.storage.io.save import save

        return save(self, data, mode=mode, attempt=attempt, user=user, evolve=evolve)

    def freeze(self, run: str, *, folder: str | None = None) -> Self:
        """This dataset with the partitions and files that it has when the first one asks on behalf of *run*.

        All who ask for the same run get the same, in any process, until :meth:`release`.

        :param run: what the listing is for, such as the id of the Dag run.
        :param folder: where listings are kept; by default ``_listings`` below *path*.
        :raises StorageError: if it can't be kept there.
        """
        from airflow_partitions.storage.stores.pinned_store import freeze

        return attrs.evolve(self, frozen=freeze(attrs.evolve(self, frozen=None), run, folder))

    def release(self) -> Self:
        """This dataset as it is now; the listing made by :meth:`freeze` is removed, for all."""
        from airflow_partitions.storage.stores.pinned_store import release

        release(self)
        return attrs.evolve(self, frozen=None)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`. It holds no credentials."""
        form = {
            "kind": self.kind,
            "path": self.path,
            "format": self.format if self.kind == Files.kind else None,
            "partition": None if self.partition is None else self.partition.to_json(),
            # Lists, because the order of columns matters and JSON objects have none.
            "partition_on": None
            if self.partition_on is None
            else [[n, c.format, c.type] for n, c in self.partition_on],
            "schema": None if self.schema is None else [list(field) for field in self.schema],
            "external": self.external or None,
            "manifest": self.manifest,
            "suffix": self.suffix,
            "find": dict(self.find) or None,
            "frozen": self.frozen,
            "conn_id": self.conn_id,
            "options": dict(pair for pair in self.options if pair[0] != "credentials") or None,
        }
        return {name: value for name, value in form.items() if value is not None}

    @staticmethod
    def from_json(form: Mapping[str, Any], credentials: Mapping[str, Any] | None = None) -> Files:
        """The storage whose :meth:`to_json` is *form*.

        :param credentials: instead of the connection it names, if it does.
        :raises InvalidDefinitionError: if it is of no known kind.
        """
        classes: list[type[Files]] = [Files, *Files.__subclasses__()]
        kinds = {cls.kind: cls for cls in classes}
        if (cls := kinds.get(str(form.get("kind")))) is None:
            raise InvalidDefinitionError(
                f"storage of kind {form.get('kind')!r} is not known; expected one of: {', '.join(kinds)}"
            )
        partition, columns, fields = (form.get(name) for name in ("partition", "partition_on", "schema"))
        more: dict[str, Any] = {"format": form["format"]} if cls is Files else {}
        if partition is not None:
            more["partition"] = from_json(partition)
        more |= {"credentials": credentials} if credentials else {"conn_id": form.get("conn_id")}
        return cls(
            form["path"],
            partition_on=None if columns is None else [(name, Column(fmt, kind)) for name, fmt, kind in columns],
            schema=None if fields is None else [(name, kind) for name, kind in fields],
            external=form.get("external", False),
            manifest=form.get("manifest"),
            suffix=form.get("suffix"),
            find=form.get("find"),
            frozen=form.get("frozen"),
            options=form.get("options", {}),
            **more,
        )
