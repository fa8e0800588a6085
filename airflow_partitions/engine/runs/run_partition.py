"""The partition of a run, as its tasks get it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.dependencies import Dependency, Selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.partition import Partition

if TYPE_CHECKING:
    from airflow.sdk import Asset
    from airflow.sdk.definitions.asset import AssetNameRef

    from airflow_partitions.core.definitions.runtime import Addition
    from airflow_partitions.engine.runs.open_job import OpenJob
    from airflow_partitions.engine.timetables.base import PartitionTimetable
    from airflow_partitions.engine.timetables.upstreams import Upstreams


class RunPartition(Partition):
    """The :class:`Partition` of a run, which knows what the run depends on.

    :param timetable: of the run's Dag.
    :param key: the run's key, or its text.
    :param run_after: when the run was due or asked for, aware: what a rule takes for now.
    :param start: when the run began, aware; later than it began first, if it was cleared.
    :param additions: called for the additions of keys known only at runtime, by text, the newest last.
    :param context: of Airflow, with the ``dag``, and with ``ti`` where a task runs.
    :raises InvalidKeyError: if the Dag's definition has no such key.
    """

    __slots__ = ("_context", "_run_after", "_start", "_timetable")

    def __init__(
        self,
        timetable: PartitionTimetable,
        key: Any,
        run_after: datetime,
        start: datetime,
        additions: Callable[[], Mapping[str, Addition]] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        if timetable.partition is None:
            raise InvalidDefinitionError(f"runs of {timetable.dag_id} have no partition; their tasks add some")
        super().__init__(timetable.partition, key, additions)
        self._timetable = timetable
        self._run_after = run_after
        self._start = start
        self._context = context or {}

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

    def paths(self, name: str) -> list[str]:
        """The files of the input *name* that the run may read, for a job of any engine: local paths, or URLs.

        Inputs are those of the Dag's :class:`.Publish`, or of its asset. Storage without partitions is one path.

        :raises InvalidDefinitionError: if there is no such input; with the nearest.
        :raises MissingInputError: if one of its partitions is not stored.
        :raises FilterError: if it is a table, whose files don't tell partitions apart.
        """
        return self._job.paths(name)

    def where(self, name: str, dialect: str = "ansi") -> str:
        """The partitions of the input *name* that the run may read, as a condition on the columns of a table.

        :param dialect: of SQL: ``"ansi"``, ``"spark"``, ``"duckdb"``, ``"trino"``, ``"bigquery"`` or ``"snowflake"``.
        :raises InvalidDefinitionError: if there is no such input, or no such dialect; with the nearest.
        :raises MissingInputError: if one of its partitions is not stored.
        :raises FilterError: if no columns tell its partitions apart.
        """
        return self._job.where(name, dialect)

    @property
    def staging(self) -> str:
        """The folder that this task may write to in this try: what is there is for :class:`.Publish`, behind it.

        It is made when it is first asked for.

        :raises InvalidDefinitionError: if nothing publishes it, or the Dag publishes partitions of several assets.
        :raises StorageError: if it can't be made.
        """
        return self._job.staging()

    def staging_of(self, asset: str) -> str:
        """As :attr:`staging`, of one of several assets whose partitions the Dag publishes.

        :param asset: its name.
        :raises InvalidDefinitionError: if nothing publishes it.
        :raises StorageError: if it can't be made.
        """
        return self._job.staging(asset)

    @property
    def staging_table(self) -> str:
        """As :attr:`staging`, where the partition is of a table of Iceberg: the name, with its namespace, of a table
        of this try in the same catalog, for engines that ``INSERT INTO`` a table and know no folders.

        :raises InvalidDefinitionError: if nothing publishes it, it is no table, or there are several assets.
        :raises StorageError: if it can't be made.
        """
        return self._job.staging_table()

    def staging_table_of(self, asset: str) -> str:
        """As :attr:`staging_table`, of one of several assets whose partitions the Dag publishes.

        :param asset: its name.
        :raises InvalidDefinitionError: if nothing publishes it, or it is no table.
        :raises StorageError: if it can't be made.
        """
        return self._job.staging_table(asset)

    @property
    def _job(self) -> OpenJob:
        from airflow_partitions.engine.runs.open_job import OpenJob

        return OpenJob(self, {"dag_run": SimpleNamespace(run_after=self._run_after), **self._context})
