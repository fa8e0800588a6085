"""The run of one key that is known only at runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import Asset

from airflow_partitions.definitions.runtime import KEY_LIST, Addition
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.runs.key_list import read, refer
from airflow_partitions.timetables.asset_extra import read_extra
from airflow_partitions.timetables.condition import leaves

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionAtRuntime
    from airflow_partitions.keys import Segment
    from airflow_partitions.partition import Partition
    from airflow_partitions.timetables import Partitioned


def additions(timetable: Partitioned) -> Callable[[], Mapping[str, Addition]]:
    """Additions of the keys of a Dag's upstream assets, read once, when they are asked for."""

    @cache
    def read_all() -> Mapping[str, Addition]:
        return {text: addition for name in sources(timetable) for text, addition in read(name).all.items()}

    return read_all


def sources(timetable: Partitioned) -> list[str]:
    """Names of the upstream assets. Those that add nothing have an empty list of keys."""
    return [leaf.name for leaf in leaves(timetable.asset_condition)] if timetable.asset_condition else []


class KeyReader:
    """The list of keys for a task whose run is about one of them: it lists, and adds nothing."""

    def __init__(self, partition: Partition, read_additions: Callable[[], Mapping[str, Addition]]) -> None:
        self._partition = partition
        self._additions = read_additions

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
        return list(self._additions())

    def _refuse(self, definition: PartitionAtRuntime) -> NoReturn:
        raise InvalidDefinitionError(
            f"this run is about the partition {self._partition.text!r} of {self._partition.definition!r}, so it adds"
            f" no keys of {definition!r}; they are added by a task of an asset that is scheduled by time, or on assets"
            " with other partitions"
        )


def share_keys(context: Mapping[str, Any]) -> None:
    """Let the task list the keys, and let consumers of what it writes find where they were added."""
    partition: Partition = context["partition"]
    timetable = context["dag"].timetable
    KEY_LIST.set(KeyReader(partition, additions(timetable)))
    outlets = [
        outlet.name
        for outlet in context["task"].outlets
        if isinstance(outlet, Asset)
        and (produced := read_extra(outlet.extra))
        and produced.definition == partition.definition
    ]
    source = next((name for name in sources(timetable) if partition.text in read(name).all), None) if outlets else None
    if source is not None:
        for name in outlets:
            refer(name, source)
