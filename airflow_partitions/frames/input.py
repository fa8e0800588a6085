"""An input of a function: storage, and the partitions chosen from it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.dependencies import Dependency, Overlap, Rule, Selection
from airflow_partitions.core.errors import MissingInputError
from airflow_partitions.core.keys import Key
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.frame import Frame
from airflow_partitions.frames.frame_type import FrameType
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.io import ReadRequest, reader_for
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.scan.scan_plan import stored_or_fail
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.journal import inode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.storage.filesystem.filesystem import Location

#: Name of the parameter that takes the partitions of the asset itself before the one that is made.
PAST = "past"


@attrs.frozen
class Input:
    """One input of a run's function.

    :ivar name: its name, also the function's parameter.
    :ivar storage: where it lies.
    :ivar selection: the partitions that the run may read; ``None`` for storage without partitions, read as a whole.
    :ivar frame: what the function takes it as.
    """

    name: str
    storage: Storage
    selection: Selection | None
    frame: Frame = attrs.field(factory=Frame)

    @classmethod
    def needed_by(
        cls,
        partition: Partition,
        name: str,
        storage: Storage,
        rule: Rule | None = None,
        now: datetime | None = None,
        frame: Frame | None = None,
    ) -> Input:
        """The partitions of *storage* that *partition* depends on.

        :param rule: replaces overlap.
        :param now: aware; for rules whose answer changes as time goes by.
        """
        if storage.partition is None:
            return cls(name, storage, None, frame or Frame())
        dependency = Dependency(partition.definition, storage.partition, rule or Overlap())
        return cls(name, storage, dependency.upstream(partition.wrapped, now=now), frame or Frame())

    @property
    def is_no_past(self) -> bool:
        """Whether it stands for the partitions before the first one, so that there is nothing to read."""
        return self.name == PAST and self.selection is not None and not self.selection

    @cached_property
    def folders(self) -> Mapping[str, Key | None]:
        """The promised folders, each with the key it holds."""
        if self.selection is None:
            return {self.storage.path: None}
        return {self.storage.path_of(key): key for key in self.selection}

    def stored(self) -> Mapping[str, StoredPartition]:
        """The promised partitions by folder, as they are at one moment; nothing for storage without partitions.

        :raises MissingInputError: if one is not there.
        """
        try:
            if self.selection is None:
                open_backend(self.storage).check_there()
                return {}
            partitions = stored_or_fail(self.storage, list(self.selection))
        except MissingInputError as error:
            raise MissingInputError(f"input {self.name!r}: {error}") from None
        return {partition.path: partition for partition in partitions.values()}

    def handed_over(self, folder: Location) -> Input:
        """This input as it is read by a process without a catalog, and from one moment on the same: a table is kept as
        it is now.

        :param folder: where inputs may keep something, each in a folder of its own.
        :raises MissingInputError: if there is no such table.
        """
        return attrs.evolve(self, storage=open_backend(self.storage).handed_over(folder / self.name))

    def read(
        self,
        spark: SparkSession | None = None,
        stored: Mapping[str, StoredPartition] | None = None,
        attempt: str | None = None,
    ) -> Any:
        """The promised partitions as one frame: their folders are named, nothing else is listed.

        Column types are declared; the types of partition columns are never inferred.

        :param spark: the session to read by, whatever the frame is; without one, the reader of the frame reads.
        :param stored: what is stored of them; by default it is looked up.
        :param attempt: name of the try that reads.
        :raises MissingInputError: if one is not stored, or there is nothing to read a schema from.
        :raises SchemaError: if a file does not fit the declared schema; before any job is started.
        :raises FilterError: if there is no column that the frame names.
        """
        partitions = self.stored() if stored is None else stored
        chosen = None if self.selection is None else tuple(partitions.values())
        dataset, columns = with_schema(self.storage, chosen or ()), self.frame.names
        request = ReadRequest(dataset=dataset, partitions=chosen, columns=columns, spark=spark, attempt=attempt)
        if spark is None:
            return reader_for(self.frame.kind, self.storage).read(request)
        return self.frame.of_spark(reader_for("spark", self.storage).read(request))

    def identities(self, stored: Mapping[str, StoredPartition] | None = None) -> dict[str, Any]:
        """What tells a replaced partition from the one that was there before.

        :param stored: what is stored; by default it is looked up.
        :raises MissingInputError: if a partition is not there.
        """
        partitions = self.stored() if stored is None else stored
        return {path: _identity(partition) for path, partition in partitions.items()}

    def to_json(self) -> dict[str, Any]:
        """JSON form; the selection without the definition that the storage holds already.

        A driver has no connections of Airflow, so there are none in it.
        """
        selection = None if self.selection is None else self.selection.to_json()
        if selection is not None:
            del selection["definition"]
        storage = self.storage.to_json()
        storage.pop("conn_id", None)
        return {"storage": storage, "selection": selection, "frame": self.frame.to_json()}

    @classmethod
    def from_json(cls, name: str, form: Mapping[str, Any]) -> Input:
        """The inverse of :meth:`to_json`."""
        storage, selection = Storage.from_json(form["storage"]), form["selection"]
        if selection is not None and storage.partition is not None:
            selection = {**selection, "definition": storage.partition.to_json()}
        chosen = None if selection is None else Selection.from_json(selection)
        return cls(name, storage, chosen, Frame.from_json(form["frame"]))


@attrs.frozen
class Inputs:
    """The inputs of an asset, by name.

    :ivar storage: where each is stored.
    :ivar rules: what replaces overlap.
    :ivar frames: what each is taken as, if something takes it as a frame.
    """

    storage: Mapping[str, Storage]
    rules: Mapping[str, Rule] = attrs.field(factory=dict)
    frames: Mapping[str, Frame] = attrs.field(factory=dict)

    @property
    def types(self) -> dict[str, FrameType]:
        """What is read of each: the columns of its annotation, from files as its storage has them."""
        return {
            # The columns of a table are not those of the asset that stores it.
            name: FrameType(files.place, {} if files.member else self.frames[name].columns, files.format)
            for name, files in self.storage.items()
        }

    def needed_by(self, partition: Partition, now: datetime) -> dict[str, Input]:
        """What *partition* needs of each, *now* being an aware instant; nothing of its past, if it is the first."""
        needed = {
            name: Input.needed_by(partition, name, storage, self.rules.get(name), now, self.frames.get(name))
            for name, storage in self.storage.items()
        }
        return {name: source for name, source in needed.items() if not source.is_no_past}


def _identity(partition: StoredPartition) -> Any:
    content = partition.content
    metadata = None if content.metadata is None else attrs.evolve(content.metadata, index={})  # it may be built later
    folder = inode(local(content.base)) if content.in_folder and is_local(content.base) else None
    return content.base, folder, dict(content.files), metadata
