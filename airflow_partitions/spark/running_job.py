"""A job that makes one partition: for our driver, and for programs of your own.

.. code-block:: python

    from airflow_partitions.spark import job

    with job() as j:
        flights = j.read("flights")  # exactly the promised partitions
        j.write(flights.where(flights.origin == j.partition["airport"]))
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_partitions.checks.result import CheckResult
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.checks.staged_partitions import staged_partitions
from airflow_partitions.core.errors import PartitionError, ReplacedError, ResultError, UnpromisedReadError
from airflow_partitions.frames.result import Reads
from airflow_partitions.frames.several import Several, write_several
from airflow_partitions.spark.handover import Handover, receive
from airflow_partitions.spark.job_result import JobResult, save_error
from airflow_partitions.spark.proof import ObservedScan, Promise, Proof, normalise_path, recording
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.io import WriteRequest
from airflow_partitions.storage.io.spark_reader import spark_path
from airflow_partitions.storage.io.write_partition import write_partition
from airflow_partitions.storage.metadata.staged_files import StagedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_partitions.core.partition import Partition
    from airflow_partitions.frames.input import Input
    from airflow_partitions.storage.scan.stored_partition import StoredPartition

TIME_ZONE = "spark.sql.session.timeZone"


class Job:
    """One job.

    :ivar spark: the Spark session.
    :ivar handover: what was asked for.
    :ivar frame: what was written, once it is, if it was one DataFrame.
    :ivar renewable: whether the session may read other files than those that there were when the job began.
    """

    def __init__(self, spark: SparkSession, handover: Handover) -> None:
        self.spark = spark
        self.handover = handover
        self.frame: DataFrame | None = None
        self.renewable = True
        self._started = time.monotonic()
        self._frames: dict[str, Any] = {}
        self._staged: StagedFiles | None = None
        self._several: Several | None = None
        self._stored, self._identities = self._look()

    @property
    def partition(self) -> Partition:
        """The partition to make."""
        return self.handover.partition

    @property
    def inputs(self) -> Mapping[str, Any]:
        """All inputs, by name."""
        return {name: self.read(name) for name in self.handover.inputs}

    def read(self, name: str) -> Any:
        """The input *name*: a frame of exactly the promised partitions, of Spark unless the function's annotation says
        another kind."""
        if name not in self.handover.inputs:
            names = ", ".join(self.handover.inputs) or "none"
            raise ResultError(f"there is no input {name!r}; expected one of: {names}")
        if name not in self._frames:
            source = self.handover.inputs[name]
            self._frames[name] = source.read(self.spark, self._stored[name], self.handover.attempt.name)
        return self._frames[name]

    def write(self, frame: Any) -> None:
        """Write the partition's rows, or those of several that name theirs. They become visible when the job has ended
        well.

        :param frame: a frame of Spark, pandas, polars or Arrow, or one for each table if the asset's storage has
            tables.
        :raises ForeignRowsError: if a row belongs to another partition.
        :raises ResultError: if it is called twice, or *frame* is no frame, or never ends.
        :raises SchemaError: if the asset's storage declares other columns.
        :raises WriterError: if its format can't hold them.
        """
        if self._staged is not None:
            raise ResultError(f"partition {self.partition.text!r} is written twice; expected one DataFrame: use union")
        output, key, folder = self.handover.output, self.partition.wrapped, self.handover.staging.data
        if self.handover.several:
            self._several = write_several(frame, self.handover.several, output, folder)
            self._staged = StagedFiles(self._several.rows, {}, {})
        else:
            self._staged = write_partition(frame, key, WriteRequest(dataset=output, folder=folder))
        self.frame = frame if hasattr(frame, "sparkSession") else None

    def _is_own(self, scan: ObservedScan) -> bool:
        """Whether *scan* read what this job had written, to make an index of it."""
        own = tuple(f"{place}/" for place in self._own_places())
        return all(f"{location}/".startswith(own) for location in scan.locations)

    def promise(self) -> Promise:
        """What it may read."""
        return Promise(
            attempt=self.handover.attempt.name,
            places=frozenset(place for places in self._places().values() for place in places),
            own=self._own_places(),
            strict=self.handover.strict,
        )

    def _own_places(self) -> tuple[str, ...]:
        """Folders that it writes to."""
        places = open_backend(self.handover.output).places(self.handover.staging.data)
        return tuple(normalise_path(spark_path(place)) for place in places)

    def _places(self) -> dict[str, dict[str, str]]:
        """For each input the places that Spark reads it from, each with the promised folder it stands for."""
        return {
            name: {normalise_path(place): folder for place, folder in _places(source, self._stored[name]).items()}
            for name, source in self.handover.inputs.items()
        }

    def start_over(self) -> bool:
        """Forget what was read and written if an input's files were replaced meanwhile, so that it can be read again.

        :return: whether there was such a replacement.
        :raises ReplacedError: if there was, and another session is needed to read it.
        """
        stored, identities = self._look()
        if identities == self._identities:
            return False
        open_backend(self.handover.output).start_over(self.handover.staging.data)
        if not self.renewable:
            raise ReplacedError(f"partition {self.partition.text!r}: an input was replaced while it was read")
        self._stored, self._identities, self._frames, self._staged = stored, identities, {}, None
        self._several = None
        return True

    def _look(self) -> tuple[dict[str, Mapping[str, StoredPartition]], dict[str, dict[str, Any]]]:
        """What is stored of each input now, and what tells it from what replaces it."""
        inputs = self.handover.inputs.items()
        stored = {name: source.stored() for name, source in inputs}
        return stored, {name: source.identities(stored[name]) for name, source in inputs}

    def finish(self, proof: Proof) -> JobResult:
        """Check what was read, and report."""
        if self._staged is None:
            raise ResultError(f"the job wrote nothing; expected it to write partition {self.partition.text!r}")
        places = self._places()
        order, several = self.handover, self._several
        checks: tuple[CheckResult, ...] = ()
        if several is None:
            checks = self._checked(StagedPartition(order.partition, order.output, self._staged, order.staging.data))
        reads, others = attribute([scan for scan in proof.scans() if not self._is_own(scan)], places)
        unseen = proof.unseen()
        if self.handover.strict and others:
            raise UnpromisedReadError(
                f"partition {self.partition.text!r}: the job read {len(others)} places it was not promised: "
                f"{', '.join(others[:5])}; expected only its inputs {', '.join(self.handover.inputs) or '(none)'}"
            )
        if self.handover.strict and unseen:
            raise UnpromisedReadError(
                f"partition {self.partition.text!r}: what the job read can't be compared with its inputs: "
                f"{', '.join(unseen[:5])}; expected DataFrames, no RDDs and no ANALYZE TABLE, or strict=False"
            )
        if not proof.counts:
            reads = {name: Reads(selected=counts.selected, rows=None) for name, counts in reads.items()}
        result = JobResult(
            attempt=self.handover.attempt.name,
            written=self._staged,
            reads=reads,
            others=others,
            unseen=unseen,
            unwatched=proof.unwatched(),
            application=str(self.spark.conf.get("spark.app.id")),
            checks=checks,
            checks_of_several={} if several is None else self._checked_several(several),
            seconds=time.monotonic() - self._started,
            several=None if several is None else several.to_json(),
        )
        result.save(self.handover.staging)
        return result

    def _checked(self, staged: StagedPartition) -> tuple[CheckResult, ...]:
        return tuple(check.result(staged, self.spark) for check in self.handover.checks)

    def _checked_several(self, several: Several) -> dict[str, tuple[CheckResult, ...]]:
        """What the checks say of each partition, by the text of its key."""
        order = self.handover
        if not order.checks:
            return {}
        staged = staged_partitions(order.several, several, order.output, order.staging.data)
        return {each.partition.text: self._checked(each) for each in staged}


@contextmanager
def job(handover: Handover | None = None, spark: SparkSession | None = None) -> Iterator[Job]:
    """The job that this program was started for. When the block ends well its result is reported.

    Reads before or after the block are not counted.

    :param handover: what to do; by default what the Airflow task handed over.
    :param spark: the session to use; by default the active one, or a new one.
    :raises ResultError: if nothing was written, a query can't be looked at, or the driver lacks a library.
    :raises MissingListenerError: if the job is strict, and the Spark Connect server has no listener.
    :raises MissingInputError: if a partition of an input is not stored.
    :raises UnpromisedReadError: if the job is strict and read anything but its inputs.
    """
    session = spark or own_session()
    order = handover or receive(session)
    try:
        current = Job(session, order)
        with recording(session, current.promise) as proof:
            current.renewable = proof.renewable
            yield current
            current.finish(proof)
    except PartitionError as error:
        save_error(order.staging, error)
        raise
    except ModuleNotFoundError as error:
        missing = ResultError(
            f"the Python of the driver, {sys.executable}, has no module {error.name!r}; expected it to be installed"
            " there, or to come along by py_files"
        )
        save_error(order.staging, missing)
        raise missing from error
    except (Exception, SystemExit) as error:
        if not has_ended(session):  # else it is not the job that is wrong, and there is no word of it
            save_error(order.staging, error)
        raise


def has_ended(session: SparkSession) -> bool:
    """Whether the driver of *session* is no more; one of Spark Connect has none here."""
    if not hasattr(session, "_jsparkSession"):
        return False
    try:
        return bool(session.sparkContext._jsc.sc().isStopped())  # noqa: SLF001
    except Exception:  # noqa: BLE001 - of whatever is left of it
        return True


def own_session() -> SparkSession:
    """The session of this driver."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    if not session.sparkContext.getConf().contains(TIME_ZONE):  # a spark-submit of its own way that dropped our default
        session.conf.set(TIME_ZONE, "UTC")
    return session


