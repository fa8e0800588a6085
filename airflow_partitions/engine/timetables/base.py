"""Base class of the timetables whose Dags make partitions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.timetables.base import Timetable

from airflow_partitions.core.versions import check_version

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
    from airflow_partitions.core.dependencies import Dependency
    from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions

#: Stands for a number of partitions that follows from how long they take.
AUTO = "auto"
#: The most partitions of a batch: what one transaction of the scheduler ends in well below a second.
MOST_IN_BATCH = 2_000


class PartitionTimetable(Timetable):
    """A timetable whose runs have a partition each, or whose tasks add partitions, or both.

    :cvar VERSION: of its serialized form.
    :ivar partition: the partitions of the runs, one each; ``None`` if runs have none.
    :ivar adds: the partitions whose keys the tasks add; ``None`` if they add none.
    :ivar dag_id: of its Dag, once it is known.
    :ivar own_past: the dependency of the runs' partitions on those before them; ``None`` if there is none.
    :ivar batch: the most partitions that one task makes: its own run's, and those of runs that are queued; ``"auto"``
        for as many as take a minute.
    :ivar limits: how many runs of one value of a dimension are at work at a time, or the name of a limit in
        airflow.cfg, by dimension.
    :ivar at_once: whether its task makes the partitions of a batch at the same time.
    """

    VERSION: ClassVar[int] = 1

    #: Airflow 3.4 would else keep a row, and begin a run, for each event: twenty-four for the hours of a day.
    batch_asset_events = True

    partition: PartitionDefinition | None = None
    adds: PartitionAtRuntime | None = None
    dag_id: str | None = None
    own_past: Dependency | None = None
    batch: int | str = 1
    limits: Mapping[str, int | str] = MappingProxyType({})
    at_once: bool = False

    @property
    @abstractmethod
    def produces(self) -> ProducedPartitions:
        """The partitions that the Dag's assets get."""

    @property
    def lists(self) -> frozenset[PartitionAtRuntime]:
        """The definitions by whose lists it is known which combinations exist of those partitions that it knows of."""
        listed = None if self.partition is None else self.partition.listed
        return frozenset() if listed is None else frozenset({listed})

    def serialize(self) -> dict[str, Any]:
        """JSON form; subclasses add their own fields."""
        return {"version": self.VERSION}

    @classmethod
    def check_form(cls, data: Mapping[str, Any]) -> None:
        """Refuse a serialized timetable of another release.

        :raises UnknownVersionError: naming both versions.
        """
        check_version(data, cls.VERSION, f"the serialized {cls.__name__}")
