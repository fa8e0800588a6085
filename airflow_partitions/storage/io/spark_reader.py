"""DataFrames of Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from airflow_partitions.core.errors import MissingInputError, ReaderError, StorageError
from airflow_partitions.storage.io.arrow_dataset import sources
from airflow_partitions.storage.io.read_request import ReadRequest, check_columns
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.schemas import TYPED, schema_of
from airflow_partitions.storage.io.spark_client import is_of_older_connect
from airflow_partitions.storage.io.spark_options import read_options
from airflow_partitions.storage.io.spark_packages import advice_on
from airflow_partitions.storage.scan.stored_partition import StoredPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Above this many folders Spark starts a job with one task per folder to list them; on local disks the driver is
# quicker.
_THRESHOLD = "spark.sql.sources.parallelPartitionDiscovery.threshold"
#: Nothing is left out.
_EXACTLY = {"ignoreMissingFiles": "false", "ignoreCorruptFiles": "false"}
#: The option that tells the reads of one try from all others.
_ATTEMPT = "airflow_partitions.attempt"
_PATTERN = re.compile(r"[*?\[{\\]")
#: What Spark says of a format that it does not know.
_UNKNOWN = re.compile(r"DATA_SOURCE_NOT_FOUND|Failed to find (the )?data source")
#: Spark's names for file systems, and what it calls their credentials.
_PROTOCOLS = {"s3": "s3a"}


class SparkReader(Reader):
    """DataFrames of Spark. Exactly the wanted folders are named, nothing else is listed; no type is inferred."""

    frame = "spark"

    def read(self, scan: ReadRequest) -> DataFrame:
        spark = session_of(scan)
        schema = _schema(scan, spark)
        frame = _frame(scan, spark, schema)
        if scan.pruning is not None and scan.pruning.residual is not None:
            check_columns(scan, {each.field for each in scan.pruning.residual.conditions()}, frame.columns)
            frame = frame.where(scan.pruning.to_spark(scan.pruning.residual, dict(frame.dtypes)))
        if scan.columns is None:
            return frame
        return frame.select(*map(quoted, scan.chosen(frame.columns)))


def session_of(scan: ReadRequest) -> SparkSession:
    """The session to read by.

    :raises ReaderError: if there is none.
    """
    from pyspark.sql import SparkSession

    session = scan.spark or SparkSession.getActiveSession()
    if session is None:
        raise ReaderError("there is no Spark session here; expected spark=…, or as_='pandas', 'polars' or 'arrow'")
    return session


def quoted(column: str) -> str:
    """The name of a *column*, as text for Spark."""
    return "`" + column.replace("`", "``") + "`"


def _paths(scan: ReadRequest, partition: StoredPartition) -> list[str]:
    """The folder, where folders are exchanged as a whole, else the files."""
    if partition.folder is not None and scan.dataset.pin is None and scan.dataset.layout.in_frames:
        return [partition.folder] if partition.files else []
    return [spark_path(path) for path in partition.paths]


def _base(partition: StoredPartition) -> str | None:
    """The folder from which the paths of its files tell its partition columns, if they have to; ``None`` if none is."""
    if not partition.layout.in_frames:
        return partition.root
    parent, _, name = partition.root.rpartition("/")
    for base in [partition.root] if "=" in name else [partition.root, parent]:
        below = [path.removeprefix(base) for path in partition.paths if path.startswith(f"{base}/")]
        if len(below) == len(partition.paths) and all(f"/{partition.directory}/" in path for path in below):
            return base
    return None


def is_pattern(path: str) -> bool:
    """Whether Spark takes *path* for a pattern, of other files too."""
    return _PATTERN.search(path) is not None


def spark_path(path: str) -> str:
    """*path* as Spark calls it.

    :raises StorageError: if Spark can't reach it.
    """
    protocol = urlsplit(path).scheme
    if protocol == "memory":
        raise StorageError(
            f"{path!r} is in the memory of this process, where Spark can't read it; expected as_='pandas'"
        )
    return path.replace(protocol, _PROTOCOLS[protocol], 1) if protocol in _PROTOCOLS else path


def _frame(scan: ReadRequest, spark: SparkSession, schema: StructType) -> DataFrame:
    root = spark_path(scan.dataset.path)
    if scan.partitions is None:
        return _load(scan, spark, schema, [root])
    by_base: dict[str | None, list[StoredPartition]] = {}
    for partition in scan.partitions:
        by_base.setdefault(_base(partition), []).append(partition)
    frames = [_elsewhere(scan, spark, schema, partition) for partition in by_base.pop(None, ()) if partition.files]
    for base, partitions in by_base.items():
        if paths := [path for partition in partitions for path in _paths(scan, partition)]:
            frames.append(_load(scan, spark, schema, paths, spark_path(str(base))))
    return reduce(lambda one, other: one.unionAll(other), frames) if frames else spark.createDataFrame([], schema)


def _load(
    scan: ReadRequest, spark: SparkSession, schema: StructType, paths: list[str], base: str | None = None
) -> DataFrame:
    if patterns := [path for path in paths if is_pattern(path)]:
        raise StorageError(
            f"{patterns[0]!r} is a pattern to Spark, which would read other files; expected a path without * ? [ {{ and"
            " \\, or as_='arrow'"
        )
    reader = spark.read.format(scan.dataset.format).schema(schema)
    options = {**_EXACTLY, **_options(scan)}
    if base is not None:
        # Other levels of the paths than partition columns are skipped.
        options |= {"basePath": base, "ignoreInvalidPartitionPaths": "true"}
    for name, value in options.items():
        reader = reader.option(name, value)
    with _listed_by_the_driver(spark, len(paths)), known_format(scan.dataset.format, spark):
        return reader.load(paths)


def _options(scan: ReadRequest) -> dict[str, Any]:
    own = {} if scan.attempt is None else {_ATTEMPT: scan.attempt}
    return {**read_options(scan), **own}


def _elsewhere(scan: ReadRequest, spark: SparkSession, schema: StructType, partition: StoredPartition) -> DataFrame:
    """A partition whose files lie where their paths tell nothing."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    own = StructType([field for field in schema.fields if field.name not in scan.partition_columns])
    frame = _load(scan, spark, own, [spark_path(path) for path in partition.paths])
    texts = {name: f.lit(partition.values[name]).cast(kind) for name, kind in scan.partition_columns.items()}
    return frame.withColumns(texts).select(*map(quoted, schema.names))


