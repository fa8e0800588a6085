"""The Airflow task that makes a partition by a Spark job."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Asset

from airflow_partitions.checks.declared import declared
from airflow_partitions.checks.function import by_spark
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.dependencies import Rule
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.batches.work import make_batch
from airflow_partitions.engine.runs.freezing import Freezing, check_freeze
from airflow_partitions.engine.runs.publication import attempt_of, finish, partition_in
from airflow_partitions.engine.runs.together import making_together
from airflow_partitions.frames.frame import Frame
from airflow_partitions.frames.input import Input, Inputs
from airflow_partitions.frames.several import SEVERAL, Several, check_several
from airflow_partitions.spark.connection import CONNECT, SUBMIT, conf_of, connection_of
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.spark.modules import modules_of
from airflow_partitions.spark.shared_job import SharedJob
from airflow_partitions.spark.shipped_check import ship_check
from airflow_partitions.spark.shipping import Shipped
from airflow_partitions.spark.submission import PROGRAM, Submission
from airflow_partitions.storage.io import writer_for
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.open import open_staging

if TYPE_CHECKING:
    from airflow.sdk import Connection, Context
    from pyspark.sql import SparkSession

    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.stores.staging import Staging

log = logging.getLogger(__name__)

#: Parameters of ``SparkSubmitOperator`` that a job on a running server has, too.
_OF_BOTH = {"conn_id", "conf", "name", "durable"}
_OF_SUBMIT = frozenset(inspect.signature(SparkSubmitOperator.__init__).parameters) - _OF_BOTH


@attrs.frozen
class PreparedJob:
    """A job that can be run.

    :ivar context: of the run whose partition it makes.
    :ivar inputs: what it reads, where it lies.
    :ivar freezing: how they are kept the same.
    """

    context: Context
    inputs: Mapping[str, Input]
    freezing: Freezing | None
    handover: Handover


class SparkAssetOperator(Submission):
    """Run a Spark job that makes one partition of an asset, and publish what it wrote.

    The type of the connection says where: ``spark``, on a driver of its own, by spark-submit; ``spark_connect``, by a
    session of a running Spark Connect server, from this task. The job writes to a staging place of this run and try;
    the task checks what it reports and puts it in the place of the partition in one step. Whatever fails before that
    leaves the old files alone. Driver, server and workers see the storage under the same path as the task.

    :param asset: the asset, or its name; it is one of the task's outlets.
    :param storage: where the asset lies, bound to its definition.
    :param inputs: storage of each input, by name. The job gets exactly the partitions that its own depends on.
    :param frames: what the function takes an input as, by name; by default a DataFrame of Spark.
    :param rules: what replaces overlap for an input, by name.
    :param function: the shipped function to run; or else
    :param application: path of a program that uses :func:`airflow_partitions.spark.job`.
    :param checks: what the partition is checked for before it is published, as ``checks=`` of :class:`.spark_asset`.
    :param strict: fail the job if it reads anything but its inputs.
    :param freeze: let all tasks of the Dag run that say so read the same partitions and files of their inputs, whoever
        writes meanwhile. The path of a folder keeps the listings there, not beside the data.

    All other parameters are those of ``SparkSubmitOperator``, except ``durable``: re-attaching to the job of an earlier
    try would make a cleared task succeed without running.
    """

    def __init__(
        self,
        *,
        asset: Asset | str,
        storage: Storage,
        inputs: Mapping[str, Storage] | None = None,
        frames: Mapping[str, Frame] | None = None,
        rules: Mapping[str, Rule] | None = None,
        function: Shipped | None = None,
        checks: Iterable[Any] = (),
        application: str = "",
        strict: bool = False,
        freeze: bool | str = False,
        durable: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        asset_name = asset if isinstance(asset, str) else asset.name
        _check_durable(durable, asset_name)
        if storage.partition is None or storage.ownership is not Ownership.OWNED:
            reason = "is not bound to a definition"
            if storage.partition is not None:
                reason = f"has ownership={storage.ownership.value!r}, so no asset makes all of it"
            raise InvalidDefinitionError(
                f"spark asset {asset_name!r}: storage {storage.path!r} {reason};"
                " expected Parquet(…).of(definition) of its own"
            )
        for written in map(storage.table, storage.members) if storage.members else [storage]:
            writer_for("spark", written).check(written)
        check_freeze(freeze, inputs or {}, asset_name)
        made = declared(checks, asset_name, storage, inputs or {}, Frame())
        modules = modules_of(kwargs.get("py_files"))
        if (function is None) == (not application):
            raise InvalidDefinitionError(f"spark asset {asset_name!r}: expected either a function or an application")
        _check_durable(kwargs.pop("reconnect_on_retry", None), asset_name)
        self.of_submit = tuple(sorted(word for word in kwargs.keys() & _OF_SUBMIT if kwargs[word] is not None))
        super().__init__(application=application or PROGRAM, name=name or asset_name, durable=False, **kwargs)
        self.asset = asset
        self.asset_name = asset_name
        self.storage = storage
        self.inputs = dict(inputs or {})
        self.frames = dict(frames or {})
        self.rules = dict(rules or {})
        self.function = function
        self.checks = tuple(check for check in made if not by_spark(check))
        self.shipped_checks = tuple(ship_check(check, modules) for check in made if by_spark(check))
        self.strict = strict
        self.freeze = freeze
        self.takes_several = function is not None and SEVERAL in function.parameters and SEVERAL not in self.inputs
        if self.takes_several:
            check_several(function.parameters if function else (), storage, asset_name)
            if self.shipped_checks:
                raise InvalidDefinitionError(
                    f"spark asset {asset_name!r} takes {SEVERAL!r}, all of a batch at once, and has a check over a"
                    f" DataFrame of Spark ({self.shipped_checks[0].name}); expected one of pandas, polars or Arrow, or"
                    " 'partition' instead"
                )
        self._spark: SparkSession | None = None

    def execute(self, context: Context) -> None:
        """Make the partition of this run, and those of the runs that it has been given."""
        connection = self.connection()
        together = partial(self.make_together, connection) if self.takes_several else None
        # A program of the author makes one partition.
        is_shared = connection.conn_type == SUBMIT and self.function is not None
        in_one_job = partial(self.in_one_job, connection) if is_shared else None
        make_batch(self, context, partial(self.make, connection), together, in_one_job)

    def make(self, connection: Connection, context: Context) -> None:
        """Make the partition of *context*."""
        if self.takes_several:
            for error in self.make_together(connection, [context]).values():
                raise error
            return
        prepared = self._prepared(context)
        self._publish(prepared, self._run(prepared.handover, connection, context))

    @contextmanager
    def in_one_job(self, connection: Connection, contexts: Sequence[Context]) -> Iterator[Callable[[Context], None]]:
        """One job that makes the partitions of *contexts*, each by itself, while the block lasts.

        :returns: what waits until one of them is made, in their order, and publishes it. What fails of one is raised
            for that one.
        """
        prepared: dict[str, PreparedJob] = {}  # by the id of the run
        errors: dict[str, Exception] = {}
        for context in contexts:
            try:
                prepared[context["ti"].run_id] = self._prepared(context)
            except Exception as error:  # noqa: BLE001 - raised where it is asked for
                errors[context["ti"].run_id] = error
        handovers = [each.handover for each in prepared.values()]
        with SharedJob(handovers, lambda: self.submit(handovers, connection, contexts[0]), self.on_kill) as shared:

            def make(context: Context) -> None:
                run_id = context["ti"].run_id
                if run_id in errors:
                    raise errors[run_id]
                own = prepared[run_id]
                self._publish(own, shared.result(own.handover))

            yield make

    def _prepared(self, context: Context) -> PreparedJob:
        """The job that makes the partition of *context*, ready to run."""
        partition, attempt = partition_in(context, self.task_id), attempt_of(context)
        # What a rule takes for now is when the run was asked for: a retry reads what the first try did.
        inputs = self.needed_by(partition, context["dag_run"].run_after)
        freezing = Freezing.asked_for(context, self.freeze)
        if freezing is not None:
            inputs = freezing.freeze(inputs)
        for source in inputs.values():
            source.identities()
        staging = open_staging(self.storage, attempt, self.storage.layout.directory_of(partition.wrapped))
        sources = {name: source.handed_over(staging.inputs) for name, source in inputs.items()}
        return PreparedJob(context, inputs, freezing, self._handover(attempt, partition, sources, staging))

    def _publish(self, prepared: PreparedJob, result: JobResult) -> None:
        order, context = prepared.handover, prepared.context
        staged = StagedPartition(order.partition, self.storage, result.written, order.staging.data, order.inputs)
        finish(context, self.asset, staged, order.staging, result, self.checks, earlier=result.checks)
        if prepared.freezing is not None:
            prepared.freezing.release(context, prepared.inputs)

    def make_together(self, connection: Connection, contexts: Sequence[Context]) -> Mapping[int, Exception]:
        """Make the partitions of several contexts by one job: each row names its own.

        One without rows is published empty. They are published in one commit.

        :returns: of those that fail a check, and were not published, by their place.
        :raises ForeignRowsError: if a row names a partition that was not asked for.
        """
        with making_together(
            contexts, self.task_id, self.asset, self.storage, self.needed_by, checks=self.checks, freeze=self.freeze
        ) as together:
            several = tuple(together.partitions)
            handover = self._handover(together.commit.attempt, several[0], together.inputs, together.commit.staging)
            result = self._run(attrs.evolve(handover, several=several), connection, contexts[0])
            summary = {"seconds": round(result.seconds / len(several), 3), "application": result.application}
            together.publish(Several.from_json(result.several or {}, several), summary)
        log.info("Made by one job: %s", result.describe())
        return together.errors

    def _handover(
        self, attempt: Attempt, partition: Partition, inputs: Mapping[str, Input], staging: Staging
    ) -> Handover:
        return Handover(
            asset=self.asset_name,
            attempt=attempt,
            partition=partition,
            inputs=inputs,
            output=self.storage,
            staging=staging,
            function=self.function,
            checks=self.shipped_checks,
            strict=self.strict,
        )

    def _run(self, handover: Handover, connection: Connection, context: Context) -> JobResult:
        """Run the job of *handover*; what it reports."""
        if connection.conn_type == CONNECT:
            from airflow_partitions.spark.connect.run import run_connected

            run_connected(handover, connection, self.conf or {}, self._began)
        else:
            self.submit([handover], connection, context)
        return JobResult.load(handover.staging, handover.attempt.name)

    def on_kill(self) -> None:
        """End the job."""
        if self._spark is None:
            super().on_kill()
            return
        from airflow_partitions.spark.connect.session import interrupt

        interrupt(self._spark)

    def needed_by(self, partition: Partition, now: datetime) -> dict[str, Input]:
        """What *partition* needs of each input, *now* being an aware instant."""
        return Inputs(self.inputs, self.rules, self.frames).needed_by(partition, now)

    def _began(self, spark: SparkSession) -> None:
        self._spark = spark

    def connection(self) -> Connection:
        """Where the job is to run; asked before anything is made for it.

        :raises StorageError: if there is no such connection, or it is not one to Spark.
        :raises InvalidDefinitionError: if this job can't run there.
        """
        connection = connection_of(self._conn_id)
        self.conf = {**conf_of(connection), **(self.conf or {})}
        if connection.conn_type != CONNECT:
            self.check_submittable(connection)
            return connection
        from airflow_partitions.spark.connect.address import address_of  # a parser of Dags needs no client

        self._check_way(connection)
        address_of(connection)
        return connection

    def _check_way(self, connection: Connection) -> None:
        if self.function is None:
            raise InvalidDefinitionError(
                f"spark asset {self.asset_name!r} is a program of its own, which needs a driver, and connection"
                f" {connection.conn_id!r} is one to a running Spark Connect server; expected a decorated function, or a"
                f" connection of type {SUBMIT}"
            )
        if self.of_submit:
            raise InvalidDefinitionError(
                f"spark asset {self.asset_name!r}: {', '.join(self.of_submit)} belongs to spark-submit, and connection"
                f" {connection.conn_id!r} is one to a running Spark Connect server; expected it in the settings of the"
                f" server, or a connection of type {SUBMIT}"
            )


def _check_durable(durable: Any, asset: str) -> None:
    if durable:
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: durable=True would take the outcome of an earlier job for this one's: a cleared"
            " task would succeed without running; expected durable=False, the default here"
        )
