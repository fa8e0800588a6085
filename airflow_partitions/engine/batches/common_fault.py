"""What fails a partition and is not its fault: the next one would fail by it, too."""

from __future__ import annotations

from airflow_partitions.core.errors import (
    FullError,
    MissingListenerError,
    MissingSparkError,
    SparkServerError,
    UnreachableError,
    causes,
)

#: Memory that ends; a server or a driver of Spark, or a store, that is away; a disk without room.
_COMMON = (MemoryError, SparkServerError, MissingSparkError, MissingListenerError, UnreachableError, FullError)


def common_fault(error: BaseException) -> BaseException | None:
    """What is nobody's fault in *error*, be it that the function has made an error of its own of it."""
    return next((cause for cause in causes(error) if isinstance(cause, _COMMON)), None)