def _places(source: Input, stored: Mapping[str, StoredPartition]) -> dict[str, str]:
    """The places that Spark reads *stored* from, folders or files, each with the promised folder it stands for."""
    if source.selection is None:
        return {source.storage.path: source.storage.path}
    folders: dict[str, str] = {}
    for path, partition in stored.items():
        folders |= dict.fromkeys((path, partition.content.base) if partition.content.in_folder else (path,), path)
        for file in map(spark_path, partition.paths):
            folders |= dict.fromkeys((file, file.rpartition("/")[0]), path)
    return folders


def attribute(
    scans: list[ObservedScan], places: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, Reads], tuple[str, ...]]:
    """Counts by input, and the places read that belong to none.

    A scan belongs to the input that was promised all of its places. Where several were, it belongs to the one whose
    partitions are the most like those the scan was given, to the first of equals.

    :param places: for each input the promised places, normalised, each with the folder of the partition it stands for.
    """
    mine: dict[str, list[ObservedScan]] = {name: [] for name in places}
    others: set[str] = set()
    for scan in scans:
        owners = [name for name, folders in places.items() if scan.locations <= folders.keys()]
        owner = min(owners, key=lambda name: _difference(scan, places[name]), default=None)
        if owner is None:
            others.update(scan.locations.difference(*places.values()) or scan.locations)
        else:
            mine[owner].append(scan)
    reads = {
        name: Reads(
            selected=len(set(places[name].values())),
            partitions=len({places[name][location] for scan in own for location in scan.locations}),
            files=sum(scan.files for scan in own),
            bytes=sum(scan.bytes for scan in own),
            rows=sum(scan.rows for scan in own),
            scans=len(own),
        )
        for name, own in mine.items()
    }
    return reads, tuple(sorted(others))


def _difference(scan: ObservedScan, promised: Mapping[str, str]) -> int:
    """How many partitions were either promised or given to *scan*, and not both."""
    return len(set(promised.values()) ^ {promised.get(root, root) for root in scan.roots})
