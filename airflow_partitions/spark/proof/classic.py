"""Counts of what a session with a driver really read, from the plans that ran.

A listener is told of every query execution of the session, also of failed ones and of those the author does not see
(a write runs in an execution of its own). Each executed plan is walked through adaptive execution, query stages,
subqueries, reused exchanges and cached plans; scans are told apart by the ids of their metrics, so that a scan that
shows up in several plans counts once. How often it ran, since a DataFrame may be used again, Spark's own records of the
queries say.

RDDs (``sparkContext.textFile``, ``DataFrame.rdd``) have no plans, and those of ``ANALYZE TABLE`` are not shown: what
was read by them is told, not counted. What it can't see at all: files read by pandas or boto3 in the driver or in
Python UDFs; sessions made by ``newSession()``; the reading of a schema from file footers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import ResultError
from airflow_partitions.spark.proof.file_listing import FileListing
from airflow_partitions.spark.proof.promise import Promise
from airflow_partitions.spark.proof.scan import ObservedScan, normalise_path
from airflow_partitions.spark.proof.sql_metrics import SqlMetrics
from airflow_partitions.spark.proof.uncounted_reads import Jobs, sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Where a node keeps the plans that `children` does not show.
_INSIDE = {
    "AdaptiveSparkPlanExec": ("initialPlan", "executedPlan"),
    "ShuffleQueryStageExec": ("plan",),
    "BroadcastQueryStageExec": ("plan",),
    "TableCacheQueryStageExec": ("plan",),
    "ResultQueryStageExec": ("plan",),
    "ReusedExchangeExec": ("child",),
    "ReusedSubqueryExec": ("child",),
    "CommandResultExec": ("commandPhysicalPlan",),
}
# Scans of other sources than files: they have no locations to compare, so their description stands in.
_OTHER_SCANS = {"RowDataSourceScanExec", "HiveTableScanExec"}
#: Commands that read tables by plans of their own, of which no listener is told.
_ANALYZING = {"AnalyzeTableCommand", "AnalyzeTablesCommand", "AnalyzePartitionCommand", "AnalyzeColumnCommand"}
_RDD_SCANS = {"RDDScanExec", "ExternalRDDScanExec"}
_DRAIN_MILLISECONDS = 60_000


class ClassicProof:
    """Counts of one session with a driver, gathered by a listener."""

    counts = True
    renewable = True

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._scans: dict[int, ObservedScan] = {}  # by the id of the metric that counts rows
        self._idle: dict[int, Any] = {}  # plans that did not run, or begin to run again right when they are looked at
        self._queries = SqlMetrics(spark)
        self._uncounted: set[str] = set()
        self._jobs = Jobs(spark)
        self._failure: BaseException | None = None

    def begin(self) -> None:
        """Leave out what ran before."""
        self.drain()
        self._jobs.begin()
        self._queries.begin()

    def scans(self) -> list[ObservedScan]:
        """All scans that ran so far.

        :raises ResultError: if a plan could not be looked at: then nothing is proved.
        """
        self.drain()
        rows = self._queries.values(self._scans.keys() | self._idle.keys())
        for number, plan in self._idle.items():
            if rows[number] and number not in self._scans:
                self._scans[number] = _scan(plan)
        return [
            attrs.evolve(scan, rows=ran) for number, scan in self._scans.items() for ran in rows[number] or [scan.rows]
        ]

    def unseen(self) -> tuple[str, ...]:
        """What was read by RDDs and by ANALYZE TABLE, in words: the counts are without it."""
        self.drain()
        return (*sorted(self._uncounted), *self._jobs.reading())

    def unwatched(self) -> tuple[str, ...]:
        """Nothing: what the driver's code does is not looked at."""
        return ()

    def look_at(self, execution: Any, *, ended: bool = True) -> None:
        """Count what an *execution* did.

        :param ended: whether it ended well. What has failed and has no plan was not understood, and never ran.
        """
        try:
            plan = execution.executedPlan()
        except Exception as error:  # noqa: BLE001 - of Spark
            self._failure = error if ended else self._failure
            return
        try:
            self._walk(plan, set())
        except BaseException as error:  # noqa: BLE001 - the JVM would only log it, and a count would be missing
            self._failure = error

    def drain(self) -> None:
        """Wait until the listener has been told of everything that happened."""
        self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(_DRAIN_MILLISECONDS)  # noqa: SLF001
        if self._failure is not None:
            raise ResultError(f"the plan of a query could not be looked at: {self._failure}") from self._failure

    def _walk(self, plan: Any, seen: set[int]) -> None:
        kind = plan.getClass().getSimpleName()
        if not kind.endswith("QueryStageExec"):  # the ids of stages are numbers of their own
            if (number := plan.id()) in seen:
                return
            seen.add(number)
        if kind == "FileSourceScanExec":
            self._add_file_scan(plan)
        elif kind == "BatchScanExec" and _is_of_table(plan):
            self._scans[plan.metrics().apply("numOutputRows").id()] = _table_scan(plan)
        elif kind == "BatchScanExec" or kind in _OTHER_SCANS:
            self._add_other_scan(plan)
        elif kind in _RDD_SCANS:
            self._uncounted.update(sources(plan.rdd()))
        elif kind == "ExecutedCommandExec" and (command := plan.cmd().getClass().getSimpleName()) in _ANALYZING:
            self._uncounted.add(command)
        elif kind == "InMemoryTableScanExec":
            self._walk(plan.relation().cachedPlan(), seen)
        for name in _INSIDE.get(kind, ()):
            self._walk(getattr(plan, name)(), seen)
        if kind == "AdaptiveSparkPlanExec":
            # Stages that ran and were then optimised away, say because the other side of a join is empty.
            for stage in _each(plan.context().stageCache().values().toSeq()):
                self._walk(stage, seen)
        for inner in (*_each(plan.children()), *_each(plan.subqueries())):
            self._walk(inner, seen)

    def _add_file_scan(self, plan: Any) -> None:
        metrics = plan.metrics()
        number = metrics.apply("numOutputRows").id()
        if any(_value(metrics, name) for name in ("numOutputRows", "numFiles", "scanTime")):
            self._scans[number] = _scan(plan)
        else:
            self._idle[number] = plan

    def _add_other_scan(self, scan: Any) -> None:
        rows = scan.metrics().apply("numOutputRows")
        self._scans[rows.id()] = ObservedScan(frozenset([scan.simpleString(200)]), 0, 0, 0, int(rows.value()))


