"""An asset declared by a decorator, together with the Dag that makes it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset

from airflow_partitions.authoring.assets.dag import PartitionedDag, by_name
from airflow_partitions.core.definitions import PartitionAtRuntime
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import AssetFrames, write_extra
from airflow_partitions.engine.timetables.condition import condition_of, leaves
from airflow_partitions.engine.timetables.runtime_timetables import runtime_timetable
from airflow_partitions.frames.frame import Frame, stored_as
from airflow_partitions.frames.frame_type import FrameType
from airflow_partitions.storage import Storage

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator, ObjectStoragePath

    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.dependencies import Rule


@attrs.define(kw_only=True)
class DeclaredAsset(Asset):
    """An asset with the definition and the storage of its partitions, and the task that makes one.

    :ivar result: what its function returns, if an annotation says so.
    :ivar reads: what its function reads, by the name of the parameter.
    """

    partition: PartitionDefinition | None = attrs.field(default=None, eq=False)
    storage: Storage | None = attrs.field(default=None, eq=False)
    result: Frame | None = attrs.field(default=None, eq=False)
    _function: Callable[..., Any] | None = attrs.field(default=None, eq=False, repr=False)
    _source: AssetDeclaration = attrs.field(eq=False, repr=False)
    reads: Mapping[str, FrameType] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    task: BaseOperator | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        with self._source.create_dag(default_dag_id=self.name, function=self._function):
            self.task = self._source.create_task(self, self._function)
        if (produces := self._source.produces()) is not None:
            columns = None if self.result is None else self.result.columns
            stored = None if self.storage is None else FrameType.stored(self.storage, columns)
            form = None if self.storage is None else _form(self.storage, self.name)
            write_extra(self, produces, AssetFrames(stored, self.reads, form))


@attrs.define(kw_only=True)
class AssetDeclaration(PartitionedDag):
    """Arguments of decorators that make one asset. They mean what they mean for an asset of Airflow.

    :ivar inputs: what its function reads, by the name of its parameter.
    :ivar checks: what its partitions are checked for before they are published.
    """

    name: str | None = None
    uri: str | ObjectStoragePath | None = None
    group: str = Asset.asset_type
    extra: dict[str, Any] = attrs.field(factory=dict)
    watchers: list[Any] = attrs.field(factory=list)
    inputs: Mapping[str, Storage | DeclaredAsset] = attrs.field(factory=dict, validator=by_name)
    checks: Sequence[Any] = ()

    @abstractmethod
    def create_task(self, asset: DeclaredAsset, function: Callable[..., Any] | None) -> BaseOperator:
        """Make the task that materializes *asset*, in the Dag at hand."""

    def declare(
        self,
        name: str,
        function: Callable[..., Any] | None,
        storage: Storage | None = None,
        result: Frame | None = None,
    ) -> DeclaredAsset:
        """The asset, with its Dag and task.

        :param storage: of its partitions, bound to their definition.
        :param result: what *function* returns, if an annotation says so.
        :raises InvalidDefinitionError: if another function of the file makes a Dag of this id.
        """
        _check_declared_once(self.dag_id or name, function)
        return DeclaredAsset(
            name=name,
            uri=name if self.uri is None else str(self.uri),
            group=self.group,
            extra=dict(self.extra),
            watchers=self.watchers,
            partition=self.partition,
            storage=storage if storage is None else stored_as(result, storage, name),
            result=result,
            function=function,
            source=self,
        )

    def stored_definition(self, name: str) -> PartitionDefinition:
        """The definition of the partitions that its runs publish.

        :raises InvalidDefinitionError: if a run has no partition before its task runs.
        """
        if self.partition is None:
            raise InvalidDefinitionError(
                f"asset {name!r} has partition=None; expected a definition, since a run publishes one partition"
            )
        if (
            isinstance(self.partition, PartitionAtRuntime)
            and not self.rules
            and runtime_timetable(self.schedule, self.partition, self.upstreams or {}) is not None
        ):
            raise InvalidDefinitionError(
                f"asset {name!r}: {self.partition!r} has no key before a task runs, so no partition to publish;"
                " add the keys in an @asset without storage, and schedule this one on it"
            )
        return self.partition

    def schedule_rules(self) -> Mapping[str, Rule]:
        """Rules also go to inputs: those for the assets in *schedule* alone."""
        condition = condition_of(self.schedule)
        names = set() if condition is None else {leaf.name for leaf in leaves(condition)}
        return {name: rule for name, rule in (self.rules or {}).items() if name in names}


def _check_declared_once(dag_id: str, function: Callable[..., Any] | None) -> None:
    """Refuse a second asset of a file whose Dag has this id: Airflow would lose one of the two, and say nothing."""
    own = getattr(function, "__name__", "")
    for variable, value in getattr(function, "__globals__", {}).items():
        if isinstance(value, DeclaredAsset) and variable != own and value.task and value.task.dag_id == dag_id:
            raise InvalidDefinitionError(
                f"{variable} and {own} both make a Dag {dag_id!r}, of which one would be lost; expected another name="
                " or dag_id= for one of them"
            )


def _form(storage: Storage, name: str) -> dict[str, Any] | None:
    """JSON form of *storage*, by which others can reach it, too; ``None`` if it has credentials of its own.

    :raises InvalidDefinitionError: if upkeep is to keep it small, but can't reach it.
    """
    if dict(storage.credentials).keys() <= {"conn_id"}:
        return storage.to_json()
    if storage.maintenance is not None:
        raise InvalidDefinitionError(
            f"asset {name!r}: upkeep reaches table {storage.path!r} by a connection of Airflow only; expected catalog=…"
            " without credentials=, or maintain_table(…) in a task of yours in place of maintenance="
        )
    return None


def check_function(function: Callable[..., Any]) -> None:
    """Refuse functions inside functions, whose name says nothing about the asset."""
    if function.__name__ != function.__qualname__:
        raise InvalidDefinitionError(
            f"{function.__qualname__} is nested in another function; move it to the top level of the file"
        )


def check_storage(_: Any, __: attrs.Attribute[Any], storage: Any) -> None:
    """Refuse what is no storage."""
    if not isinstance(storage, Storage):
        path = storage if isinstance(storage, str) else "/lake/x"
        raise InvalidDefinitionError(f"storage={storage!r} is no storage; expected for example Parquet({path!r})")
