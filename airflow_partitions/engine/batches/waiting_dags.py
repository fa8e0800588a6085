"""The Dags that wait for what a batch has made: each of its events asks for their partitions, as one alone would."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from airflow_partitions.engine.graph.serialized_dags import fingerprint
from airflow_partitions.engine.ledger.pending_partitions import request_partitions
from airflow_partitions.engine.ledger.scheduling_state import is_active

if TYPE_CHECKING:
    from sqlalchemy import Connection

log = logging.getLogger(__name__)


def wake_waiting(at: Connection, asset: str, asset_id: int, events: Mapping[int, str]) -> None:
    """Put the pending rows of all Dags that wait for an asset.

    :param events: keys of its new events, by their ids.
    """
    from airflow.models.serialized_dag import SerializedDagModel

    for dag_id in _waiting(at, asset_id):
        with Session(at) as session:
            serialized = SerializedDagModel.get(dag_id=dag_id, session=session)
        if serialized is None:
            continue
        timetable: Any = serialized.dag.timetable
        requests: dict[str, dict[int, tuple[int, str]]] = defaultdict(dict)
        for event, key in events.items():
            for target in _targets(timetable, asset, key, dag_id):
                requests[target][event] = (asset_id, key)
        request_partitions(at, dag_id, requests, fingerprint(timetable))


def _waiting(at: Connection, asset_id: int) -> list[str]:
    """Ids of the Dags with partitions that an event of an asset wakes."""
    from airflow.models.asset import (
        AssetModel,
        DagScheduleAssetNameReference,
        DagScheduleAssetReference,
        DagScheduleAssetUriReference,
    )
    from airflow.models.dag import DagModel

    asset = select(AssetModel.name, AssetModel.uri).where(AssetModel.id == asset_id).subquery()
    by_id = select(DagScheduleAssetReference.dag_id).where(DagScheduleAssetReference.asset_id == asset_id)
    by_name = select(DagScheduleAssetNameReference.dag_id).join(
        asset, asset.c.name == DagScheduleAssetNameReference.name
    )
    by_uri = select(DagScheduleAssetUriReference.dag_id).join(asset, asset.c.uri == DagScheduleAssetUriReference.uri)
    query = select(DagModel.dag_id).where(
        is_active(),
        DagModel.timetable_partitioned.is_(True),
        or_(*(DagModel.dag_id.in_(each) for each in (by_id, by_name, by_uri))),
    )
    return sorted(at.scalars(query))


def _targets(timetable: Any, asset: str, key: str, dag_id: str) -> Iterator[str]:
    """The keys of a Dag that the *key* of an upstream *asset* asks for."""
    try:
        mapper = timetable.get_partition_mapper(name=asset)
        targets = mapper.to_downstream(key)
    except Exception:  # of an author's own mapper; Airflow goes on with the others, too
        log.exception("Partition %s of %s asks for none of %s", key, asset, dag_id)
        return
    yield from [targets] if isinstance(targets, str) else targets
