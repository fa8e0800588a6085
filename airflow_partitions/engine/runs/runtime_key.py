"""The run of one key that is known only at runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.runs.key_list import has_event, read

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
    from airflow_partitions.core.keys import Segment
    from airflow_partitions.core.partition import Partition


def additions(definition: PartitionAtRuntime) -> Callable[[], Mapping[str, Addition]]:
    """Additions of the keys of *definition*, read once, when they are asked for."""

    @cache
    def read_all() -> Mapping[str, Addition]:
        return read(definition).all

    return read_all


def listing() -> Callable[[PartitionDefinition], PartitionDefinition]:
    """Gives definitions the combinations that are on their lists, each read once, when it is first asked for."""

    @cache
    def complete(definition: PartitionDefinition) -> PartitionDefinition:
        listed = definition.listed
        return definition if listed is None else definition.having(read(listed).settled(has_event).added)

    return complete


class KeyReader:
    """The list of keys for a task whose run is about one of them: it lists, and adds nothing."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition

    def add(self, definition: PartitionAtRuntime, keys: list[Segment], metadata: Any, *, once: bool) -> NoReturn:
        """Refuse."""
        self._refuse(definition)

    def remove(self, definition: PartitionAtRuntime, key: Segment) -> NoReturn:
        """Refuse."""
        self._refuse(definition)

    def texts(self, definition: PartitionAtRuntime) -> list[str]:
        """All keys."""
        if definition != self._partition.definition:
            self._refuse(definition)
        return list(read(definition).all)

    def _refuse(self, definition: PartitionAtRuntime) -> NoReturn:
        raise InvalidDefinitionError(
            f"this run is about the partition {self._partition.text!r} of {self._partition.definition!r}, so it adds"
            f" no keys of {definition!r}; they are added by a task of an asset that is scheduled by time, or on assets"
            " with other partitions"
        )
