"""Reads without a plan that could be looked at: by RDDs, and by iterating."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Spark runs the jobs of this one after its query has ended, and tells no listener.
_ITERATING = "toLocalIterator"
# RDDs that begin with what the driver had, or with what was read, and looked at, before.
_HARMLESS = {"ParallelCollectionRDD", "EmptyRDD", "LocalCheckpointRDD", "ReliableCheckpointRDD"}


def sources(rdd: Any) -> Iterator[str]:
    """What an *rdd* of the JVM reads from, in words."""
    seen: set[int] = set()
    left = [rdd]
    while left:
        one = left.pop()
        if one.id() in seen:
            continue
        seen.add(one.id())
        parents = one.dependencies()
        left += [parents.apply(i).rdd() for i in range(parents.size())]
        kind = one.getClass().getSimpleName()
        if not parents.size() and kind not in _HARMLESS:
            yield f"{kind} {one.name()}" if one.name() else kind


class Jobs:
    """The jobs of a session that belong to no query that its listeners are told of."""

    def __init__(self, spark: SparkSession) -> None:
        self._store = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001
        self._first = 0

    def begin(self) -> None:
        """Leave out the jobs that there are."""
        self._first = next((job.jobId() + 1 for job in self._newest()), 0)

    def reading(self) -> list[str]:
        """Those that read anything since :meth:`begin`, in words."""
        reads, jobs, newest = [], 0, self._first - 1
        for job in self._newest():
            if job.jobId() < self._first:
                break
            jobs, newest = jobs + 1, max(newest, job.jobId())
            query = self._store.jobWithAssociatedSql(job.jobId()).productElement(1)
            hidden = query.isEmpty() or job.name().startswith(_ITERATING)
            if hidden and (rows := self._rows(job)):
                reads.append(f"job {job.jobId()}, {job.name()}: {rows} rows")
        forgotten = newest - self._first + 1 - jobs
        return [*reversed(reads), *([f"{forgotten} jobs beyond spark.ui.retainedJobs"] if forgotten else [])]

    def _newest(self) -> Iterator[Any]:
        jobs = self._store.jobsList(None)
        return (jobs.apply(i) for i in range(jobs.size()))

    def _rows(self, job: Any) -> int:
        """How many rows its stages read: from files, or from what is cached."""
        stages = job.stageIds()
        numbers = (stages.apply(i) for i in range(stages.size()))
        return sum(self._store.lastStageAttempt(number).inputRecords() for number in numbers)
