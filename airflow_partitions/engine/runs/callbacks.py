"""``context["partition"]`` in the callbacks of a partitioned Dag; those of its tasks get the task's own context."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import suppress
from functools import wraps
from typing import Any

from airflow_partitions.core.errors import InvalidKeyError, MissingPartitionError
from airflow_partitions.engine.runs.pre_execute import partition_of

Callback = Callable[[Any], Any]


def with_partition(callback: Callback) -> Callback:
    """A *callback* that finds the run's partition in its context, if the run has a valid one.

    Airflow gives it the run only if the run has a task that it can name.
    """

    @wraps(callback)
    def enter(context: MutableMapping[str, Any]) -> Any:
        if context.get("dag_run") is not None:
            with suppress(MissingPartitionError, InvalidKeyError):
                context["partition"] = partition_of(context)
        return callback(context)

    return enter
