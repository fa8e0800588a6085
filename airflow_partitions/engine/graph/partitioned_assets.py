"""The partitioned assets of an Airflow, each with its definition and the Dags around it.

Airflow's tables tell which Dags there are around an asset; only those of the assets in question are read: there may be
thousands of others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import DeserializationError
from sqlalchemy import literal, select, union_all

from airflow_partitions.core.definitions import PartitionDefinition, WholeAsset
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.core.errors import InvalidDefinitionError, UnknownAssetError
from airflow_partitions.engine.database.connection import open_connection, open_session
from airflow_partitions.engine.database.models import Asset as Row
from airflow_partitions.engine.graph.serialized_dags import nearest_asset
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.serialized_dag import serialized_dags
from airflow_partitions.engine.timetables.upstreams import Upstreams

if TYPE_CHECKING:
    from sqlalchemy import Select

_OURS = "airflow_partitions."


@attrs.frozen
class AssetDags:
    """The Dags around an asset, by their ids, in order.

    :ivar producers: those with a task that writes it.
    :ivar consumers: partitioned ones that wait for it.
    """

    asset: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]

    @property
    def owners(self) -> tuple[str, ...]:
        """The Dags whose rights are those of the asset: that make it, or wait for it where others make it."""
        return self.producers or self.consumers

    def owned_by(self, dag_ids: Collection[str]) -> bool:
        """Whether its owners are all among these Dags."""
        return all(dag_id in dag_ids for dag_id in self.owners)


@attrs.frozen
class PartitionedAsset:
    """An asset with partitions.

    :ivar meaning: definition of the keys of its events, or what their texts mean.
    :ivar timetables: of the Dags around it, by their ids, as far as they can be read.
    """

    dags: AssetDags
    meaning: PartitionDefinition | KeyFormat
    timetables: Mapping[str, Any] = attrs.field(factory=dict, eq=False, repr=False)

    @property
    def name(self) -> str:
        """The asset's name."""
        return self.dags.asset

    @property
    def definition(self) -> PartitionDefinition:
        """The partitions it has."""
        return self.meaning.definition if isinstance(self.meaning, KeyFormat) else self.meaning

    @property
    def upstreams(self) -> Mapping[str, Upstreams]:
        """What the Dags that make its partitions wait for, by their ids.

        A run that adds keys is none of a partition: what it waits for says nothing of the partitions of these keys.
        """
        timetables = {dag_id: self.timetables.get(dag_id) for dag_id in self.dags.producers}
        return {
            dag_id: timetable.upstreams
            for dag_id, timetable in timetables.items()
            if isinstance(timetable, Partitioned) and timetable.upstreams is not None and not timetable.adds_keys
        }


def partitioned_asset(name: str) -> PartitionedAsset:
    """The partitioned asset of that *name*; reads its own Dags and no others.

    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    """
    dags = asset_dags(name)
    if (own := dags.get(name)) is not None and (asset := next(read_assets([own]), None)) is not None:
        return asset
    if own is None and _never_had_partitions(name):
        raise UnknownAssetError(
            f"asset {name!r} has no partitions: the Dags that make it or wait for it have none; see it in Airflow's own"
            " list of assets",
            given=name,
            nearest=(),
        )
    raise unknown_asset(name, asset_dags())


def _never_had_partitions(name: str) -> bool:
    """Whether Airflow has an active asset of that name, of which no ledger tells."""
    from airflow.models.asset import AssetActive, AssetModel

    told = select(Row.id).where(Row.id == AssetModel.id, Row.meaning.is_not(None)).exists()
    with open_connection() as connection:
        query = select(AssetModel.id).where(AssetModel.name == name, AssetModel.active.has(AssetActive.name == name))
        return connection.scalar(query.where(~told)) is not None


