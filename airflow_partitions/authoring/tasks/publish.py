"""The operator that publishes what a job of any engine has staged."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset, BaseOperator
from airflow.sdk.definitions.mappedoperator import MappedOperator

from airflow_partitions.authoring.assets.declaration import DeclaredAsset
from airflow_partitions.checks.declared import declared
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.dependencies import Dependency, Overlap, Rule
from airflow_partitions.core.errors import InvalidDefinitionError, ResultError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.lineage import LineageMethods
from airflow_partitions.engine.runs.open_job import STAGED, StagedBy
from airflow_partitions.engine.runs.publication import finish, partition_in, report
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.frames.input import Input, Inputs
from airflow_partitions.frames.result import Result
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_partitions.core.definitions import PartitionDefinition


@attrs.frozen(kw_only=True)
class OpenResult(Result):
    """The outcome of a job that is not ours.

    :ivar promised: what it was told to read: how many partitions of each input. What it has read nobody counts.
    """

    promised: Mapping[str, int]

    def summary(self) -> dict[str, Any]:
        words = [f"what was read of {name}: {count(number, 'partition')} promised" for name, number in self._counts()]
        return {**super().summary(), **({"unseen": words} if words else {})}

    def _notes(self) -> list[str]:
        return [f"promised {count(number, 'partition')} of {name}" for name, number in self._counts()]

    def _counts(self) -> list[tuple[str, int]]:
        return list(self.promised.items())


class Publish(LineageMethods, BaseOperator):
    """Publishes the partition of its run that a task before it has staged, whatever engine that has used.

    .. code-block:: python

        with DAG("daily_delays", schedule=Partitioned(hourly_flights, DAYS, asset=DELAYS)):
            make = BashOperator(
                task_id="make",
                bash_command="delays.py --to {{ partition.staging }} {{ partition.paths('flights') | join(' ') }}",
            )
            make >> Publish(
                asset=DELAYS,
                storage=Parquet("/lake/daily_delays", partition_on={"day": "%Y-%m-%d"}),
                inputs={"flights": hourly_flights},
                checks=[NotNull("origin")],
            )

    The task before it asks for ``{{ partition.staging }}``, a folder of its own try, or for ``{{
    partition.staging_table }}``, a table to insert into. Nobody reads there. What it leaves is looked at by this one:
    whether it is of the partition, has the columns of the storage, and passes the checks. Then it takes the place of
    the partition in one step, and the asset's event tells of rows, files and bytes. Whatever fails before that leaves
    the old files alone.

    :param asset: the asset that is made, one of the task's outlets.
    :param storage: where it is published.
    :param inputs: what jobs of the Dag may read, by the name that templates call it: storage, or an asset with some.
    :param rules: what replaces overlap for an input, by name.
    :param checks: what the partition is checked for before it is published, as ``checks=`` of :class:`.asset`.
    :param task_id: of the task.
    :raises InvalidDefinitionError: if it can't be published there, or an input or a check makes no sense.
    """

    ui_color = "#7d9a8a"

    def __init__(
        self,
        *,
        asset: Asset,
        storage: Storage,
        inputs: Mapping[str, Storage | DeclaredAsset] | None = None,
        rules: Mapping[str, Rule] | None = None,
        checks: Iterable[Any] = (),
        task_id: str = "publish",
        **kwargs: Any,
    ) -> None:
        sources = dict(inputs or {})
        kwargs["outlets"] = [asset, *(each for each in kwargs.get("outlets") or () if each != asset)]
        kwargs["inlets"] = [*(kwargs.get("inlets") or ()), *(s for s in sources.values() if isinstance(s, Asset))]
        super().__init__(task_id=task_id, **kwargs)
        if not isinstance(storage, Storage):
            raise InvalidDefinitionError(
                f"Publish(asset={asset.name!r}): storage={storage!r} is no storage; expected for example"
                " Parquet('/lake/x')"
            )
        if storage.ownership is not Ownership.OWNED:
            raise InvalidDefinitionError(
                f"asset {asset.name!r}: storage {storage.path!r} has ownership={storage.ownership.value!r}, so no asset"
                " makes all of it; expected storage of its own"
            )
        self.asset = asset
        self.inputs = Inputs({name: _stored(name, source) for name, source in sources.items()}, dict(rules or {}))
        if unknown := sorted(set(self.inputs.rules) - set(sources)):
            nearest = f"; nearest: {nearest_texts(unknown[0], sources)[0]}" if sources else ""
            raise InvalidDefinitionError(
                f"asset {asset.name!r}: rules for {unknown[0]!r}, which is no input{nearest}; expected inputs="
            )
        definition = _definition(self)
        self.storage = storage
        if definition is not None:
            self.storage = storage.of(definition)
            for name, source in self.inputs.storage.items():
                if source.partition is not None:  # refuses what can never meet
                    Dependency(definition, source.partition, self.inputs.rules.get(name, Overlap()))
        self.checks = declared(checks, asset.name, self.storage, sources)

    @property
    def asset_name(self) -> str:
        """Name of the asset."""
        return self.asset.name

    def stored_as(self, partition: Partition) -> Storage:
        """Where *partition* is published."""
        return self.storage.of(partition.definition)

    def needed_by(self, partition: Partition, now: datetime) -> dict[str, Input]:
        """What *partition* needs of each input, *now* being an aware instant."""
        return self.inputs.needed_by(partition, now)

    def execute(self, context: Context) -> None:
        """Publish the partition of this run.

        :raises ResultError: if nothing is staged for it, or by a task that did not succeed.
        :raises ForeignRowsError: if what is staged has rows of another partition.
        :raises SchemaError: if it has other columns than the storage.
        :raises CheckError: if a check fails.
        :raises ConflictError: if a newer try, or another run, was quicker.
        """
        started = time.monotonic()
        partition = partition_in(context, self.task_id)
        storage, staged_by = self.stored_as(partition), self._staged_by(context)
        staging = staged_by.place(storage, partition)
        needed = self.needed_by(partition, context["dag_run"].run_after)
        promised = {name: len(source.selection) for name, source in needed.items() if source.selection is not None}
        if not staging.folder.exists():
            self._say_again(context, partition, storage, staged_by.attempt)
            return
        written = open_backend(storage).left_in(staging.data, partition.wrapped)
        result = OpenResult(written=written, reads={}, seconds=time.monotonic() - started, promised=promised)
        staged = StagedPartition(partition, storage, written, staging.data, needed)
        finish(context, self.asset, staged, staging, result, self.checks, attempt=staged_by.attempt)

    def _staged_by(self, context: Context) -> StagedBy:
        """Which try of which task has staged the partition."""
        instance: Any = context["ti"]
        before = sorted(self.get_flat_relative_ids(upstream=True))
        stagers = {
            task: (instance.xcom_pull(task_ids=task, key=STAGED) or {}) for task in before if _is_single(self, task)
        }
        stagers = {task: staged[self.asset_name] for task, staged in stagers.items() if self.asset_name in staged}
        if len(stagers) != 1:
            who = "no task before it" if not stagers else f"several tasks before it ({', '.join(stagers)})"
            raise ResultError(
                f"task {self.task_id!r}: {who} has asked for the staging folder of a partition of {self.asset_name!r};"
                " expected one that writes to {{ partition.staging }}, and that was cleared, if it was, together with"
                " this one"
            )
        ((task, form),) = stagers.items()
        state = _state(context, task)
        if state != "success":
            raise ResultError(
                f"task {task!r}, which has staged a partition of {self.asset_name!r}, is {state!r}; expected it to have"
                " succeeded: what it left may be a part"
            )
        return StagedBy.from_json(form)

    def _say_again(self, context: Context, partition: Partition, storage: Storage, attempt: Attempt) -> None:
        """Tell of a partition that was published already by what is staged: an earlier try of this task has ended
        between the two, or it was cleared alone.

        :raises ResultError: if it was not.
        """
        stored = storage.get(partition.wrapped)
        if stored is None or stored.content.metadata is None or stored.content.metadata.attempt != attempt:
            raise ResultError(
                f"what {attempt} has staged of partition {partition.text!r} is gone: a later one has taken its place,"
                f" or it was cleaned up; expected the task that stages it to be cleared together with {self.task_id!r}"
            )
        written = StagedFiles(stored.rows, stored.files, stored.content.metadata.schema)
        report(context, self.asset, Result(written=written, reads={}, seconds=0.0))
        self.log.info("%s was published by %s already", partition.text, attempt)


def _stored(name: str, source: Storage | DeclaredAsset) -> Storage:
    storage = source if isinstance(source, Storage) else getattr(source, "storage", None)
    if not isinstance(storage, Storage):
        raise InvalidDefinitionError(
            f"input {name!r} is {source!r}, which says not where it is stored; expected storage, such as"
            " Parquet('/lake/x').of(definition), or an asset with storage="
        )
    return storage


def _definition(task: BaseOperator) -> PartitionDefinition | None:
    """Of the partitions of the task's Dag, if it is in one that has some."""
    timetable = task.dag.timetable if task.has_dag() else None
    return timetable.partition if isinstance(timetable, PartitionTimetable) else None


def _is_single(publisher: BaseOperator, task: str) -> bool:
    """Whether there is one *task* of the id: none that is mapped stages a partition."""
    return not isinstance(publisher.dag.get_task(task), MappedOperator)


def _state(context: Context, task: str) -> str | None:
    run = context["dag_run"]
    states = context["ti"].get_task_states(dag_id=run.dag_id, task_ids=[task], run_ids=[run.run_id])
    return str(states.get(run.run_id, {}).get(task))
