"""The dependency of partitions on those before them."""

from __future__ import annotations

from typing import Any

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import Dependency, Previous
from airflow_partitions.core.errors import InvalidDefinitionError


def own_past(partition: PartitionDefinition, past: Any) -> Dependency | None:
    """The dependency of each partition on the *past* ones before it; ``None`` for 0.

    :raises InvalidDefinitionError: if there is no first partition to begin with, or *past* is no number.
    """
    if type(past) is not int or past < 0:
        raise InvalidDefinitionError(f"past={past!r}; expected how many partitions before it a partition needs")
    if not past:
        return None
    if partition.time is None or partition.time.start is None:
        raise InvalidDefinitionError(
            f"past={past!r} with {partition!r}; expected a time dimension with a start=: the first partition is the one"
            " that needs none before it"
        )
    return Dependency(partition, partition, Previous(past))