def unknown_asset(name: str, dags: Mapping[str, AssetDags]) -> UnknownAssetError:
    """The error that there is no asset of that *name*; its message names some of the assets of *dags*."""
    makes: dict[str, list[str]] = defaultdict(list)
    for asset, each in dags.items():
        for dag_id in each.producers:
            makes[dag_id].append(asset)
    message = f"no Dag makes or waits for partitions of an asset {name!r}; {nearest_asset(name, dags, makes)}"
    return UnknownAssetError(message, given=name, nearest=tuple(makes.get(name) or get_close_matches(name, dags)))


def asset_dags(name: str | None = None) -> dict[str, AssetDags]:
    """The Dags around all assets that partitioned Dags make or wait for, or around the one of that *name*, by name."""
    from airflow.models.asset import (
        AssetModel,
        DagScheduleAssetNameReference,
        DagScheduleAssetReference,
        TaskOutletAssetReference,
    )

    query = union_all(
        _references(TaskOutletAssetReference, TaskOutletAssetReference.asset_id == AssetModel.id, name, makes=True),
        _references(DagScheduleAssetReference, DagScheduleAssetReference.asset_id == AssetModel.id, name, makes=False),
        _references(
            DagScheduleAssetNameReference, DagScheduleAssetNameReference.name == AssetModel.name, name, makes=False
        ),
    )
    producers: dict[str, set[str]] = defaultdict(set)
    consumers: dict[str, set[str]] = defaultdict(set)
    partitioned: set[str] = set()
    with open_session() as session:
        for asset, dag_id, timetable, makes in session.execute(query):
            ours = (timetable or "").startswith(_OURS)
            if ours:
                partitioned.add(asset)
            if makes:
                producers[asset].add(dag_id)
            elif ours:
                consumers[asset].add(dag_id)
    return {
        asset: AssetDags(asset, tuple(sorted(producers[asset])), tuple(sorted(consumers[asset])))
        for asset in sorted(partitioned)
    }


def read_assets(dags: Collection[AssetDags]) -> Iterator[PartitionedAsset]:
    """The assets around which those *dags* are, in their order, as far as they have partitions."""
    timetables = _timetables({dag_id for each in dags for dag_id in _around(each)})
    for each in dags:
        meaning = _meaning(each, timetables)
        if meaning is not None:
            around = {dag_id: timetables[dag_id] for dag_id in _around(each) if dag_id in timetables}
            yield PartitionedAsset(each, meaning, around)


def _around(dags: AssetDags) -> tuple[str, ...]:
    return (*dags.producers, *dags.consumers)


def _references(table: Any, on: Any, name: str | None, *, makes: bool) -> Select[Any]:
    from airflow.models.asset import AssetModel
    from airflow.models.dag import DagModel

    query = (
        select(AssetModel.name, table.dag_id, DagModel.timetable_type, literal(makes))
        .join(table, on)
        .join(DagModel, DagModel.dag_id == table.dag_id)
        .where(AssetModel.active.has(), DagModel.is_stale.is_(False))
    )
    return query if name is None else query.where(AssetModel.name == name)


def _timetables(dag_ids: Collection[str]) -> dict[str, Any]:
    """The timetables of Dags, by id, as far as they can be read; the doctor tells of the others."""
    timetables: dict[str, Any] = {}
    for dag in serialized_dags(dag_ids):
        with suppress(DeserializationError):
            timetables[dag.dag_id] = dag.timetable
    return timetables


def _meaning(dags: AssetDags, timetables: Mapping[str, Any]) -> PartitionDefinition | KeyFormat | None:
    for dag_id in dags.producers:
        timetable = timetables.get(dag_id)
        if isinstance(timetable, PartitionTimetable):
            return timetable.produces.definition
    for dag_id in dags.consumers:
        timetable = timetables.get(dag_id)
        if isinstance(timetable, Partitioned) and timetable.upstreams is not None:
            try:
                member = timetable.upstreams.member(dags.asset)
            except (InvalidDefinitionError, KeyError):
                continue
            if isinstance(member.definition, WholeAsset):
                continue
            return member.key_format or member.definition
    return None
