"""One partition made in this process: no event, no database, nothing published."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.authoring.local.session import local_session
from airflow_partitions.authoring.local.submission import submit_locally
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.run_partition import RunPartition
from airflow_partitions.frames.result import Result
from airflow_partitions.frames.rows import first_rows
from airflow_partitions.frames.several import SEVERAL

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator
    from pyspark.sql import DataFrame, SparkSession

    from airflow_partitions.authoring.assets.declaration import DeclaredAsset
    from airflow_partitions.authoring.assets.frame_operator import FrameOperator
    from airflow_partitions.authoring.assets.python import AssetFunctionOperator
    from airflow_partitions.checks.result import CheckResult
    from airflow_partitions.spark.handover import Handover
    from airflow_partitions.spark.operator import SparkAssetOperator
    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.storage import Storage
    from airflow_partitions.storage.stores.staging import Staging


@attrs.frozen
class Trial:
    """Outcome of a trial.

    :ivar partition: the partition that was made.
    :ivar value: returned by a Python function; of a Spark function the DataFrame of the rows it would publish.
    :ivar plan: Spark's formatted plan of that DataFrame, if asked for.
    :ivar result: counts of what was read and written, as they would go on the asset event.
    :ivar checks: results of its checks: all passed, or are of ``severity="warn"``.
    """

    partition: Partition
    value: Any
    plan: str | None = None
    result: Result | None = None
    checks: tuple[CheckResult, ...] = ()

    def rows(self, limit: int) -> list[dict[str, Any]]:
        """The first *limit* rows of a frame, each as column to value; none if the value is no frame."""
        return first_rows(self.value, limit)


def try_partition(
    asset: DeclaredAsset | BaseOperator,
    key: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    explain: bool = False,
    spark: SparkSession | None = None,
) -> Trial:
    """Make the partition *key* of *asset* here and now.

    :param asset: a decorated asset, or its task.
    :param key: a key of the asset, its text, or a plain value.
    :param inputs: to read instead of an input's partitions: a frame of the kind that the function takes, or the path of
        Parquet files.
    :param explain: ask for the plan.
    :param spark: the session to use; by default one on two threads that is kept for the next call.
    :raises InvalidKeyError: if the asset has no such partition.
    :raises InvalidDefinitionError: if it is no partitioned asset, or has no such input.
    :raises MissingInputError: if a partition of an input is not stored, and nothing is given instead.
    :raises CheckError: if what is made fails a check.
    """
    from airflow_partitions.authoring.assets.frame_operator import FrameOperator
    from airflow_partitions.authoring.assets.python import AssetFunctionOperator
    from airflow_partitions.engine.timetables.base import PartitionTimetable
    from airflow_partitions.spark.operator import SparkAssetOperator

    task: Any = getattr(asset, "task", asset)
    timetable = getattr(getattr(task, "dag", None), "timetable", None)
    if not isinstance(timetable, PartitionTimetable) or timetable.partition is None:
        raise InvalidDefinitionError(f"{asset!r} has no partitions; expected what @asset or @spark_asset made")
    now = datetime.now(UTC)
    partition = RunPartition(timetable, key, now, now)
    if isinstance(task, SparkAssetOperator):
        return _try_spark(task, partition, inputs or {}, explain, spark or local_session())
    if isinstance(task, FrameOperator):
        return _try_frames(task, partition, inputs or {})
    if inputs:
        raise InvalidKeyError(f"{task.task_id} has no inputs, so none that {', '.join(inputs)} could stand for")
    if isinstance(task, AssetFunctionOperator):
        return Trial(partition, _call(task, partition))
    raise InvalidDefinitionError(f"{task!r} is not the task of a decorated asset")


def _try_frames(task: FrameOperator, partition: Partition, stand_ins: Mapping[str, Any]) -> Trial:
    """Call a function over frames; what it returns is written, so that it is checked, and not published."""
    import time

    from airflow_partitions.checks.audit import audit
    from airflow_partitions.checks.staged_partition import StagedPartition
    from airflow_partitions.frames.reading import read_inputs
    from airflow_partitions.frames.result import Result
    from airflow_partitions.frames.staged import stage
    from airflow_partitions.frames.stored_frame import StoredFrame
    from airflow_partitions.storage import Parquet
    from airflow_partitions.storage.metadata.attempt import Attempt

    _check_stand_ins(task.task_id, task.inputs.storage, stand_ins)
    with tempfile.TemporaryDirectory(prefix="airflow-partitions-") as folder:
        scratch, started = Path(folder), time.monotonic()
        paths = {name: _path(scratch, name, each) for name, each in stand_ins.items() if isinstance(each, str | Path)}
        frames = {name: frame for name, frame in stand_ins.items() if name not in paths}
        inputs = {
            name: attrs.evolve(needed, storage=Parquet(paths[name]), selection=None) if name in paths else needed
            for name, needed in task.needed_by(partition, datetime.now(UTC)).items()
            if name not in frames
        }
        reading = read_inputs(inputs)
        frames |= reading.frames
        value = StoredFrame.of(_call(task, partition, task.unfilled(inputs) | frames)).frame
        if task.storage is None:
            return Trial(partition, value)
        storage, staging = _scratch_of(task.storage, partition, scratch, Attempt(task.dag_id, "local", 1))
        written = stage(value, partition, storage, staging)
        result = Result(written=written, reads=reading.reads, seconds=time.monotonic() - started)
        staged = StagedPartition(partition, task.storage, written, staging.data, frames | inputs)
        return Trial(partition, value, result=result, checks=audit(task.checks, staged, task.asset.name))


def _check_stand_ins(task: str, inputs: Mapping[str, Any], stand_ins: Mapping[str, Any]) -> None:
    if unknown := set(stand_ins) - set(inputs):
        names = ", ".join(inputs) or "none"
        raise InvalidDefinitionError(f"there is no input {', '.join(sorted(unknown))}; {task} has: {names}")


def _call(task: AssetFunctionOperator, partition: Partition, frames: Mapping[str, Any] | None = None) -> Any:
    """Call a Python function with the arguments of its task, as far as they exist without Airflow."""
    import inspect

    from airflow.sdk import Asset

    from airflow_partitions.authoring.assets.python import upstream_names

    outlet_events: Any = defaultdict(lambda: SimpleNamespace(extra={}))
    context = {"partition": partition, "outlet_events": outlet_events, "task": task, "dag": task.dag}
    arguments = {
        "partition": partition,
        "partitions": [partition],
        "context": context,
        "outlet_events": outlet_events,
        "self": task.outlets[0],
    }
    arguments |= {name: Asset(name=name) for name in upstream_names(task.python_callable)} | dict(frames or {})
    arguments |= {"partition": partition}
    if getattr(task, "takes_several", False):
        arguments |= {SEVERAL: [partition]}
    parameters = inspect.signature(task.python_callable).parameters
    return task.python_callable(**{name: value for name, value in arguments.items() if name in parameters})


def _try_spark(
    task: SparkAssetOperator,
    partition: Partition,
    stand_ins: Mapping[str, DataFrame | Path | str],
    explain: bool,
    spark: SparkSession,
) -> Trial:
    from airflow_partitions.checks.audit import audit
    from airflow_partitions.checks.staged_partition import StagedPartition
    from airflow_partitions.spark.driver import run
    from airflow_partitions.spark.job_result import JobResult
    from airflow_partitions.spark.running_job import job

    _check_stand_ins(task.task_id, task.inputs, stand_ins)
    with tempfile.TemporaryDirectory(prefix="airflow-partitions-") as folder:
        scratch = Path(folder)
        paths = {name: _path(scratch, name, value) for name, value in stand_ins.items()}
        handover = _handover(task, partition, paths, scratch)
        plan = None
        if handover.function is None:
            submit_locally(task.application, handover)
        else:
            with job(handover, spark) as current:
                run(current)
            if explain and current.frame is not None:
                plan = _plan(spark, current.frame)
        result = JobResult.load(handover.staging, handover.attempt.name)
        staged = StagedPartition(partition, task.storage, result.written, handover.staging.data, handover.inputs)
        rows = staged.read_as("spark", list(staged.files_schema), spark)
        # Collected now: the scratch place is gone when the caller looks.
        value = spark.createDataFrame(rows.collect(), rows.schema)
        checks = audit(task.checks, staged, task.asset_name, earlier=result.checks)
        return Trial(partition, value, plan, result, checks)


def _handover(task: SparkAssetOperator, partition: Partition, paths: Mapping[str, str], scratch: Path) -> Handover:
    from airflow_partitions.spark.handover import Handover
    from airflow_partitions.storage import Parquet
    from airflow_partitions.storage.metadata.attempt import Attempt

    attempt = Attempt(task.dag_id, "local", 1)
    inputs = {
        name: attrs.evolve(needed, storage=Parquet(paths[name]), selection=None) if name in paths else needed
        for name, needed in task.needed_by(partition, datetime.now(UTC)).items()
    }
    output, staging = _scratch_of(task.storage, partition, scratch, attempt)
    inputs = {name: source.handed_over(staging.inputs) for name, source in inputs.items()}
    for source in inputs.values():
        source.identities()
    return Handover(
        asset=task.asset_name,
        attempt=attempt,
        partition=partition,
        inputs=inputs,
        output=output,
        staging=staging,
        function=task.function,
        checks=task.shipped_checks,
        strict=task.strict,
    )


def _scratch_of(storage: Storage, partition: Partition, folder: Path, attempt: Attempt) -> tuple[Storage, Staging]:
    """*storage* as a trial writes *partition* of it, and where: below *folder*, nothing of the real one is touched."""
    from airflow_partitions.storage.backend import open_backend

    return open_backend(storage).scratch(folder, attempt, storage.layout.directory_of(partition.wrapped))


def _path(scratch: Path, name: str, value: DataFrame | Path | str) -> str:
    """The path of an input's stand-in; a DataFrame is written there, so that its types are those of files."""
    folder = scratch / f"input-{name}"
    if not isinstance(value, str | Path):
        value.write.parquet(str(folder))
        return str(folder)
    path = Path(value).resolve()
    if not path.is_file():
        return str(path)
    # What a job read is told by its folders, so one file gets a folder of its own.
    folder.mkdir()
    folder.joinpath(path.name).symlink_to(path)
    return str(folder)


def _plan(spark: SparkSession, frame: DataFrame) -> str:
    # DataFrame.explain only prints.
    jvm, query = spark._jvm, frame._jdf.queryExecution()  # noqa: SLF001
    mode = jvm.org.apache.spark.sql.execution.ExplainMode.fromString("formatted")  # type: ignore[union-attr]
    return str(query.explainString(mode))
