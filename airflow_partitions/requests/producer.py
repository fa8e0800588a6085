"""The Dag that makes the partitions of an asset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.errors import NotReadyError, UnknownAssetError
from airflow_partitions.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.history.database import session
from airflow_partitions.requests.request_size import check_request, check_size
from airflow_partitions.timetables import Partitioned

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from airflow_partitions.dependencies import Selection
    from airflow_partitions.requests.request import RunOptions


@attrs.frozen
class Producer:
    """A Dag with a run for each partition of an asset, as it is serialized now.

    :ivar dag: as Airflow reads it.
    :ivar timetable: its own.
    :ivar home: id of the asset whose cells have the Dag's requests: the oldest that it writes.
    :ivar bundle_version: of the bundle that its file is in.
    """

    asset: str
    dag: Any = attrs.field(repr=False)
    timetable: Partitioned = attrs.field(repr=False)
    home: int
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
    def of(cls, asset: PartitionedAsset, dag_id: str | None = None) -> Producer:
        """The Dag that makes the partitions of *asset*; of several the first that is not paused, by name.

        :param dag_id: of the Dag that is meant.

        :raises NotReadyError: if only others make it, or the file of its Dag has errors.
        """
        producers = _read(asset.name, [each for each in asset.dags.producers if dag_id in (None, each)])
        if not producers:
            if dag_id is not None:
                raise NotReadyError(f"Dag {dag_id} makes no partitions of asset {asset.name!r} any more")
            raise NotReadyError(
                f"no Dag has a run for each partition of asset {asset.name!r}, so none can be asked for: its partitions"
                " come from outside, or its keys are added by tasks; post an event of it, or run the Dag that adds them"
            )
        return min(producers, key=lambda producer: (producer.is_paused, producer.dag_id))

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


def _read(asset: str, dag_ids: Sequence[str]) -> list[Producer]:
    from airflow.models.asset import TaskOutletAssetReference
    from airflow.models.dag import DagModel
    from airflow.models.serialized_dag import SerializedDagModel

    producers = []
    with session() as at:
        models = {row.dag_id: row for row in at.scalars(select(DagModel).where(DagModel.dag_id.in_(dag_ids)))}
        for row in SerializedDagModel.get_latest_serialized_dags(dag_ids=list(dag_ids), session=at) if dag_ids else ():
            dag, model = row.dag, models[row.dag_id]
            timetable: Any = dag.timetable
            if not isinstance(timetable, Partitioned) or timetable.partition is None:
                continue
            if model.has_import_errors:
                raise NotReadyError(
                    f"the file of Dag {row.dag_id} can't be read any more, so nothing can be asked of it: see Airflow's"
                    " import errors, or airflow dags list-import-errors"
                )
            home = select(TaskOutletAssetReference.asset_id).where(TaskOutletAssetReference.dag_id == row.dag_id)
            version = None if dag.disable_bundle_versioning else model.bundle_version
            producers.append(Producer(asset, dag, timetable, min(at.scalars(home)), version, bool(model.is_paused)))
    return producers
