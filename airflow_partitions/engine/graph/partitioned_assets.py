"""The partitioned assets of an Airflow, each with its definition and the Dags around it.

Airflow's tables tell which Dags there are around an asset; only those of the assets in question are read: there may be
thousands of others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import DeserializationError
from sqlalchemy import bindparam, literal, select, union_all

from airflow_partitions.core.definitions import PartitionDefinition, WholeAsset
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.core.errors import InvalidDefinitionError, UnknownAssetError
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.database.models import Asset as Row
from airflow_partitions.engine.graph.absent_dags import OURS, AbsentDag, absent_dags, unreadable_dag
from airflow_partitions.engine.graph.serialized_dags import nearest_asset
from airflow_partitions.engine.ledger.ledger import ledger_heads
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.serialized_dag import read_timetables
from airflow_partitions.engine.timetables.upstreams import Upstreams

if TYPE_CHECKING:
    from sqlalchemy import CompoundSelect, Select


@attrs.frozen
class AssetDags:
    """The Dags around an asset, by their ids, in order.

    :ivar producers: those with a task that writes it.
    :ivar consumers: partitioned ones that wait for it.
    :ivar absent: those of them that Airflow can't run as they are; of an asset that others make, too, none.
    """

    asset: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    absent: tuple[AbsentDag, ...] = ()

    @property
    def owners(self) -> tuple[str, ...]:
        """The Dags whose rights are those of the asset: that make it, or wait for it where others make it."""
        return self.producers or self.consumers

    @property
    def is_absent(self) -> bool:
        """Whether nothing can make it now: all Dags that do are absent, or there are none."""
        return set(self.producers) <= {dag.dag_id for dag in self.absent}

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
    own = asset_dags(name).get(name)
    if own is not None:
        if (asset := next(read_assets([own]), None)) is not None:
            return asset
        if absent := _with_unreadable(own, read_timetables(_around(own))[1]).absent:
            reasons = "; ".join(f"{name!r} is known by {one.why}" for one in absent)
            raise UnknownAssetError(f"nothing is kept of the partitions of {name!r}: {reasons}", given=name)
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


def upstream_asset(dags: AssetDags, meaning: PartitionDefinition | KeyFormat) -> PartitionedAsset:
    """The asset around which *dags* are, with the partitions that a Dag which waits for it takes it to have.

    An asset without partitions is one of a single partition to such a Dag.
    """
    asset = next(read_assets([dags]), None)
    return PartitionedAsset(dags, meaning) if asset is None else attrs.evolve(asset, meaning=meaning)


def unknown_asset(name: str, dags: Mapping[str, AssetDags]) -> UnknownAssetError:
    """The error that there is no asset of that *name*; its message names some of the assets of *dags*."""
    makes: dict[str, list[str]] = defaultdict(list)
    for asset, each in dags.items():
        for dag_id in each.producers if asset != name else ():
            makes[dag_id].append(asset)
    message = f"no Dag makes or waits for partitions of an asset {name!r}; {nearest_asset(name, dags, makes)}"
    return UnknownAssetError(message, given=name, nearest=tuple(makes.get(name) or get_close_matches(name, dags)))


def asset_dags(name: str | None = None) -> dict[str, AssetDags]:
    """The Dags around all assets that partitioned Dags make or wait for, or around the one of that *name*, by name."""
    producers: dict[str, set[str]] = defaultdict(set)
    consumers: dict[str, set[str]] = defaultdict(set)
    partitioned: set[str] = set()
    with open_connection() as connection:
        for asset, dag_id, timetable, makes in connection.execute(_references(named=name is not None), {"asset": name}):
            ours = (timetable or "").startswith(OURS)
            if ours:
                partitioned.add(asset)
            if makes:
                producers[asset].add(dag_id)
            elif ours:
                consumers[asset].add(dag_id)
    absent = _absent_around({*producers, *consumers}, {*producers}, name)
    for asset, dags in absent.items():
        partitioned.add(asset)
        for dag in dags:
            (producers if asset in dag.work.tasks else consumers)[asset].add(dag.dag_id)
    return {
        asset: AssetDags(
            asset, tuple(sorted(producers[asset])), tuple(sorted(consumers[asset])), tuple(absent.get(asset, ()))
        )
        for asset in sorted(partitioned)
    }


def _absent_around(known: Collection[str], made: Collection[str], name: str | None) -> dict[str, list[AbsentDag]]:
    """The Dags that made, or waited for, assets and are absent, by the names of these assets.

    A Dag that was renamed, or made an asset that another one makes now, is none of that asset any more.

    :param known: names of assets that other Dags make or wait for.
    :param made: names of those that other Dags make.
    :param name: of the only asset to look at; all if ``None``.
    """
    around: dict[str, list[AbsentDag]] = defaultdict(list)
    if name in made:  # so it is not absent, and nothing is asked
        return around
    dags = list(absent_dags().values())
    for dag in dags:
        for asset in dag.work.tasks:
            if asset not in made and name in (None, asset):
                around[asset].append(dag)
    makers = set(around)
    for dag in dags:
        for asset in dag.work.awaits:
            if asset not in known and asset not in makers and name in (None, asset):
                around[asset].append(dag)
    return around


def read_assets(dags: Collection[AssetDags]) -> Iterator[PartitionedAsset]:
    """The assets around which those *dags* are, in their order, as far as they have partitions."""
    timetables, unread = read_timetables({dag_id for each in dags for dag_id in _around(each)})
    whole = [_with_unreadable(each, unread) for each in dags]
    kept = _kept_meanings([each.asset for each in whole if each.absent])
    for each in whole:
        meaning = _meaning(each, timetables) or kept.get(each.asset)
        if meaning is not None:
            around = {dag_id: timetables[dag_id] for dag_id in _around(each) if dag_id in timetables}
            yield PartitionedAsset(each, meaning, around)


def _with_unreadable(dags: AssetDags, unread: Mapping[str, DeserializationError]) -> AssetDags:
    """The same *dags*, of which those that can't be read are absent."""
    absent = {dag.dag_id for dag in dags.absent}
    more = [unreadable_dag(dag_id, unread[dag_id]) for dag_id in dags.owners if dag_id in unread.keys() - absent]
    return attrs.evolve(dags, absent=(*dags.absent, *more)) if more else dags


