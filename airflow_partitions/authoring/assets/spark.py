"""``@spark_asset``: a partition made by a Spark job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.authoring.assets.declaration import (
    AssetDeclaration,
    DeclaredAsset,
    check_function,
    check_storage,
)
from airflow_partitions.authoring.assets.inputs import inputs_of
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.frame import Frame, frame_of
from airflow_partitions.frames.stored_frame import StoredFrame
from airflow_partitions.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.spark.engines.engine import Engine
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
    own depends on: of Spark, or of what the parameter is annotated as (``flights: pd.DataFrame``). What it returns, of
    whatever kind, is published as the run's partition, in one step. Only its body travels to the
    driver: it may use its parameters, builtins, what it imports itself, and modules in *py_files*.

    :param storage: of the asset's partitions.
    :param inputs: name -> storage with its ``partition``, or another spark asset. Spark assets in *schedule* that the
        function names as parameters are inputs by themselves.
    :param checks: what each partition is checked for before it is published: those of ``airflow_partitions.checks``,
        functions over the rows, schemas of pandera. A function over a DataFrame of Spark, or without an annotation, is
        shipped and called by the job.
    :param strict: fail the run, and publish nothing, if the job read anything but its inputs.
    :param freeze: let all tries of the run, and other tasks of it that say so, read the same partitions and files of
        their inputs, whoever writes meanwhile; see :class:`.SparkAssetOperator`.
    :param engine: where the jobs run, if no connection of type ``spark`` or ``spark_connect`` says so: managed Spark,
        or an engine of your own; see :class:`.Engine`.
    :param conn_id: Airflow's Spark connection.
    :param deferrable: let the task give its worker back while a job of spark-submit runs on YARN or Kubernetes, in
        cluster mode. Each engine that can has an argument of its own for it.
    :param conf: Spark properties.
    :param py_files: modules shipped with the job, as spark-submit takes them.
    :param submit: any other arguments of ``SparkSubmitOperator``.
    :raises ShippingError: if the function can't be shipped; the message names the variable and the way out.
    :raises LayoutError: if two partitions would share one path.
    :raises InvalidDefinitionError: for combinations that can't work; the message names the fix.
    """

    storage: Storage = attrs.field(validator=check_storage)
    strict: bool = False
    freeze: bool | str = False
    engine: Engine | None = None
    conn_id: str = "spark_default"
    deferrable: bool = False
    conf: Mapping[str, str] = attrs.field(factory=dict)
    py_files: str | None = None
    submit: Mapping[str, Any] = attrs.field(factory=dict)
    _application: str | None = attrs.field(default=None, alias="application")

    def __call__(self, f: Callable[..., Any]) -> DeclaredAsset:
        check_function(f)
        name = self.name or f.__name__
        return self.declare(
            name, f, self.storage.of(self.stored_definition(name)), frame_of(f, "return", unknown=Frame())
        )

    @classmethod
    def script(cls, application: str, *, name: str, **arguments: Any) -> DeclaredAsset:
        """An asset made by a program of your own, which uses :func:`airflow_partitions.spark.job`.

        :param application: path of the program.
        :param name: name of the asset.
        :param arguments: those of :class:`spark_asset`.
        """
        source = cls(name=name, application=application, **arguments)
        return source.declare(name, None, source.storage.of(source.stored_definition(name)))

    def create_task(self, asset: DeclaredAsset, function: Callable[..., Any] | None) -> SparkAssetOperator:
        """Make the task that submits the job."""
        from airflow_partitions.spark.modules import modules_of
        from airflow_partitions.spark.operator import SparkAssetOperator
        from airflow_partitions.spark.shipping import ship

        if function is not None and _names(function.__code__, StoredFrame.__name__):
            raise InvalidDefinitionError(
                f"spark asset {asset.name!r}: a Spark driver reaches neither Airflow's connections nor catalogs, so no"
                " function chooses storage there; expected a DataFrame instead of a StoredFrame, and an asset with the"
                f" other storage, scheduled on this one: @spark_asset(schedule={asset.name}, storage=…)"
            )
        if self.threads != 1:
            raise InvalidDefinitionError(
                f"spark asset {asset.name!r}: threads={self.threads}: jobs of Spark don't run side by side in one"
                " process, since the client stops threads that all its sessions share when one of them ends; expected a"
                " function over 'partitions', which makes all of a batch by one job, or no threads="
            )
        inputs = inputs_of(self, asset, function, default=Frame())
        asset.reads = inputs.types
        for name, frame in inputs.frames.items():
            if isinstance(frame.kind, type):
                raise InvalidDefinitionError(
                    f"spark asset {asset.name!r}: input {name!r} is a {frame.kind.__name__}, which Spark can't give;"
                    " expected a DataFrame of Spark, or a frame of pandas, polars or Arrow"
                )
        shipped = None
        if function is not None:
            shipped = ship(function, inputs=list(inputs.storage), modules=modules_of(self.py_files))
        words = dict(self.submit)
        if self.py_files is not None:
            words["py_files"] = self.py_files
        return SparkAssetOperator(
            task_id=asset.name,
            asset=asset,
            storage=asset.storage or self.storage,
            inputs=inputs.storage,
            frames=inputs.frames,
            rules=inputs.rules,
            function=shipped,
            checks=self.checks,
            application=self._application or "",
            strict=self.strict,
            freeze=self.freeze,
            outlets=[asset],
            engine=self.engine,
            conn_id=self.conn_id,
            deferrable=self.deferrable,
            conf=dict(self.conf),
            **words,
        )


def _names(code: CodeType, name: str) -> bool:
    """Whether *code*, or what is defined in it, looks *name* up."""
    return name in code.co_names or any(_names(each, name) for each in code.co_consts if isinstance(each, CodeType))
