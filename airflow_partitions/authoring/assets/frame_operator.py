"""The task that runs a function over frames, and publishes the one it returns."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow_partitions.authoring.assets.python import (
    AssetFunctionOperator,
    check_names,
    check_parameters,
    takes_several,
    upstream_names,
)
from airflow_partitions.checks.check import Check
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.batches.work import make_batch
from airflow_partitions.engine.runs.elsewhere import published_elsewhere
from airflow_partitions.engine.runs.freezing import Freezing, check_freeze
from airflow_partitions.engine.runs.publication import attempt_of, finish, partition_in
from airflow_partitions.engine.runs.together import making_together
from airflow_partitions.frames.input import Input, Inputs
from airflow_partitions.frames.reading import read_inputs
from airflow_partitions.frames.result import Result
from airflow_partitions.frames.several import SEVERAL, check_several, write_several
from airflow_partitions.frames.staged import stage
from airflow_partitions.frames.stored_frame import StoredFrame
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.open import open_staging
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_partitions.authoring.assets.declaration import DeclaredAsset

log = logging.getLogger(__name__)


class FrameOperator(AssetFunctionOperator):
    """Calls a function with frames of the partitions that its run depends on, and publishes the frame it returns.

    What it returns goes to a staging place of this run and try, and takes the place of the partition in one step.
    Whatever fails before that leaves the old files alone.

    :param asset: the asset that the function makes; one without storage writes by itself.
    :param inputs: what the function reads.
    :param takes_several: whether the function makes all partitions of a batch at once.
    :param checks: what its partition is checked for before it is published.
    :param freeze: let all tries of the run, and other tasks of it that say so, read the same partitions and files of
        their inputs, whoever writes meanwhile. The path of a folder keeps the listings there, not beside the data.
    """

    def __init__(
        self,
        *,
        asset: DeclaredAsset,
        inputs: Inputs,
        takes_several: bool = False,
        checks: Sequence[Check] = (),
        freeze: bool | str = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(asset_name=asset.name, show_return_value_in_logs=False, **kwargs)
        self.asset = asset
        self.storage = asset.storage
        self.inputs = inputs
        self.checks = checks
        self.freeze = freeze
        self.takes_several = takes_several
        self.filled = (*inputs.storage, SEVERAL) if takes_several else tuple(inputs.storage)
        self._frames: Mapping[str, Any] = {}

    @classmethod
    def over(
        cls,
        function: Callable[..., Any],
        asset: DeclaredAsset,
        inputs: Inputs,
        schedule: Any,
        checks: Sequence[Check] = (),
        freeze: bool | str = False,
        threads: int = 1,
    ) -> FrameOperator:
        """The task of *function*, which makes *asset* from *inputs*, in a Dag with that *schedule*."""
        check_parameters(function)
        check_freeze(freeze, inputs.storage, asset.name)
        own: tuple[str, ...] = ()
        if takes_several(function, schedule, inputs.storage):
            check_several(inspect.signature(function).parameters, asset.storage, asset.name)
            if threads != 1:
                raise InvalidDefinitionError(
                    f"asset {asset.name!r} takes {SEVERAL!r}, all of a batch by one call, and has threads={threads};"
                    " expected one of the two"
                )
            own = (SEVERAL,)
        check_names(function, schedule, (*inputs.storage, *own))
        from airflow.sdk import Asset

        others = [name for name in upstream_names(function) if name not in (*inputs.storage, *own)]
        return cls(
            asset=asset,
            inputs=inputs,
            takes_several=bool(own),
            checks=checks,
            freeze=freeze,
            threads=threads,
            task_id=function.__name__,
            inlets=[Asset.ref(name=name) for name in others],
            outlets=[asset],
            python_callable=function,
        )

    def execute(self, context: Context) -> Any:
        """Make the partition of this run, and those of the runs that it has been given."""
        together = self.make_together if self.takes_several else None
        return make_batch(self, context, self.make_apart, together, threads=self.threads)

    def make(self, context: Context) -> Any:
        """Call the function, and make the partition of *context*."""
        if self.takes_several:
            for error in self.make_together([context]).values():
                raise error
            return None
        partition, storage = partition_in(context, self.task_id), self.storage
        # Its place is made before anything is read: what another run publishes from now on is not for it to replace.
        staging = None if storage is None else _staging(context, storage, partition)
        started = time.monotonic()
        # What a rule takes for now is when the run was asked for: a retry reads what the first try did.
        inputs = self.needed_by(partition, context["dag_run"].run_after)
        freezing = Freezing.asked_for(context, self.freeze)
        if freezing is not None:
            inputs = freezing.freeze(inputs)
        sources = inputs
        if staging is not None:
            sources = {name: source.handed_over(staging.inputs) for name, source in inputs.items()}
        reading = read_inputs(sources)
        self._frames = {**self.unfilled(inputs), **reading.frames}
        value = super().make(context)
        frame = StoredFrame.of(value).collected()
        if frame.storage or storage is not None:
            value = None
        with published_elsewhere(context, self.asset, storage, partition, frame):
            if storage is not None and staging is not None:
                written = stage(frame.frame, partition, storage, staging)
                result = Result(written=written, reads=reading.reads, seconds=time.monotonic() - started)
                staged = StagedPartition(partition, storage, written, staging.data, sources)
                finish(context, self.asset, staged, staging, result, self.checks)
        if freezing is not None:
            freezing.release(context, inputs)
        return value

    def make_together(self, contexts: Sequence[Context]) -> Mapping[int, Exception]:
        """Call the function once, and make the partitions of several contexts: each row names its own.

        One without rows is published empty. They are published in one commit.

        :returns: of those that fail a check, and were not published, by their place.
        :raises ForeignRowsError: if a row names a partition that was not asked for.
        """
        if self.storage is None:
            raise InvalidDefinitionError(f"{self.task_id} has no storage, so nothing to make partitions of")
        started = time.monotonic()
        with making_together(
            contexts, self.task_id, self.asset, self.storage, self.needed_by, checks=self.checks, freeze=self.freeze
        ) as together:
            reading = read_inputs(together.inputs)
            self._frames = {**self.unfilled(together.inputs), **reading.frames, SEVERAL: together.partitions}
            frame = super().make(contexts[0])
            several = write_several(frame, together.partitions, self.storage, together.commit.folder)
            together.publish(several, {"seconds": round((time.monotonic() - started) / len(contexts), 3)})
        for name, reads in reading.reads.items():
            log.info("Read %s of %s: %s", count(reads.partitions, "partition"), name, count(reads.rows, "row"))
        return together.errors

    def needed_by(self, partition: Partition, now: datetime) -> dict[str, Input]:
        """What *partition* needs of each input, *now* being an aware instant."""
        return self.inputs.needed_by(partition, now)

    def unfilled(self, inputs: Mapping[str, Input]) -> dict[str, Any]:
        """What the function takes for what it declares and has nothing to read of: the past of the first partition."""
        return {name: None for name in self.inputs.storage if name not in inputs}

    def determine_kwargs(self, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """The argument for each parameter of the function."""
        return {**super().determine_kwargs(context), **self._frames}


def _staging(context: Context, storage: Storage, partition: Partition) -> Staging:
    directory = storage.layout.directory_of(partition.wrapped)
    return open_staging(storage, attempt_of(context), directory)
