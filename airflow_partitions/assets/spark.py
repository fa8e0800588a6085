"""``@spark_asset``: a partition made by a Spark job."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.assets.dag import by_name
from airflow_partitions.assets.declaration import AssetDeclaration, PartitionedAsset, check_function
from airflow_partitions.definitions import PartitionAtRuntime
from airflow_partitions.dependencies import Dependency, Overlap, Rule
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.storage import Files
from airflow_partitions.timetables.condition import condition_of, leaves
from airflow_partitions.timetables.runtime_timetables import runtime_timetable

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.spark.operator import SparkAssetOperator


@attrs.define(kw_only=True)
class spark_asset(AssetDeclaration):  # noqa: N801 - a decorator
    """Make a partitioned asset from a function that runs on a Spark driver and returns a DataFrame.

    .. code-block:: python

        @spark_asset(
            schedule="@daily",
            partition=PartitionByInterval("@daily"),
            inputs={"flights": FLIGHTS},
            storage=Parquet("/lake/delays", partition_on={"date": "%Y-%m-%d"}),
        )
        def delays(spark, partition, flights):
            return flights.groupBy("origin").avg("dep_delay")

    The function gets ``spark``, ``partition``, and of each input a DataFrame of exactly the partitions that the run's
    own depends on. What it returns is published as the run's partition, in one step. Only its body travels to the
    driver: it may use its parameters, builtins, what it imports itself, and modules in *py_files*.

    :param storage: of the asset's partitions.
    :param inputs: name -> storage with its ``partition``, or another spark asset. Spark assets in *schedule* that the
        function names as parameters are inputs by themselves.
    :param strict: fail the run, and publish nothing, if the job read anything but its inputs.
    :param freeze: let all tries of the run, and other tasks of it that say so, read the same partitions and files of
        their inputs, whoever writes meanwhile; see :class:`.SparkAssetOperator`.
    :param conn_id: Airflow's Spark connection.
    :param conf: Spark properties.
    :param py_files: modules shipped with the job, as spark-submit takes them.
    :param submit: any other arguments of ``SparkSubmitOperator``.
    :raises ShippingError: if the function can't be shipped; the message names the variable and the way out.
    :raises LayoutError: if two partitions would share one path.
    :raises InvalidDefinitionError: for combinations that can't work; the message names the fix.
    """

    storage: Files = attrs.field(validator=lambda _, __, value: _check_own(value))
    inputs: Mapping[str, Files | PartitionedAsset] = attrs.field(factory=dict, validator=by_name)
    strict: bool = False
    freeze: bool | str = False
    conn_id: str = "spark_default"
    conf: Mapping[str, str] = attrs.field(factory=dict)
    py_files: str | None = None
    submit: Mapping[str, Any] = attrs.field(factory=dict)
    _application: str | None = attrs.field(default=None, alias="application")

    def __call__(self, f: Callable[..., Any]) -> PartitionedAsset:
        check_function(f)
        name = self.name or f.__name__
        return self.declare(name, f, self.storage.of(self._definition(name)))

    @classmethod
    def script(cls, application: str, *, name: str, **arguments: Any) -> PartitionedAsset:
        """An asset made by a program of your own, which uses :func:`airflow_partitions.spark.job`.

        :param application: path of the program.
        :param name: name of the asset.
        :param arguments: those of :class:`spark_asset`.
        """
        source = cls(name=name, application=application, **arguments)
        return source.declare(name, None, source.storage.of(source._definition(name)))

    def create_task(self, asset: PartitionedAsset, function: Callable[..., Any] | None) -> SparkAssetOperator:
        """Make the task that submits the job."""
        from airflow_partitions.spark.modules import modules_of
        from airflow_partitions.spark.operator import SparkAssetOperator
        from airflow_partitions.spark.shipping import ship

        inputs = self._upstream_storage(function) | {
            name: _storage(name, source) for name, source in self.inputs.items()
        }
        definition = self._definition(asset.name)
        rules = {name: rule for name, rule in (self.rules or {}).items() if name in inputs}
        for name, storage in inputs.items():
            if storage.partition is not None:
                Dependency(definition, storage.partition, rules.get(name, Overlap()))  # refuses what can never meet
        if unknown := set(self.rules or {}) - set(rules) - set(self.schedule_rules()):
            raise InvalidDefinitionError(
                f"rules for {', '.join(sorted(unknown))}: no input or upstream of {asset.name}"
            )
        shipped = None
        if function is not None:
            shipped = ship(function, inputs=list(inputs), modules=modules_of(self.py_files))
        return SparkAssetOperator(
            task_id=asset.name,
            asset=asset,
            storage=asset.storage or self.storage,
            inputs=inputs,
            rules=rules,
            function=shipped,
            application=self._application or "",
            strict=self.strict,
            freeze=self.freeze,
            outlets=[asset],
            conn_id=self.conn_id,
            conf=dict(self.conf),
            py_files=self.py_files,
            **self.submit,
        )

    def schedule_rules(self) -> Mapping[str, Rule]:
        """Rules also go to inputs: those for the assets in *schedule* alone."""
        condition = condition_of(self.schedule)
        names = set() if condition is None else {leaf.name for leaf in leaves(condition)}
        return {name: rule for name, rule in (self.rules or {}).items() if name in names}

    def _upstream_storage(self, function: Callable[..., Any] | None) -> dict[str, Files]:
        """Storage of the assets it is scheduled on, as far as the function asks for them by name."""
        upstreams = {asset.name: asset.storage for asset in _assets(self.schedule) if asset.storage is not None}
        names = upstreams if function is None else inspect.signature(function).parameters
        return {name: storage for name, storage in upstreams.items() if name in names}

    def _definition(self, name: str) -> PartitionDefinition:
        if self.partition is None:
            raise InvalidDefinitionError(
                f"spark asset {name!r} has partition=None; expected a definition, since a run publishes one partition"
            )
        if (
            isinstance(self.partition, PartitionAtRuntime)
            and not self.rules
            and runtime_timetable(self.schedule, self.partition, self.upstreams or {}) is not None
        ):
            raise InvalidDefinitionError(
                f"spark asset {name!r}: {self.partition!r} has no key before a task runs, so no partition for the"
                " job to publish; add the keys in an @asset, and schedule this one on it"
            )
        return self.partition


def _assets(schedule: Any) -> Iterator[PartitionedAsset]:
    """The assets of this package in a schedule: one, a list, or joined by ``&`` and ``|``."""
    if isinstance(schedule, PartitionedAsset):
        yield schedule
    for part in schedule if isinstance(schedule, list | tuple) else getattr(schedule, "objects", ()):
        yield from _assets(part)


def _storage(name: str, source: Files | PartitionedAsset) -> Files:
    storage = source.storage if isinstance(source, PartitionedAsset) else source
    if not isinstance(storage, Files):
        raise InvalidDefinitionError(
            f"input {name!r} is {source!r}; expected storage such as Parquet('/lake/x', partition=…), or a spark asset"
        )
    return storage


def _check_own(storage: Any) -> None:
    if not isinstance(storage, Files):
        path = storage if isinstance(storage, str) else "/lake/x"
        raise InvalidDefinitionError(f"storage={storage!r} is no storage; expected for example Parquet({path!r})")
