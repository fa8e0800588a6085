"""The Airflow task that makes a partition by a Spark job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset, BaseOperator

from airflow_partitions.checks.declared import declared
from airflow_partitions.checks.function import by_spark
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.dependencies import Rule
from airflow_partitions.core.errors import (
    InvalidDefinitionError,
    JobError,
    PartitionError,
    ResultError,
    SparkServerError,
    UnansweredError,
)
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.batches.work import make_batch
from airflow_partitions.engine.runs.freezing import Freezing, check_freeze
from airflow_partitions.engine.runs.lineage import LineageMethods
from airflow_partitions.engine.runs.publication import attempt_of, finish, partition_in
from airflow_partitions.engine.runs.together import making_together
from airflow_partitions.frames.frame import Frame
from airflow_partitions.frames.input import Input, Inputs
from airflow_partitions.frames.several import SEVERAL, Several, check_several
from airflow_partitions.spark.begun_job import BegunJob, work_of
from airflow_partitions.spark.connection import DEFAULT_CONNECTION
from airflow_partitions.spark.engines.by_connection import engine_of
from airflow_partitions.spark.engines.demand import Demand
from airflow_partitions.spark.engines.engine import Engine
from airflow_partitions.spark.engines.execution import Execution
from airflow_partitions.spark.engines.job import PROGRAM, SparkJob
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult, load_error
from airflow_partitions.spark.modules import modules_of
from airflow_partitions.spark.operator_arguments import (
    check_deferrable,
    check_durable,
    check_engine,
    check_storage,
    submit_words,
)
from airflow_partitions.spark.prepared_job import PreparedJob
from airflow_partitions.spark.shared_job import SharedJob
from airflow_partitions.spark.shipped_check import ship_check
from airflow_partitions.spark.shipping import Shipped
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.open import open_staging

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.stores.staging import Staging

log = logging.getLogger(__name__)


class SparkAssetOperator(LineageMethods, BaseOperator):
    """Run a Spark job that makes one partition of an asset, and publish what it wrote.

    An engine says where: by default the type of the connection names it. ``spark`` is a driver of its own, by
    spark-submit; ``spark_connect`` a session of a running Spark Connect server, from this task. The job writes to a
    staging place of this run and try; the task checks what it reports and puts it in the place of the partition in one
    step. Whatever fails before that leaves the old files alone. Driver, server and workers see the storage under the
    same path as the task.

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
    :param engine: where the job runs, instead of a connection.
    :param conn_id: Airflow's Spark connection.
    :param deferrable: let the task wait without a worker for a job that spark-submit has started on YARN or Kubernetes,
        in cluster mode. An engine has an argument of its own for it.
    :param conf: Spark properties.

    All other parameters are those of ``SparkSubmitOperator``, except ``durable``: re-attaching to the job of an earlier
    try would make a cleared task succeed without running. An engine that knows its jobs by name finds that of a task
    that was killed by itself.
    """

    template_fields: Sequence[str] = ("application", "conf", "name", "submit")

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
        engine: Engine | None = None,
        conn_id: str = DEFAULT_CONNECTION,
        deferrable: bool = False,
        conf: Mapping[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        asset_name = asset if isinstance(asset, str) else asset.name
        check_durable(durable, asset_name)
        check_storage(storage, asset_name)
        check_freeze(freeze, inputs or {}, asset_name)
        made = declared(checks, asset_name, storage, inputs or {}, Frame())
        check_durable(kwargs.pop("reconnect_on_retry", None), asset_name)
        words = submit_words(kwargs)
        self.submit = {word: value for word, value in words.items() if value is not None}
        self.own_words = self.submit.keys() & kwargs.keys()
        modules = modules_of(self.submit.get("py_files"))
        if (function is None) == (not application):
            raise InvalidDefinitionError(f"spark asset {asset_name!r}: expected either a function or an application")
        check_engine(engine, self.own_words, asset_name)
        check_deferrable(deferrable, engine, self.submit, asset_name)
        super().__init__(**{word: value for word, value in kwargs.items() if word not in words})
        self.application = application or PROGRAM
        self.engine = engine
        self.conn_id = conn_id
        self.deferrable = deferrable
        self.conf = dict(conf or {})
        self.name = name or asset_name
        self.durable = False
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
        self._execution: Execution | None = None  # of this process

    def execute(self, context: Context) -> None:
        """Make the partition of this run, and those of the runs that it has been given."""
        engine = self.engine_of_run(context)
        together = partial(self.make_together, engine) if self.takes_several else None
        # A program of the author makes one partition.
        is_shared = engine.shares_jobs and self.function is not None
        in_one_job = partial(self.in_one_job, engine) if is_shared else None
        make_batch(self, context, partial(self.make, engine), together, in_one_job)

    def resume(self, context: Context, *, method: str, name: str, event: Any = None, **arguments: Any) -> None:
        """Go on with a job that has ended while this task waited for it without a worker.

        :param method: of the operator of the job, which it goes on with.
        :param name: of the try that began the job.
        :raises SparkServerError: if there is no word of the job any more.
        """
        engine = self.engine_of_run(context)
        own = self._prepared(context)
        begun = BegunJob.found(own.handover, name=name)
        if begun is None:
            raise self._at(engine).lost(f"there is no word of it in its staging place, {name}")
        self._publish(*self._ran(own.taking_over(begun), engine, method, event=event, **arguments))

    def make(self, engine: Engine, context: Context) -> None:
        """Make the partition of *context*."""
        if self.takes_several:
            for error in self.make_together(engine, [context]).values():
                raise error
            return
        own = self._prepared(context)
        if not engine.finds_jobs:
            self._publish(*self._ran(own, engine))
            return
        work = work_of(own.handover, own.inputs, {**engine.conf, **self.conf}, self.application)
        begun = BegunJob.found(own.handover, work)
        if begun is not None:
            log.info("%s has begun a job that does the same: it is looked for, and no other is started", begun.attempt)
            try:
                self._publish(*self._ran(own.taking_over(begun), engine))
            except UnansweredError:
                raise
            except (JobError, ResultError, SparkServerError) as error:
                log.warning("That job has failed, so a new one is started: %s", error)
                begun.forget()
                own = self._prepared(context)
            else:
                return
        begun = BegunJob(own.handover, work)
        begun.save()
        self._publish(*self._ran(attrs.evolve(own, begun=begun), engine))

    @contextmanager
    def in_one_job(self, engine: Engine, contexts: Sequence[Context]) -> Iterator[Callable[[Context], None]]:
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
        execution = self._at(engine)
        run = partial(execution.run, self._job(handovers, engine), contexts[0])
        with SharedJob(handovers, run, execution.cancel) as shared:

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

    def make_together(self, engine: Engine, contexts: Sequence[Context]) -> Mapping[int, Exception]:
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
            prepared = PreparedJob(contexts[0], together.inputs, None, attrs.evolve(handover, several=several))
            _, result = self._ran(prepared, engine)
            seconds = round(result.seconds / len(several), 3)
            summary = {"seconds": seconds, "application": result.application, **result.left_out()}
            made = Several.from_json(result.several or {}, several)
            together.publish(made, summary, result.checks_of_several)
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

    def _job(self, handovers: Sequence[Handover], engine: Engine, **changes: Any) -> SparkJob:
        return SparkJob(
            name=self.name or self.asset_name,
            token=handovers[0].attempt.name,
            handovers=handovers,
            application=self.application,
            conf={**engine.conf, **self.conf},
            words=self.submit,
            **changes,
        )

    def _ran(
        self, prepared: PreparedJob, engine: Engine, method: str = "execute", **arguments: Any
    ) -> tuple[PreparedJob, JobResult]:
        """The job that was *prepared*, and what it reports when it has run."""
        handover, begun = prepared.handover, prepared.begun
        is_alone = self._dag is None or getattr(self._dag.timetable, "batch", 1) == 1
        may_defer = begun is not None and is_alone
        job = self._job([handover], engine, may_defer=may_defer, is_begun=prepared.is_taken_over)
        try:
            self._at(engine).run(job, prepared.context, method, **arguments)
        except PartitionError:
            if begun is not None and load_error(handover.staging) is not None:
                begun.forget()  # it has ended for sure
            raise
        return prepared, JobResult.load(handover.staging, handover.attempt.name)

    def _at(self, engine: Engine) -> Execution:
        self._execution = Execution(engine, self.demand)
        return self._execution

    def on_kill(self) -> None:
        """End the job. Word of it stays: a later try that finds it cancelled starts a new one."""
        if self._execution is not None:
            self._execution.cancel()

    def needed_by(self, partition: Partition, now: datetime) -> dict[str, Input]:
        """What *partition* needs of each input, *now* being an aware instant."""
        return Inputs(self.inputs, self.rules, self.frames).needed_by(partition, now)

    @property
    def demand(self) -> Demand:
        """What the task asks of an engine."""
        return Demand(
            asset=self.asset_name,
            storage=self.storage,
            inputs=self.inputs,
            is_program=self.function is None,
            words={word: self.submit[word] for word in self.own_words},
        )

    def engine_of_run(self, context: Context) -> Engine:
        """Where the job is to run; asked before anything is made for it.

        :raises StorageError: if there is no such connection, or it is not one to Spark.
        :raises InvalidDefinitionError: if this job can't run there.
        """
        engine = engine_of(self.conn_id, deferrable=self.deferrable) if self.engine is None else self.engine
        engine = engine.rendered(lambda value: self.render_template(value, context))
        _ = engine.conf  # of a connection: it may be none
        engine.check(self.demand)
        return engine
