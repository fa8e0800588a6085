"""The partition of a run, as its tasks get it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.dependencies import Dependency, Selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.partition import Partition

if TYPE_CHECKING:
    from airflow.sdk import Asset
    from airflow.sdk.definitions.asset import AssetNameRef

    from airflow_partitions.core.definitions.runtime import Addition
    from airflow_partitions.engine.timetables.base import PartitionTimetable
    from airflow_partitions.engine.timetables.upstreams import Upstreams


class RunPartition(Partition):
    """The :class:`Partition` of a run, which knows what the run depends on.

    :param timetable: of the run's Dag.
    :param key: the run's key, or its text.
    :param run_after: when the run was due or asked for, aware: what a rule takes for now.
    :param start: when the run began, aware; later than it began first, if it was cleared.
    :param additions: called for the additions of keys known only at runtime, by text, the newest last.
    :raises InvalidKeyError: if the Dag's definition has no such key.
    """

    __slots__ = ("_run_after", "_start", "_timetable")

    def __init__(
        self,
        timetable: PartitionTimetable,
        key: Any,
        run_after: datetime,
        start: datetime,
        additions: Callable[[], Mapping[str, Addition]] | None = None,
    ) -> None:
        if timetable.partition is None:
            raise InvalidDefinitionError(f"runs of {timetable.dag_id} have no partition; their tasks add some")
        super().__init__(timetable.partition, key, additions)
        self._timetable = timetable
        self._run_after = run_after
        self._start = start

    def upstream(self, asset: Asset | AssetNameRef | str) -> Selection:
        """The partitions of an upstream asset that this one depends on, by the Dag's rule for it.

        What a rule takes for now is when the run was asked for: a retry gets the same. It asks the API server if the
        Dag only names the asset.

        :param asset: one that the Dag is scheduled on, a reference to it by name, or its name.
        :raises InvalidDefinitionError: if the Dag is not scheduled on it; the upstream assets are in the message.
        """
        name = asset if isinstance(asset, str) else asset.name
        upstreams: Upstreams | None = getattr(self._timetable, "upstreams", None)
        if upstreams is None or name not in upstreams.leaves:
            names = () if upstreams is None else tuple(upstreams.leaves)
            raise InvalidDefinitionError(
                f"{self._timetable.dag_id} is not scheduled on an asset {name!r}, but on: {', '.join(names) or 'none'}."
                " What belongs together otherwise, Dependency(downstream=…, upstream=…).upstream(partition) says"
            )
        if upstreams.declared(name) is not None:
            return upstreams.member(name).dependency.upstream(self.wrapped, now=self._run_after)
        from airflow_partitions.engine.runs.materialized import AssetHistory

        definition = AssetHistory(asset, self._timetable).definition
        return Dependency(self.definition, definition, upstreams.rule(name)).upstream(self.wrapped, now=self._run_after)

    def upstream_at_start(self, asset: Asset | AssetNameRef | str) -> Selection:
        """Those of :meth:`upstream` that were there when the run began; it asks the API server.

        A manual run or a backfill does not wait for its upstream, and ``wait=AtLeast(n)`` begins early: what is left
        is ``partition.upstream(asset) - partition.upstream_at_start(asset)``. A run that is cleared begins again.

        :param asset: as for :meth:`upstream`.
        :raises InvalidDefinitionError: as for :meth:`upstream`.
        """
        from airflow_partitions.engine.runs.materialized import AssetHistory

        return AssetHistory(asset, self._timetable).before(self._start, self.upstream(asset))
