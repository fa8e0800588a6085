"""The audit of a partition: all its checks, between staged and published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from airflow_partitions.checks.check import Check, missing_column
from airflow_partitions.checks.result import CheckResult, Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import CheckError, StorageError
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

_Answer = TypeVar("_Answer")


def audit(
    checks: Sequence[Check], staged: StagedPartition, asset: str, *, earlier: Iterable[CheckResult] = (), kept: str = ""
) -> tuple[CheckResult, ...]:
    """Make all *checks* of *staged*. What can be told by statistics is; the columns of the others are read once.

    :param asset: its name, for the message.
    :param earlier: results of checks that the job has made.
    :param kept: where the files stay for a look, if they do.
    :raises CheckError: if one fails whose severity is ``"error"``; all that fail are told.
    :raises StorageError: if the files can't be read.
    """
    results = list(earlier)
    for table in dict.fromkeys(check.table for check in checks):
        own = staged.table(table) if table else staged
        results += _results([check for check in checks if check.table == table], own)
    if failed := [result for result in results if not result.passed and result.severity == "error"]:
        lines = "".join(f"\n  {result.describe()}" for result in failed)
        stay = f"; what was written stays in {kept} until clean-up" if kept else ""
        raise CheckError(
            f"asset {asset!r}, partition {staged.partition.text!r}: {len(failed)} of {len(results)} checks failed, so"
            f" nothing was published{stay}:{lines}",
            results=tuple(results),
        )
    return tuple(results)


def attempt(observe: Callable[[], _Answer]) -> _Answer | Observation:
    """What a check observes; what it raises is told as a failure, unless storage can't be reached.

    :raises StorageError: if it can't.
    """
    try:
        return observe()
    except StorageError:
        raise
    except Exception as error:  # noqa: BLE001 - a function of the author may raise anything
        return Observation(False, f"it raised {type(error).__name__}: {error}")


def _results(checks: Sequence[Check], staged: StagedPartition) -> list[CheckResult]:
    columns = {name for check in checks for name in check.columns or ()}
    statistics = staged.statistics([name for name in staged.schema if name in columns])
    observations = [_without_rows(check, staged, statistics) for check in checks]
    undecided = [check for check, observation in zip(checks, observations, strict=True) if observation is None]
    if undecided:
        rows = staged.read(_needed_by(undecided, staged))
        observations = [
            attempt(partial(check.by_rows, staged, rows)) if observation is None else observation
            for check, observation in zip(checks, observations, strict=True)
        ]
    return [
        CheckResult.of(check.full_name, check.severity, check.expected, observation)
        for check, observation in zip(checks, observations, strict=True)
        if observation is not None
    ]


def _without_rows(check: Check, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
    if missing := missing_column(check.needed_columns, list(staged.schema), "what was written"):
        return Observation(False, missing)
    return attempt(partial(check.by_statistics, staged, statistics))


def _needed_by(checks: Sequence[Check], staged: StagedPartition) -> list[str] | None:
    """The columns that one of *checks* looks at; ``None`` for all of them."""
    columns = [check.columns for check in checks]
    names = {name for each in columns for name in each or ()}
    return None if None in columns else [name for name in staged.schema if name in names]