class _Listener:
    """The one listener of a session: Spark does not recognise a Python object when asked to take it off again."""

    def __init__(self) -> None:
        self.proofs: list[ClassicProof] = []

    # The names of QueryExecutionListener, called by the JVM on a thread of its own.
    def onSuccess(self, name: str, execution: Any, nanoseconds: int) -> None:  # noqa: N802
        """A query ran."""
        for proof in tuple(self.proofs):
            proof.look_at(execution)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:  # noqa: N802
        """A query failed; what it read before that counts."""
        for proof in tuple(self.proofs):
            proof.look_at(execution, ended=False)

    class Java:
        """Tells py4j what this is."""

        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


_listeners: dict[str, _Listener] = {}


@contextmanager
def counted(spark: SparkSession, _: Callable[[], Promise]) -> Iterator[ClassicProof]:
    """Count what *spark* reads inside the block."""
    proof, listener = ClassicProof(spark), _listener_of(spark)
    proof.begin()
    listener.proofs.append(proof)
    try:
        yield proof
    finally:
        listener.proofs.remove(proof)


def _listener_of(spark: SparkSession) -> _Listener:
    from pyspark.java_gateway import ensure_callback_server_started

    session = spark._jsparkSession.sessionUUID()  # noqa: SLF001
    if session not in _listeners:
        ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]  # noqa: SLF001
        _listeners[session] = _Listener()
        spark._jsparkSession.listenerManager().register(_listeners[session])  # noqa: SLF001
    return _listeners[session]


def _scan(plan: Any) -> ObservedScan:
    """What the *plan* of a scan of files read when it last ran."""
    # Its metrics have the files too, but only of the first run.
    listing = FileListing.of(plan)
    roots = frozenset(normalise_path(path.toString()) for path in _each(plan.relation().location().rootPaths()))
    partitioned = plan.relation().partitionSchema().size() > 0
    partitions = listing.partitions if partitioned else len(roots)
    # Where each partition was named, nobody looks at all files: there may be many.
    named = partitioned and partitions == len(roots) and listing.begins_in(roots)
    locations = roots if named else frozenset(map(normalise_path, listing.folders()))
    rows = _value(plan.metrics(), "numOutputRows")
    return ObservedScan(locations, len(locations), listing.files, listing.bytes, rows, roots)


def _is_of_table(plan: Any) -> bool:
    """Whether the *plan* of a scan is that of a table of Iceberg."""
    return str(plan.scan().getClass().getName()).startswith("org.apache.iceberg.spark.")


def _table_scan(plan: Any) -> ObservedScan:
    """What the *plan* of a scan of a table reads: whole files, of which rows may be left out later."""
    groups = (partition.taskGroup() for partition in _each(plan.inputPartitions()))
    files = {
        normalise_path(task.file().location()): int(task.file().fileSizeInBytes())
        for group in groups
        for task in group.tasks().toArray()  # Java's collection of them is no list
    }
    rows = _value(plan.metrics(), "numOutputRows")
    locations = frozenset(files)
    return ObservedScan(locations, len(files), len(files), sum(files.values()), rows, locations)


def _value(metrics: Any, name: str) -> int:
    return int(metrics.apply(name).value()) if metrics.contains(name) else 0


def _each(sequence: Any) -> Iterator[Any]:
    for i in range(sequence.size()):
        yield sequence.apply(i)
