"""What the Dags that make an asset say of it: what it is, when they run, where they and it are."""

from __future__ import annotations

from contextlib import suppress

import attrs
from airflow.exceptions import DeserializationError

from airflow_partitions.engine.graph.cycles import DagNode
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.timetables.schedule_words import schedule_words
from airflow_partitions.engine.timetables.serialized_dag import serialized_dags


@attrs.frozen
class AssetPlace:
    """Where the partitions of an asset are stored.

    :ivar kind: of the dataset; ``None`` if only the Dag file can reach it.
    :ivar format: of its files; empty if it has none of one format.
    """

    path: str
    kind: str | None
    format: str


@attrs.frozen
class AssetSource:
    """A Dag that makes an asset.

    :ivar description: documentation of the Dag, for ``@asset`` the docstring of its function.
    :ivar schedule: when its runs begin, in words; ``None`` if that can't be read.
    :ivar file: from the folder of its bundle.
    :ivar place: of what it makes; ``None`` if it does not say it.
    :ivar tasks: number of its tasks; ``None`` if that can't be read.
    """

    dag_id: str
    description: str | None
    schedule: str | None
    file: str | None
    place: AssetPlace | None
    tasks: int | None


def asset_sources(asset: PartitionedAsset) -> list[AssetSource]:
    """The Dags that make an *asset*, by id; no others are read."""
    sources: list[AssetSource] = []
    for dag in serialized_dags(asset.dags.producers):
        schedule, place, tasks = None, None, None
        with suppress(DeserializationError):  # the doctor tells of it
            tasks = len(dag.task_ids)
            schedule = schedule_words(dag.timetable)
            frames = DagNode.serialized(dag).frames.get(asset.name)
            if frames is not None and frames.stored is not None:
                kind = None if frames.storage is None else frames.storage.get("kind")
                place = AssetPlace(frames.stored.path, kind, frames.stored.format)
        sources.append(AssetSource(dag.dag_id, dag.description, schedule, dag.file, place, tasks))
    return sources
