"""The timetables of Dags whose task adds partitions while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.exceptions import InvalidPartitionKeyError
from airflow.serialization.definitions.assets import SerializedAsset
from airflow.timetables.base import DagRunInfo, DataInterval
from airflow.timetables.simple import AssetTriggeredTimetable
from pendulum import instance

from airflow_partitions.core.calendars.instants import instant, utc
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition, from_json
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, read_extra
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.condition import condition_of, leaves
from airflow_partitions.engine.timetables.partitioned import Partitioned
from airflow_partitions.engine.timetables.run_policy import RunPolicy
from airflow_partitions.engine.timetables.ticks import ticks_of

if TYPE_CHECKING:
    from airflow.serialization.definitions.assets import SerializedAssetBase
    from airflow.timetables.base import TimeRestriction
    from pendulum import DateTime


class _RuntimeTimetable(PartitionTimetable):
    """A timetable whose runs have no partition of their own."""

    partitioned_at_runtime = True
    adds: PartitionAtRuntime

    @property
    def produces(self) -> ProducedPartitions:
        """The partitions whose keys its tasks add."""
        return ProducedPartitions(self.adds)

    def resolve_partition_date(self, partition_key: str | None) -> None:
        """None: these runs have no partition.

        :raises InvalidPartitionKeyError: for a manual run with a key.
        """
        if partition_key is not None:
            raise InvalidPartitionKeyError(
                f"this Dag adds keys of {self.adds!r} itself; trigger it without a partition_key. Given:"
                f" {partition_key!r}"
            )


class RuntimePartitionTimetable(_RuntimeTimetable):
    """One run per tick, without a partition of its own; its task adds keys of *partition*.

    :param schedule: a preset or cron, read in UTC; a timedelta; another timetable; or ``None`` for manual runs only.
    :param partition: definition of the keys.
    """

    periodic = False  # there is no range of dates whose partitions could be made

    def __init__(self, schedule: Any, partition: PartitionAtRuntime) -> None:
        self.adds = partition
        self._ticks = ticks_of(schedule, zone("UTC"))
        self.can_be_scheduled = schedule is not None
        self.description = f"adds {partition!r}, at {self._ticks.summary}"

    @property
    def produces(self) -> ProducedPartitions:
        return ProducedPartitions(self.adds, self._ticks.to_json())

    @property
    def summary(self) -> str:
        return f"{self._ticks.summary}, adds {self.adds.name}"

    def next_dagrun_info_v2(
        self, *, last_dagrun_info: DagRunInfo | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        now = instant(datetime.now(UTC))
        newest = self._ticks.floor(now)
        earliest = None if restriction.earliest is None else instant(restriction.earliest)
        if last_dagrun_info is not None:
            last = instant(last_dagrun_info.run_after)
            tick = newest if newest is not None and newest > last else self._ticks.after(last)
        elif newest is not None and earliest is not None and earliest <= newest:
            tick = newest
        else:
            tick = self._ticks.after(max(now, now if earliest is None else earliest - 1))
        if tick is None or (restriction.latest is not None and tick > instant(restriction.latest)):
            return None
        return DagRunInfo.exact(instance(utc(tick)))

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        """The run after the one of that interval."""
        last = None if last_automated_data_interval is None else DagRunInfo.exact(last_automated_data_interval.end)
        return self.next_dagrun_info_v2(last_dagrun_info=last, restriction=restriction)

    def infer_manual_data_interval(self, *, run_after: DateTime) -> DataInterval:
        """The moment of the run."""
        return DataInterval.exact(run_after)

    def serialize(self) -> dict[str, Any]:
        return super().serialize() | {"schedule": self._ticks.to_json(), "partition": self.adds.to_json()}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> RuntimePartitionTimetable:
        cls.check_form(data)
        return cls(data["schedule"], _runtime(data["partition"]))


class AssetTriggeredRuntimeTimetable(_RuntimeTimetable, AssetTriggeredTimetable):
    """One run, without a partition of its own, when the assets it is scheduled on have new events without keys.

    :param assets: an asset without partitions, or several joined by ``&`` and ``|``.
    :param partition: definition of the keys that its task adds.
    """

    def __init__(self, assets: SerializedAssetBase, partition: PartitionAtRuntime) -> None:
        super().__init__(assets)
        self.batch_asset_events = True  # Airflow's own sets what its configuration says
        self.adds = partition
        self.description = f"adds {partition!r}, by assets"

    @property
    def summary(self) -> str:
        return f"Asset, adds {self.adds.name}"

    def serialize(self) -> dict[str, Any]:
        assets = AssetTriggeredTimetable.serialize(self)
        return _RuntimeTimetable.serialize(self) | assets | {"partition": self.adds.to_json()}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> AssetTriggeredRuntimeTimetable:
        from airflow.serialization.decoders import decode_asset_like

        cls.check_form(data)
        return cls(decode_asset_like(data["asset_condition"]), _runtime(data["partition"]))


class PartitionTriggeredRuntimeTimetable(Partitioned):
    """One run per partition of the assets it is scheduled on; its task adds keys of another definition.

    :param adds: definition of the keys that its task adds.

    The others are those of :class:`Partitioned`; its *partition* is that of the upstream assets.
    """

    def __init__(
        self, schedule: Any, partition: PartitionDefinition, *, adds: PartitionAtRuntime, **options: Any
    ) -> None:
        self.adds: PartitionAtRuntime = adds
        super().__init__(schedule, partition, **options)

    @property
    def produces(self) -> ProducedPartitions:
        return ProducedPartitions(self.adds)

    @property
    def summary(self) -> str:
        return f"{super().summary}, adds {self.adds.name}"

    def serialize(self) -> dict[str, Any]:
        return super().serialize() | {"adds": self.adds.to_json()}

    @classmethod
    def _more_arguments(cls, data: dict[str, Any]) -> dict[str, Any]:
        return {"adds": _runtime(data["adds"])}


def runtime_timetable(
    schedule: Any, partition: PartitionAtRuntime, definitions: Mapping[str, Any], **run_policy: Any
) -> PartitionTimetable | None:
    """The timetable of a Dag whose task adds keys of *partition*; ``None`` if its runs are each about one of them.

    They are if an upstream asset has the same definition, or is known by its name only.

    :param definitions: of upstream assets by name, for those that publish none.
    :param run_policy: ``wait``, ``rerun`` and ``max_wait`` of :class:`Partitioned`.
    :raises InvalidDefinitionError: if the upstream assets have nothing in common to run by.
    """
    condition = condition_of(schedule)
    if condition is None:
        _refuse_policy(run_policy, f"schedule={schedule!r}")
        return RuntimePartitionTimetable(schedule, partition)
    upstream: dict[str, Any] = {}
    for leaf in leaves(condition):
        if leaf.name in definitions:
            upstream[leaf.name] = getattr(definitions[leaf.name], "definition", definitions[leaf.name])
        elif not isinstance(leaf, SerializedAsset):
            return None
        else:
            produced = read_extra(leaf.extra)
            upstream[leaf.name] = None if produced is None else produced.definition
    first = next(iter(upstream.values()))
    if partition in upstream.values():
        return None
    if any(definition != first for definition in upstream.values()):
        raise InvalidDefinitionError(
            f"a run that adds keys of {partition!r} is about one upstream partition, so upstream assets need one"
            f" definition; given: {', '.join(f'{name}: {definition!r}' for name, definition in upstream.items())}."
            " Schedule it on one of them, or on an asset that joins them"
        )
    if first is None:
        _refuse_policy(run_policy, "upstream assets without partitions")
        return AssetTriggeredRuntimeTimetable(condition, partition)
    return PartitionTriggeredRuntimeTimetable(schedule, first, adds=partition, upstreams=definitions, **run_policy)


def _refuse_policy(run_policy: Mapping[str, Any], schedule: str) -> None:
    if RunPolicy(**run_policy) != RunPolicy():
        raise InvalidDefinitionError(f"wait, rerun and max_wait go with upstream partitions; given: {schedule}")


def _runtime(data: dict[str, Any]) -> PartitionAtRuntime:
    definition = from_json(data)
    if not isinstance(definition, PartitionAtRuntime):
        raise InvalidDefinitionError(f"{definition!r} is known before a task runs; expected PartitionAtRuntime")
    return definition
