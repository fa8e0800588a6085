"""Keys known only at runtime, in a run that was given one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import Asset

from airflow_partitions.definitions.runtime import BOOK, Addition
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.runs.key_list import read, refer
from airflow_partitions.timetables.asset_extra import published
from airflow_partitions.timetables.condition import leaves

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionAtRuntime
    from airflow_partitions.keys import Segment
    from airflow_partitions.partition import Partition
    from airflow_partitions.timetables import Partitioned


def additions(timetable: Partitioned) -> Callable[[], Mapping[str, Addition]]:
    """How the keys of a Dag's upstream assets were added; asked once."""

    @cache
    def ask() -> Mapping[str, Addition]:
        return {text: how for name in sources(timetable) for text, how in read(name).all.items()}

    return ask


def sources(timetable: Partitioned) -> list[str]:
    """Names of the upstream assets. Those that add nothing have an empty register."""
    return [leaf.name for leaf in leaves(timetable.asset_condition)] if timetable.asset_condition else []


class GivenTask:
    """What a task knows that was given a key: it lists, and adds nothing."""

    def __init__(self, given: Partition, ask: Callable[[], Mapping[str, Addition]]) -> None:
        self._given = given
        self._ask = ask

    def add(self, definition: PartitionAtRuntime, keys: list[Segment], metadata: Any, *, once: bool) -> NoReturn:
        """Refuse."""
        self._refuse(definition)

    def remove(self, definition: PartitionAtRuntime, key: Segment) -> NoReturn:
        """Refuse."""
        self._refuse(definition)

    def texts(self, definition: PartitionAtRuntime) -> list[str]:
        """The keys there are."""
        if definition != self._given.definition:
            self._refuse(definition)
        return list(self._ask())

    def _refuse(self, definition: PartitionAtRuntime) -> NoReturn:
        raise InvalidDefinitionError(
            f"this run is about the partition {self._given.text!r} of {self._given.definition!r}, so it adds no keys of"
            f" {definition!r}; they are added by a task of an asset that is scheduled by time, or on assets with other"
            " partitions"
        )


def take_given(context: Mapping[str, Any]) -> None:
    """Let the task list the keys, and those who come after it find where they were added."""
    given: Partition = context["partition"]
    timetable = context["dag"].timetable
    BOOK.set(GivenTask(given, additions(timetable)))
    mine = [
        outlet.name
        for outlet in context["task"].outlets
        if isinstance(outlet, Asset) and (made := published(outlet.extra)) and made.definition == given.definition
    ]
    source = next((name for name in sources(timetable) if given.text in read(name).all), None) if mine else None
    if source is not None:
        for name in mine:
            refer(name, source)
