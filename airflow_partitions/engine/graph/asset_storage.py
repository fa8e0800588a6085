"""The storage of an asset, as the Dags that make it say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.exceptions import DeserializationError

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.graph.cycles import DagNode
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.timetables.serialized_dag import serialized_dags


def asset_storage(asset: PartitionedAsset) -> Mapping[str, Any]:
    """JSON form of the dataset that the partitions of *asset* are stored in; reads its producers only.

    :raises InvalidDefinitionError: if no Dag says where it is, or only a Dag file can reach it.
    """
    is_stored = False
    for dag in serialized_dags(asset.dags.producers):
        try:
            frames = DagNode.serialized(dag).frames.get(asset.name)
        except DeserializationError:  # the doctor tells of it
            continue
        if frames is not None and frames.storage is not None:
            return frames.storage
        is_stored = is_stored or (frames is not None and frames.stored is not None)
    if is_stored:
        raise InvalidDefinitionError(
            f"the storage of asset {asset.name!r} is reached by credentials in its Dag file; expected conn_id=…"
            " or catalog=… with a connection of Airflow"
        )
    raise InvalidDefinitionError(
        f"no Dag says where asset {asset.name!r} is stored; expected storage=… in the decorator of one that makes it"
    )