@contextmanager
def known_format(kind: str, spark: SparkSession) -> Iterator[None]:
    """Tell what is missing where *spark* does not know the format *kind*.

    :raises ReaderError: if it doesn't.
    """
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        if _UNKNOWN.search(str(error)):
            raise ReaderError(
                f"this Spark session knows no format {kind!r}; expected {advice_on(kind, spark.version)}, or"
                " as_='pandas', 'polars' or 'arrow'"
            ) from error
        raise


@contextmanager
def _listed_by_the_driver(spark: SparkSession, paths: int) -> Iterator[None]:
    listed = spark.conf.get(_THRESHOLD)
    if int(listed or 0) >= paths:
        yield
        return
    spark.conf.set(_THRESHOLD, str(max(paths, 1)))
    try:
        yield
    finally:
        spark.conf.set(_THRESHOLD, str(listed))


def _schema(scan: ReadRequest, spark: SparkSession) -> StructType:
    """The columns of the files, then those of the folders."""
    from pyspark.sql.types import StructType

    declared, partitions = scan.dataset.schema, scan.partitions
    if partitions is not None and scan.dataset.format in TYPED:
        filesystem, files = sources(scan)
        if files:
            schema_of(scan, files, filesystem, exact_names=False)
    if declared is not None:
        fields = struct_of(spark, declared).fields
    elif partitions is None:
        fields = _inferred(scan, spark, [spark_path(scan.dataset.path)]).fields
    elif partitions:
        fields = _inferred(scan, spark, [spark_path(path) for path in partitions[0].paths]).fields
    else:
        raise MissingInputError(
            f"{scan.dataset.path!r}: no partition was asked for, so there is no schema; expected"
            f" {type(scan.dataset).__name__}(…, schema={{…}})"
        )
    hidden = {name.lower() for name in scan.partition_columns}
    kept = [field for field in fields if field.name.lower() not in hidden]
    return StructType([*kept, *struct_of(spark, scan.partition_columns.items()).fields])


def _inferred(scan: ReadRequest, spark: SparkSession, paths: list[str]) -> StructType:
    from pyspark.errors import AnalysisException

    if not paths:
        raise StorageError(f"no file in the first partition of {scan.dataset.path!r}; expected one, or schema={{…}}")
    try:
        # Without basePath each path is a root of its own: its name is not read as a column.
        reader = spark.read.format(scan.dataset.format).options(**_options(scan))
        with known_format(scan.dataset.format, spark):
            return reader.load(paths[:1]).schema
    except AnalysisException as error:
        kind = scan.dataset.format
        raise StorageError(f"no schema in {paths[0]}; expected a {kind} file there, or schema={{…}}") from error


def struct_of(spark: SparkSession, fields: Iterable[tuple[str, str]]) -> StructType:
    """Spark's schema of columns with their types."""
    from pyspark.sql.types import _parse_datatype_string  # StructType.fromDDL begins with Spark 4

    text = ", ".join(f"{quoted(name)} {kind}" for name, kind in fields)
    if text and is_of_older_connect(spark):
        return spark.createDataFrame([], text).schema
    return cast("StructType", _parse_datatype_string(text))