def _kept_meanings(assets: Collection[str]) -> dict[str, PartitionDefinition | KeyFormat]:
    """What the ledgers of *assets* say of their partitions, by name, as far as they have begun."""
    if not assets:
        return {}
    with open_connection() as connection:
        heads = ledger_heads(connection, assets)
    return {name: head.progress.definition for name, head in heads.items() if head.progress is not None}


def _around(dags: AssetDags) -> tuple[str, ...]:
    return (*dags.producers, *dags.consumers)


@cache
def _references(*, named: bool) -> CompoundSelect[Any]:
    """The query for the Dags around each asset, or around the *named* one, ``asset``."""
    from airflow.models.asset import (
        AssetModel,
        DagScheduleAssetNameReference,
        DagScheduleAssetReference,
        TaskOutletAssetReference,
    )

    makers, waiting, by_name = TaskOutletAssetReference, DagScheduleAssetReference, DagScheduleAssetNameReference
    queries = (
        _references_of(makers, makers.asset_id == AssetModel.id, makes=True),
        _references_of(waiting, waiting.asset_id == AssetModel.id, makes=False),
        _references_of(by_name, by_name.name == AssetModel.name, makes=False),
    )
    own = AssetModel.name == bindparam("asset")
    return union_all(*(query.where(own) if named else query for query in queries))


def _references_of(table: Any, on: Any, *, makes: bool) -> Select[Any]:
    from airflow.models.asset import AssetModel
    from airflow.models.dag import DagModel

    return (
        select(AssetModel.name, table.dag_id, DagModel.timetable_type, literal(makes))
        .join(table, on)
        .join(DagModel, DagModel.dag_id == table.dag_id)
        .where(AssetModel.active.has(), DagModel.is_stale.is_(False))
    )


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
