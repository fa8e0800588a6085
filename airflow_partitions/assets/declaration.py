"""An asset declared by a decorator, together with the Dag that makes it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset

from airflow_partitions.assets.dag import PartitionedDag
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.timetables.asset_extra import write_extra

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator, ObjectStoragePath

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.storage import Files


@attrs.define(kw_only=True)
class PartitionedAsset(Asset):
    """An asset with the definition and the storage of its partitions, and the task that makes one."""

    partition: PartitionDefinition | None = attrs.field(default=None, eq=False)
    storage: Files | None = attrs.field(default=None, eq=False)
    _function: Callable[..., Any] | None = attrs.field(default=None, eq=False, repr=False)
    _source: AssetDeclaration = attrs.field(eq=False, repr=False)
    task: BaseOperator | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if (produces := self._source.produces()) is not None:
            write_extra(self, produces, None if self.storage is None else self.storage.path)
        with self._source.create_dag(default_dag_id=self.name, function=self._function):
            self.task = self._source.create_task(self, self._function)


@attrs.define(kw_only=True)
class AssetDeclaration(PartitionedDag):
    """Arguments of decorators that make one asset. They mean what they mean for an asset of Airflow."""

    name: str | None = None
    uri: str | ObjectStoragePath | None = None
    group: str = Asset.asset_type
    extra: dict[str, Any] = attrs.field(factory=dict)
    watchers: list[Any] = attrs.field(factory=list)

    @abstractmethod
    def create_task(self, asset: PartitionedAsset, function: Callable[..., Any] | None) -> BaseOperator:
        """Make the task that materialises *asset*, in the Dag at hand."""

    def declare(self, name: str, function: Callable[..., Any] | None, storage: Files | None = None) -> PartitionedAsset:
        """The asset, with its Dag and task."""
        return PartitionedAsset(
            name=name,
            uri=name if self.uri is None else str(self.uri),
            group=self.group,
            extra=dict(self.extra),
            watchers=self.watchers,
            partition=self.partition,
            storage=storage,
            function=function,
            source=self,
        )


def check_function(function: Callable[..., Any]) -> None:
    """Refuse functions inside functions, whose name says nothing about the asset."""
    if function.__name__ != function.__qualname__:
        raise InvalidDefinitionError(
            f"{function.__qualname__} is nested in another function; move it to the top level of the file"
        )
