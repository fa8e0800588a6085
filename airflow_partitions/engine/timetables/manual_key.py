"""The key of a run that somebody asks Airflow for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from airflow.exceptions import InvalidPartitionKeyError

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key
from airflow_partitions.core.keys.nearest import nearest_texts


def manual_key(text: str | None, partition: PartitionDefinition, now: datetime, *, allow_open: bool) -> Key:
    """The key of *partition* that *text* is.

    :param now: aware.
    :param allow_open: whether one will do whose interval is not over.
    :raises InvalidPartitionKeyError: without a key, or with one that is not canonical, or still open.
    """
    if text is None:
        raise InvalidPartitionKeyError(
            f"this Dag is partitioned by {partition!r}: a run needs a partition_key, {_advice(partition, now)};"
            " 'airflow dags trigger' can't give one: ask by 'airflow asset-partitions materialize ASSET KEY', by"
            " Airflow's form for a new run, or by its REST API with partition_key"
        )
    try:
        key = partition.parse(text)
    except InvalidKeyError as error:
        advice = "" if error.nearest else f"; {_advice(partition, now)}"
        raise InvalidPartitionKeyError(f"{error}{advice}") from None
    if str(key) != text:
        raise InvalidPartitionKeyError(f"partition_key {text!r} is written {str(key)!r}; give that text")
    interval = partition.interval_of(key)
    if interval is not None and not allow_open and interval.end > now:
        raise InvalidPartitionKeyError(
            f"partition {text!r} is open until {interval.end.isoformat()}; {_advice(partition, now)},"
            " or a Dag with allow_open=True"
        )
    return key


def unknown_key(text: str, partition: PartitionDefinition, upstreams: Sequence[str]) -> InvalidPartitionKeyError:
    """The error for a key that is known only at runtime, and that no task of the *upstreams* has added."""
    unknown = InvalidKeyError(
        f"partition_key {text!r} is unknown: no task has added it to {partition!r}, and no event"
        " has brought it; add it in a task, or post an event of an asset that this Dag waits for",
        nearest=partial(_nearest_upstream, text, upstreams),
    )
    return InvalidPartitionKeyError(str(unknown))


def _nearest_upstream(text: str, upstreams: Sequence[str]) -> tuple[str, ...]:
    """The keys nearest to *text* among the newest that events of the *upstreams* have."""
    from airflow_partitions.engine.ledger.events import newest_keys

    return nearest_texts(text, newest_keys(upstreams))


def _advice(partition: PartitionDefinition, now: datetime) -> str:
    """A valid key, for messages."""
    if isinstance(partition, PartitionAtRuntime):
        return "one that a task has added or an event has brought"
    if partition.time is None:
        first = next(partition.keys(), None)
        return "once one of its combinations is added" if first is None else f"for example {str(first)!r}"
    closed = partition.last_interval(now)
    if closed is None:
        return "once its first interval is over"
    example = next(partition.keys(closed.start, closed.end))
    return f"for example {str(example)!r}, the last closed one"
