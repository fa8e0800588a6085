"""The Dag that makes the partitions of an asset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import DeserializationError
from sqlalchemy import select

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import NotReadyError, UnknownAssetError
from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.graph.cycles import DagNode
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.serialized_dag import SerializedDag, serialized_dags
from airflow_partitions.operate.requests.request_size import check_request, check_size

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from airflow.models.dag import DagModel

    from airflow_partitions.core.dependencies import Selection
    from airflow_partitions.engine.runs.run_options import RunOptions


@attrs.frozen
class Producer:
    """A Dag with a run for each partition of an asset, as it is serialized now.

    :ivar dag: as Airflow reads it.
    :ivar timetable: its own.
    :ivar bundle_version: of the bundle that its file is in.
    """

    asset: str
    dag: Any = attrs.field(repr=False)
    timetable: Partitioned = attrs.field(repr=False)
    bundle_version: str | None
    is_paused: bool

    @property
    def dag_id(self) -> str:
        """The Dag's id."""
        return str(self.dag.dag_id)

    @property
    def definition(self) -> PartitionDefinition:
        """The partitions of its runs."""
        if self.timetable.partition is None:
            raise UnknownAssetError(f"runs of {self.dag_id} have no partition", given=self.asset)
        return self.timetable.partition

    @classmethod
    def of(cls, asset: PartitionedAsset) -> Producer:
        """The Dag that makes the partitions of *asset*; of several the first that is not paused, by name.

        :raises NotReadyError: if only others make it, or the file of its Dag has errors.
        """
        (chosen,) = cls.of_each([asset])
        if isinstance(chosen, NotReadyError):
            raise chosen
        return chosen

    @classmethod
    def of_each(cls, assets: Sequence[PartitionedAsset]) -> list[Producer | NotReadyError]:
        """For each of *assets* the Dag that makes its partitions, or why there is none; all are read at once."""
        dags = _Dags.read({dag_id for asset in assets for dag_id in asset.dags.producers})
        chosen: list[Producer | NotReadyError] = []
        for asset in assets:
            try:
                chosen.append(cls._chosen(asset, dags))
            except NotReadyError as error:
                chosen.append(error)
        return chosen

    @classmethod
    def _chosen(cls, asset: PartitionedAsset, dags: _Dags) -> Producer:
        producers = dags.producers(asset.name, asset.dags.producers)
        if not producers and asset.dags.absent:
            reasons = "; ".join(f"{asset.name!r} is made by {one.why}" for one in asset.dags.absent)
            raise NotReadyError(f"nothing can be asked of it now: {reasons}")
        if not producers:
            raise NotReadyError(
                f"no Dag has a run for each partition of asset {asset.name!r}, so none can be asked for: its partitions"
                " come from outside, or its keys are added by tasks; post an event of it, or run the Dag that adds them"
            )
        return min(producers, key=lambda producer: (producer.is_paused, producer.dag_id))

    @classmethod
    def of_dag(cls, dag_id: str, asset: str) -> Producer:
        """A Dag that has made partitions of the *asset* of that name.

        :raises NotReadyError: if it does so no more, or its file is away or has errors.
        """
        producers = _Dags.read([dag_id]).producers(asset, [dag_id])
        if not producers or asset not in DagNode.of(producers[0].dag).writes:
            raise NotReadyError(
                f"Dag {dag_id} makes no partitions of asset {asset!r} any more, or its file is away; what was asked for"
                " goes on once it is back"
            )
        return producers[0]

    def check_request(self, selection: Selection, now: datetime) -> None:
        """Refuse a *selection* that is empty, larger than allowed, or has a partition that may not be made yet.

        :raises RequestSizeError: naming the number and the way out.
        :raises InvalidKeyError: for a partition whose interval is not over, unless the Dag allows that.
        """
        if self.timetable.allow_open:
            check_size(selection)
        else:
            check_request(selection, now)

    def check_ready(self, options: RunOptions) -> None:
        """Refuse what the Dag can't do now.

        :param options: for its runs.
        :raises NotReadyError: naming the reason and the way out.
        """
        from airflow.utils.types import DagRunType

        if self.is_paused and not options.while_paused:
            raise NotReadyError(
                f"Dag {self.dag_id} is paused, so none of its runs begins; unpause it first: airflow dags unpause"
                f" {self.dag_id}. Or ask while_paused (--while-paused): it makes these partitions, and its schedule"
                " begins no other runs"
            )
        types = self.dag.allowed_run_types
        if types is not None and DagRunType.BACKFILL_JOB not in types:
            raise NotReadyError(
                f"Dag {self.dag_id} allows no backfill runs, which those of a request are; its allowed_run_types are"
                f" {', '.join(map(str, types))}"
            )
        try:
            self.dag.params.deep_merge(dict(options.conf)).validate()
        except ValueError as error:
            raise NotReadyError(
                f"conf {dict(options.conf)!r} does not fit the params of Dag {self.dag_id}: {error}"
            ) from None


