"""How many runs of one value of a dimension are at work at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys.nearest import nearest_texts

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.engine.timetables.base import PartitionTimetable

#: The option of airflow.cfg with the limits that several Dags share.
SECTION, OPTION = "asset_partitions", "limits"


@attrs.frozen
class WorkSlot:
    """What a run takes to be at work on a value, as long as there is one left.

    :ivar limit: the Dag and its dimension, with a dot between them; or the name that airflow.cfg gives to a limit,
        which has no dot.
    :ivar value: text of the value.
    :ivar most: as many slots there are of this limit and value.
    """

    limit: str
    value: str
    most: int

    @property
    def words(self) -> str:
        """The value, and of which dimension or limit it is."""
        return f"{self.limit.rpartition('.')[2]}={self.value}"


def check_limits(partition: PartitionDefinition, limits: Any) -> dict[str, int | str]:
    """The *limits* of an author, by dimension.

    :raises InvalidDefinitionError: naming the dimension that is not there, or what is no limit.
    """
    if not isinstance(limits, Mapping):
        raise InvalidDefinitionError(
            f"limits={limits!r}; expected a mapping from dimensions to how many runs of one value may be at work, such"
            f" as limits={{{next(iter(partition.dimensions))!r}: 1}}"
        )
    for dimension, most in limits.items():
        if dimension not in partition.dimensions:
            known = [str(name) for name in partition.dimensions]
            raise InvalidDefinitionError(
                f"limits={dict(limits)!r}: {partition!r} has no dimension {dimension!r}; expected one of"
                f" {', '.join(known)}; nearest: {nearest_texts(str(dimension), known)[0]}"
            )
        if not (isinstance(most, str) and most.isidentifier()) and (type(most) is not int or most < 1):
            raise InvalidDefinitionError(
                f"limits={dict(limits)!r}: {most!r} of {dimension!r}; expected how many runs of one value may be at"
                f" work, at least 1, or the name of a limit in [{SECTION}] {OPTION} of airflow.cfg"
            )
    return dict(limits)


def named_limits() -> dict[str, int]:
    """The limits that airflow.cfg names, for several Dags.

    :raises InvalidDefinitionError: if what stands there is no JSON object from names to numbers.
    """
    from airflow.configuration import conf
    from airflow.exceptions import AirflowConfigException

    try:
        limits: Any = conf.getjson(SECTION, OPTION, fallback={})
    except AirflowConfigException as error:
        limits = error
    if not isinstance(limits, Mapping) or not all(
        name.isidentifier() and type(most) is int and most >= 1 for name, most in limits.items()
    ):
        raise InvalidDefinitionError(
            f"[{SECTION}] {OPTION} of airflow.cfg: {limits!r}; expected names with how many runs of one value may be at"
            ' work, at least 1, such as {"crm": 1}'
        )
    return dict(limits)


def check_named(limits: Mapping[str, int | str]) -> None:
    """Refuse a name that airflow.cfg does not have.

    :raises InvalidDefinitionError: naming the nearest.
    """
    names = [most for most in limits.values() if isinstance(most, str)]
    known = named_limits() if names else {}
    for name in names:
        if name not in known:
            nearest = f"; nearest: {nearest_texts(name, known)[0]}" if known else ""
            raise InvalidDefinitionError(
                f"limits={dict(limits)!r}: [{SECTION}] {OPTION} of airflow.cfg names no limit {name!r}; expected one of"
                f" {', '.join(sorted(known)) or 'those that stand there, and none does'}{nearest}"
            )


@attrs.frozen
class ValueLimits:
    """The limits of a Dag, as the scheduler has them now.

    :ivar partition: definition of the partitions of its runs.
    :ivar most: by dimension the limit, as :class:`WorkSlot` has it, and how many runs of one value it lets work.
    :ivar at_once: whether the partitions of a batch are made at the same time, so that each takes slots of its own.
    """

    partition: PartitionDefinition
    most: Mapping[str, tuple[str, int]]
    at_once: bool = False

    @classmethod
    def of(cls, timetable: PartitionTimetable) -> ValueLimits | None:
        """The limits of a Dag; ``None`` if it has none.

        :raises InvalidDefinitionError: if airflow.cfg can't be read, or no longer has a name.
        """
        if not timetable.limits or timetable.partition is None:
            return None
        check_named(timetable.limits)
        named = named_limits() if any(isinstance(most, str) for most in timetable.limits.values()) else {}
        most = {
            dimension: (most, named[most]) if isinstance(most, str) else (f"{timetable.dag_id}.{dimension}", most)
            for dimension, most in sorted(timetable.limits.items())
        }
        return cls(timetable.partition, most, timetable.at_once)

    def slots(self, key: str) -> list[WorkSlot]:
        """What a run of the key with that text takes; nothing if there is no such key: that run fails by itself."""
        try:
            parts = self.partition.dimensions_of(self.partition.parse(key))
        except InvalidKeyError:
            return []
        slots = [WorkSlot(limit, str(parts[dimension]), most) for dimension, (limit, most) in self.most.items()]
        return list(dict.fromkeys(slots))  # two dimensions may share a limit
