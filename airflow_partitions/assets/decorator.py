"""``@asset`` and ``@asset.multi`` with ``partition=``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset
from airflow.sdk.definitions.asset import AssetAll

from airflow_partitions.assets.dag import PartitionedDag
from airflow_partitions.assets.hint import publish
from airflow_partitions.assets.operator import AssetFunctionOperator
from airflow_partitions.errors import InvalidDefinitionError

if TYPE_CHECKING:
    from airflow.sdk import ObjectStoragePath
    from airflow.sdk.definitions.asset import BaseAsset

    from airflow_partitions.definitions import PartitionDefinition


@attrs.define(kw_only=True)
class PartitionedAsset(Asset):
    """An asset made by decorating a function, together with its Dag."""

    partition: PartitionDefinition | None = attrs.field(default=None, eq=False)
    _function: Callable[..., Any] = attrs.field(eq=False)
    _source: asset = attrs.field(eq=False)

    def __attrs_post_init__(self) -> None:
        if self.partition is not None:
            publish(self, self.partition)
        with self._source.create_dag(default_dag_id=self.name):
            self._source.create_task(self._function, self.name, [self])

    def iter_outlets(self) -> Iterator[BaseAsset]:
        """The asset itself."""
        yield self


@attrs.define(kw_only=True)
class PartitionedAssets(AssetAll):
    """Several assets made by one function, with one partition each per run."""

    name: str
    partition: PartitionDefinition | None = None
    _function: Callable[..., Any]
    _source: asset.multi

    def __attrs_post_init__(self) -> None:
        self.objects = list(self._source.outlets)
        for outlet in self.objects:
            if self.partition is not None and isinstance(outlet, Asset):
                publish(outlet, self.partition)
        with self._source.create_dag(default_dag_id=self.name):
            self._source.create_task(self._function, self.name, self.objects)

    def iter_outlets(self) -> Iterator[BaseAsset]:
        """The assets."""
        yield from self.objects


class PythonTask:
    """Mixed into a decorator whose function runs as a Python task."""

    __slots__ = ()

    def create_task(self, function: Callable[..., Any], name: str, outlets: list[Any]) -> None:
        """Make the task of *function* in the Dag at hand."""
        if not getattr(function, "_airflow_is_task_decorator", False):
            AssetFunctionOperator.of(function, name, outlets)
            return
        decorated: Any = function
        if "outlets" in decorated.kwargs:
            raise InvalidDefinitionError(f"{name}: remove outlets= from its @task; @asset writes them")
        decorated.kwargs["outlets"] = outlets
        decorated()


@attrs.define(kw_only=True)
class asset(PythonTask, PartitionedDag):  # noqa: N801 - a decorator
    """Make a partitioned asset, and the Dag that materialises it, from a function.

    .. code-block:: python

        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", timezone="America/New_York"))
        def hourly_flights(self, partition):
            print(partition.start, partition.end)

    Takes all that Airflow's own ``asset`` takes. Every tick of *schedule* starts one Dag run for each partition it
    makes due; see :class:`~airflow_partitions.timetables.Partitioned`.

    :raises InvalidDefinitionError: for combinations that can't work; the message names the fix.
    """

    name: str | None = None
    uri: str | ObjectStoragePath | None = None
    group: str = Asset.asset_type
    extra: dict[str, Any] = attrs.field(factory=dict)
    watchers: list[Any] = attrs.field(factory=list)

    @attrs.define(kw_only=True)
    class multi(PythonTask, PartitionedDag):  # noqa: N801 - a decorator
        """Like :class:`asset`, for a function that makes a partition of several assets, *outlets*."""

        outlets: Collection[BaseAsset]

        def __call__(self, f: Callable[..., Any]) -> PartitionedAssets:
            check_function(f)
            if not self.outlets:
                raise InvalidDefinitionError(f"{f.__name__}: outlets is empty; expected the assets it makes")
            return PartitionedAssets(name=f.__name__, partition=self.partition, function=f, source=self)

    def __call__(self, f: Callable[..., Any]) -> PartitionedAsset:
        check_function(f)
        name = self.name or f.__name__
        return PartitionedAsset(
            name=name,
            uri=name if self.uri is None else str(self.uri),
            group=self.group,
            extra=dict(self.extra),
            watchers=self.watchers,
            partition=self.partition,
            function=f,
            source=self,
        )


def check_function(function: Callable[..., Any]) -> None:
    """Refuse functions inside functions, whose name says nothing about the asset."""
    if function.__name__ != function.__qualname__:
        raise InvalidDefinitionError(
            f"{function.__qualname__} is nested in another function; move it to the top level of the file"
        )