def as_of_now(producers: Sequence[Producer]) -> list[Producer]:
    """The same *producers*, paused or not as they are by now: somebody may have thought about a plan for long."""
    from airflow.models.dag import DagModel

    query = select(DagModel.dag_id, DagModel.is_paused).where(DagModel.dag_id.in_([each.dag_id for each in producers]))
    with open_session() as session:
        paused: dict[str, bool] = (
            {row.dag_id: bool(row.is_paused) for row in session.execute(query)} if producers else {}
        )
    return [attrs.evolve(each, is_paused=paused.get(each.dag_id, each.is_paused)) for each in producers]


@attrs.frozen
class _Dags:
    """Dags as Airflow has them now, by id: its rows of them, and their serialized forms."""

    models: Mapping[str, DagModel]
    serialized: Mapping[str, SerializedDag]

    @classmethod
    def read(cls, dag_ids: Collection[str]) -> _Dags:
        """Those of the Dags that are not stale, by a few statements for all of them."""
        from airflow.models.dag import DagModel

        models: dict[str, DagModel] = {}
        with open_session() as session:
            for portion in portions(sorted(dag_ids)):
                query = select(DagModel).where(DagModel.dag_id.in_(portion), DagModel.is_stale.is_(False))
                models |= {row.dag_id: row for row in session.scalars(query)}
        return cls(models, {dag.dag_id: dag for dag in serialized_dags(models)})

    def producers(self, asset: str, dag_ids: Sequence[str]) -> list[Producer]:
        """Those of some Dags that have a run for each partition of an asset, by id.

        :raises NotReadyError: if one of them can't be read.
        """
        producers = []
        for dag_id in sorted(self.serialized.keys() & set(dag_ids)):
            try:
                producer = _producer(asset, self.models[dag_id], self.serialized[dag_id])
            except DeserializationError as error:
                raise NotReadyError(
                    f"Dag {dag_id} can't be read as Airflow has serialized it, so nothing can be asked of it:"
                    f" {error.__cause__ or error}; once its file is parsed again it can"
                ) from error
            if producer is not None:
                producers.append(producer)
        return producers


def _producer(asset: str, model: DagModel, serialized: SerializedDag) -> Producer | None:
    """A Dag if it has a run for each partition of an asset.

    :raises NotReadyError: if its file has errors.
    :raises DeserializationError: if it can't be read.
    """
    timetable = serialized.timetable
    if not isinstance(timetable, Partitioned) or timetable.partition is None or timetable.adds_keys:
        return None
    if model.has_import_errors:  # in the moment before Airflow marks it as stale
        raise NotReadyError(
            f"the file of Dag {model.dag_id} can't be read any more, so nothing can be asked of it: see Airflow's"
            " import errors, or airflow dags list-import-errors"
        )
    dag = serialized.whole
    version = None if dag.disable_bundle_versioning else model.bundle_version
    return Producer(asset, dag, dag.timetable, version, bool(model.is_paused))
