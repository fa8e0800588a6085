"""What a session really read and wrote, counted from the plans that ran.

A listener is told of every query execution of the session, also of failed ones and of those the author does not see
(a write runs in an execution of its own). Each executed plan is walked through adaptive execution, query stages,
subqueries, reused exchanges and cached plans; scans are told apart by the ids of their metrics, so that a scan that
shows up in several plans counts once.

What it can't see: files read outside Spark SQL, that is RDDs (``sparkContext.textFile``, ``DataFrame.rdd``), pandas or
boto3 in the driver or in Python UDFs; sessions made by ``newSession()``; the reading of a schema from file footers.
It needs a classic session: Spark Connect has no plans to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import ResultError

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
_DRAIN_MILLISECONDS = 60_000


@attrs.frozen
class Scan:
    """One scan that ran.

    :ivar locations: folders it read from.
    """

    locations: frozenset[str]
    partitions: int
    files: int
    bytes: int
    rows: int


class Proof:
    """Counts of one session, gathered by a listener."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._scans: dict[int, Scan] = {}
        self._rows_written: dict[str, int] = {}
        self._failure: BaseException | None = None

    def scans(self) -> list[Scan]:
        """All scans that ran so far.

        :raises ResultError: if a plan could not be looked at: then nothing is proved.
        """
        self.drain()
        return list(self._scans.values())

    def rows_written(self, folder: str) -> int:
        """Rows of the last write to *folder*."""
        self.drain()
        return self._rows_written.get(place(folder), 0)

    def look_at(self, execution: Any) -> None:
        """Count what an *execution* did."""
        try:
            self._walk(execution.executedPlan(), set())
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
        elif kind == "BatchScanExec" or kind in _OTHER_SCANS:
            self._add_other_scan(plan)
        elif kind == "DataWritingCommandExec":
            self._add_write(plan.cmd())
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

    def _add_write(self, command: Any) -> None:
        if command.getClass().getSimpleName() == "InsertIntoHadoopFsRelationCommand":
            rows = _value(command.metrics(), "numOutputRows")
            self._rows_written[place(command.outputPath().toString())] = rows

    def _add_file_scan(self, scan: Any) -> None:
        metrics = scan.metrics()
        counts = {name: _value(metrics, name) for name in ("numPartitions", "numFiles", "filesSize", "numOutputRows")}
        if not counts["numFiles"]:  # planned, never run
            return
        roots = frozenset(place(path.toString()) for path in _each(scan.relation().location().rootPaths()))
        partitioned = scan.relation().partitionSchema().size() > 0
        partitions = counts["numPartitions"] if partitioned else len(roots)
        locations = roots if partitions == len(roots) and partitioned else _folders(scan)
        self._scans[metrics.apply("numFiles").id()] = Scan(
            locations, len(locations), counts["numFiles"], counts["filesSize"], counts["numOutputRows"]
        )

    def _add_other_scan(self, scan: Any) -> None:
        rows = _value(scan.metrics(), "numOutputRows")
        self._scans[scan.metrics().apply("numOutputRows").id()] = Scan(
            frozenset([scan.simpleString(200)]), 0, 0, 0, rows
        )


class _Listener:
    """The one listener of a session: Spark does not recognise a Python object when asked to take it off again."""

    def __init__(self) -> None:
        self.proofs: list[Proof] = []

    # The names of QueryExecutionListener, called by the JVM on a thread of its own.
    def onSuccess(self, name: str, execution: Any, nanoseconds: int) -> None:  # noqa: N802
        """A query ran."""
        for proof in tuple(self.proofs):
            proof.look_at(execution)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:  # noqa: N802
        """A query failed; what it read before that counts."""
        for proof in tuple(self.proofs):
            proof.look_at(execution)

    class Java:
        """Tells py4j what this is."""

        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


_listeners: dict[str, _Listener] = {}


@contextmanager
def recording(spark: SparkSession) -> Iterator[Proof]:
    """Count what *spark* reads and writes inside the block.

    :raises ResultError: for a Spark Connect session.
    """
    if not hasattr(spark, "_jsparkSession"):
        raise ResultError("a Spark Connect session can't prove what it read; expected a classic session, with a driver")
    proof, listener = Proof(spark), _listener_of(spark)
    proof.drain()  # what ran before is not ours
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


def place(path: str) -> str:
    """A location in one spelling: local ones as plain paths."""
    if path.startswith("file:"):
        return "/" + path.removeprefix("file:").lstrip("/")
    return path


def _folders(scan: Any) -> frozenset[str]:
    """Folders of the files a scan chose, where they are fewer or others than the folders it was given."""
    files = scan.dynamicallySelectedPartitions().toPartitionArray()
    return frozenset(place(file.toPath().getParent().toString()) for file in files)


def _value(metrics: Any, name: str) -> int:
    return int(metrics.apply(name).value()) if metrics.contains(name) else 0


def _each(sequence: Any) -> Iterator[Any]:
    for i in range(sequence.size()):
        yield sequence.apply(i)
