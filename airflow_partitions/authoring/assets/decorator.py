"""``@asset`` and ``@asset.multi`` with ``partition=``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset
from airflow.sdk.definitions.asset import AssetAll

from airflow_partitions.authoring.assets.dag import PartitionedDag
from airflow_partitions.authoring.assets.declaration import (
    AssetDeclaration,
    DeclaredAsset,
    check_function,
    check_storage,
)
from airflow_partitions.authoring.assets.frame_operator import FrameOperator
from airflow_partitions.authoring.assets.inputs import inputs_of
from airflow_partitions.authoring.assets.python import AssetFunctionOperator
from airflow_partitions.checks.declared import declared
from airflow_partitions.checks.function import by_spark
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.runs.partition_argument import NAME, requires_partition
from airflow_partitions.engine.timetables.asset_extra import write_extra
from airflow_partitions.frames.frame import frame_of
from airflow_partitions.storage import Storage

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator
    from airflow.sdk.definitions.asset import BaseAsset

    from airflow_partitions.core.definitions import PartitionDefinition


@attrs.define(kw_only=True)
class DeclaredAssets(AssetAll):
    """Several assets made by one function, with one partition each per run."""

    name: str
    partition: PartitionDefinition | None = None
    _function: Callable[..., Any]
    _source: asset.multi

    def __attrs_post_init__(self) -> None:
        self.objects = list(self._source.outlets)
        for outlet in self.objects:
            if (produces := self._source.produces()) is not None and isinstance(outlet, Asset):
                write_extra(outlet, produces)
        with self._source.create_dag(default_dag_id=self.name, function=self._function):
            create_python_task(self._function, self.name, self.objects, self._source.schedule, self._source.threads)


@attrs.define(kw_only=True)
class asset(AssetDeclaration):  # noqa: N801 - a decorator
    """Make a partitioned asset, and the Dag that materializes it, from a function.

    .. code-block:: python

        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", timezone="America/New_York"))
        def hourly_flights(self, partition):
            print(partition.start, partition.end)

    Takes all that Airflow's own ``asset`` takes. Every tick of *schedule* starts one Dag run for each partition it
    makes due; see :class:`~airflow_partitions.engine.timetables.Partitioned`.

    With *storage*, what the function returns is published as the run's partition, in one step. Inputs come as what
    their parameters are annotated as, each with exactly the partitions that the run's own depends on:

    .. code-block:: python

        @asset(
            schedule="@daily",
            partition=PartitionByInterval("@daily"),
            inputs={"flights": FLIGHTS},
            storage=Parquet("/lake/delays", partition_on={"date": "%Y-%m-%d"}),
        )
        def delays(flights: pl.LazyFrame) -> pl.DataFrame:
            return flights.group_by("origin").agg(pl.mean("dep_delay")).collect()

    :param storage: of the asset's partitions; without it the function writes by itself.
    :param inputs: name -> storage with its ``partition``, or another asset with storage. Assets with storage in
        *schedule* are inputs too where the function has a parameter of their name that is annotated as a frame.
        *rules* replace overlap for them, by name.
    :param checks: what each partition is checked for before it is published: those of ``airflow_partitions.checks``,
        functions over the rows, schemas of pandera.
    :param freeze: let all tries of the run read the same partitions and files of its inputs, whoever writes meanwhile.
        The path of a folder keeps the listings of them there, not beside the data.
    :raises InvalidDefinitionError: for combinations that can't work; the message names the fix.
    """

    @attrs.define(kw_only=True)
    class multi(PartitionedDag):  # noqa: N801 - a decorator
        """Like :class:`asset`, for a function that makes a partition of several assets in each run.

        .. code-block:: python

            @asset.multi(schedule="@daily", partition=PartitionByInterval("@daily"), outlets=[Asset("a"), Asset("b")])
            def both(partition, outlet_events): ...

        :param outlets: the assets it makes, at least one.
        :raises InvalidDefinitionError: for combinations that can't work; the message names the fix.
        """

        outlets: Collection[BaseAsset]

        def __call__(self, f: Callable[..., Any]) -> DeclaredAssets:
            check_function(f)
            if not self.outlets:
                raise InvalidDefinitionError(f"{f.__name__}: outlets is empty; expected the assets it makes")
            return DeclaredAssets(name=f.__name__, partition=self.partition, function=f, source=self)

    storage: Storage | None = attrs.field(default=None, validator=attrs.validators.optional(check_storage))
    freeze: bool | str = False

    def __call__(self, f: Callable[..., Any]) -> DeclaredAsset:
        check_function(f)
        name = self.name or f.__name__
        if self.storage is None:
            return self.declare(name, f)
        return self.declare(name, f, self.storage.of(self.stored_definition(name)), frame_of(f, "return"))

    def create_task(self, asset: DeclaredAsset, function: Callable[..., Any] | None) -> BaseOperator:
        """Make the Python task."""
        if function is None:
            raise InvalidDefinitionError(f"asset {asset.name!r} has no function to call")
        inputs = inputs_of(self, asset, function)
        asset.reads = inputs.types
        if self.freeze and not inputs.storage:
            raise InvalidDefinitionError(
                f"asset {asset.name!r} has freeze={self.freeze!r}, and no input to freeze; expected inputs={{…}}, or a"
                " parameter annotated as a frame for an asset in its schedule"
            )
        checks = declared(self.checks, asset.name, asset.storage, inputs.storage)
        if shipped := [check.name for check in checks if by_spark(check)]:
            raise InvalidDefinitionError(
                f"asset {asset.name!r}: check {shipped[0]!r} takes a DataFrame of Spark; expected one of pandas, polars"
                " or Arrow, or @spark_asset"
            )
        if asset.storage is None and not inputs.storage:
            return create_python_task(function, asset.name, [asset], self.schedule, self.threads)
        if getattr(function, "_airflow_is_task_decorator", False):
            raise InvalidDefinitionError(
                f"asset {asset.name!r} has storage or inputs, and a function decorated by @task; expected a plain"
                " function, since frames don't leave the process"
            )
        if names := [name for name, frame in inputs.frames.items() if frame.kind == "spark"]:
            raise InvalidDefinitionError(
                f"asset {asset.name!r}: input {names[0]!r} is a DataFrame of Spark; expected one of pandas, polars"
                " or Arrow, or @spark_asset"
            )
        return FrameOperator.over(function, asset, inputs, self.schedule, checks, self.freeze, self.threads)


def create_python_task(
    function: Callable[..., Any], name: str, outlets: list[Any], schedule: Any, threads: int = 1
) -> BaseOperator:
    """Make the task of a decorated *function*, itself perhaps decorated by ``@task``, in the Dag at hand."""
    if not getattr(function, "_airflow_is_task_decorator", False):
        return AssetFunctionOperator.of(function, name, outlets, schedule, threads)
    decorated: Any = function
    if threads != 1:
        raise InvalidDefinitionError(
            f"{name}: threads={threads}, and a function decorated by @task, which makes one partition; expected a plain"
            " function"
        )
    if "outlets" in decorated.kwargs:
        raise InvalidDefinitionError(f"{name}: remove outlets= from its @task; @asset writes them")
    decorated.kwargs["outlets"] = outlets
    # Airflow wants a value for what it does not know when a file is parsed; the task's own hook replaces it.
    task: BaseOperator = decorated(**{NAME: None} if requires_partition(decorated.function) else {}).operator
    return task
