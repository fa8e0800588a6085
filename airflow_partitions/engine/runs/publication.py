"""Publication of the partition that a run makes: who writes it, and the word of it on the event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from airflow_partitions.checks.audit import audit
from airflow_partitions.checks.check import Check
from airflow_partitions.checks.result import CheckResult
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import CheckError, MissingPartitionError, PartitionError
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.result import Result
from airflow_partitions.frames.several import Several
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import changed_at
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.stores.commit_log import CHECKPOINT_EVERY
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow.sdk import Context


log = logging.getLogger(__name__)

#: Where local storage is cleaned up: a file whose time says when, and how long that is enough.
_CLEANED, _CLEAN_EVERY = "cleaned", timedelta(minutes=10)
#: XCom of a task: the checks that its partition fails and was published all the same, for the note of the run.
FAILED_CHECKS = "airflow_partitions_failed_checks"


def partition_in(context: Mapping[str, Any], task: str) -> Partition:
    """The partition that *task* is to make.

    :raises MissingPartitionError: if the run has none.
    """
    partition = context.get("partition")
    if not isinstance(partition, Partition):
        raise MissingPartitionError(
            f"task {task!r} has no partition in its context ({partition!r}); expected a run with a partition key, of a"
            " Dag made by airflow_partitions"
        )
    return partition


def attempt_of(context: Context) -> Attempt:
    """The try of the task, as the one that makes the partition of its run."""
    instance = context["ti"]
    return Attempt(instance.dag_id, instance.run_id, instance.try_number)


def finish(
    context: Context,
    asset: Asset | str,
    staged: StagedPartition,
    staging: Staging,
    result: Result,
    checks: Sequence[Check] = (),
    *,
    earlier: Sequence[CheckResult] = (),
    attempt: Attempt | None = None,
) -> None:
    """Check what was *staged*, publish it, say so in the log and on the event of *asset*, and clear away.

    :param checks: of those that fail with a warning the note of the run speaks too.
    :param earlier: results of checks that the job has made.
    :param attempt: who has staged it, if not the task of *context*.
    :raises CheckError: if a check fails: nothing is published.
    :raises ResultError: if the staged files are not those of *result*.
    :raises ConflictError: if a newer try of the same run has published, or another run since this try began.
    """
    partition, storage = staged.partition, staged.storage
    name = asset if isinstance(asset, str) else asset.name
    results = audit(checks, staged, name, earlier=earlier, kept=str(staging.data))
    metadata = publish(storage, partition.wrapped, attempt or attempt_of(context), staging, result.written)
    log.info("Published %s: %s", partition.text, result.describe())
    _note_checks(context, partition, results)
    report(context, asset, result, results)
    staging.remove()
    _clear_away(partition, storage, staging, metadata.commit)


def _clear_away(partition: Partition, storage: Dataset, staging: Staging, commit: int) -> None:
    """Remove what earlier tries left, now and then: it takes a look at all partitions, and at what is a day old.

    What stands in the way of that is no fault of *partition*, which is published.
    """
    cleaned = staging.folder.parent.with_name(_CLEANED)
    if isinstance(cleaned, Path):
        moment = changed_at(cleaned)
        if moment is not None and datetime.now(UTC) - moment < _CLEAN_EVERY:
            return
    elif commit % CHECKPOINT_EVERY:  # to list an object store takes time
        return
    try:
        if isinstance(cleaned, Path):
            with translate_errors(repr(storage.path), "cleaned up"):
                cleaned.touch()
        clean(storage)
    except PartitionError as error:
        log.warning("Published %s, but what earlier tries left stays: %s", partition.text, error)


def put_together(
    contexts: Sequence[Context],
    asset: Asset | str,
    commit: Commit,
    several: Several,
    checks: Callable[[Partition], Sequence[CheckResult]],
    summary: Mapping[str, Any],
) -> dict[int, Exception]:
    """Let *commit* publish the partitions of several contexts, but for those that fail a check.

    :param checks: gives the results of the checks of one.
    :param summary: what all have in common, for their events.
    :returns: what the others fail, by their place.
    """
    errors: dict[int, Exception] = {}
    for place, context in enumerate(contexts):
        partition = partition_in(context, context["ti"].task_id)
        files = several.of(partition.wrapped)
        try:
            results = checks(partition)
        except CheckError as error:
            errors[place] = error
            several.withhold(partition.wrapped, commit)
            continue
        several.put(partition.wrapped, commit, attempt_of(context))
        _note_checks(context, partition, results)
        counts = {"rows": files.rows, "files": len(files.files), "bytes": files.bytes}
        _tell(context, asset, {**counts, **summary}, results)
    log.info("Made %s with %s", count(len(contexts) - len(errors), "partition"), count(several.rows, "row"))
    return errors


def _note_checks(context: Context, partition: Partition, checks: Sequence[CheckResult]) -> None:
    """Say which *checks* a partition fails that is published all the same: in the log, and for the note of the run."""
    failed = [check for check in checks if not check.passed]
    for check in failed:
        log.warning("Published %s, which fails a check: %s", partition.text, check.describe())
    if failed:
        context["ti"].xcom_push(FAILED_CHECKS, "; ".join(check.name for check in failed))


def report(context: Context, asset: Asset | str, result: Result, checks: Sequence[CheckResult] = ()) -> None:
    """Put the counts and the results of *checks* on the event of *asset*."""
    _tell(context, asset, result.summary(), checks)


def _tell(context: Context, asset: Asset | str, summary: Mapping[str, Any], checks: Sequence[CheckResult]) -> None:
    event = context["outlet_events"][asset if isinstance(asset, Asset) else Asset.ref(name=asset)]
    results: dict[str, Any] = {"checks": [check.summary() for check in checks]} if checks else {}
    event.extra = {**(event.extra or {}), **summary, **results}
