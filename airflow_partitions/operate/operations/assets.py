"""The assets that have partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.selection_text import selection_text
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.graph.asset_sources import asset_sources
from airflow_partitions.engine.graph.asset_surroundings import AssetSurroundings, asset_groups
from airflow_partitions.engine.graph.dag_details import DagDetails, read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import (
    PartitionedAsset,
    asset_dags,
    partitioned_asset,
    read_assets,
)
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
from airflow_partitions.operate.operations.chosen_assets import chosen_assets
from airflow_partitions.operate.operations.page import page
from airflow_partitions.operate.states.overview import Overview, overviews_of

# Their events since upkeep last ran are in memory together: without upkeep these are all.
_AT_ONCE = 300
# Intervals of the example of a selection.
_EXAMPLE = 7


def list_assets(asked: ListAssets, asker: Asker) -> dict[str, Any]:
    """The partitioned assets by name, each with the Dags and assets around it."""
    chosen, every = set(asked.states or ()), asset_dags()
    around = [
        dags for name, dags in chosen_assets(asked, asker, every).items() if asked.cursor is None or name > asked.cursor
    ]
    now = datetime.now(UTC)
    surroundings = AssetSurroundings.of(every, asker.readable)

    def forms() -> Iterator[dict[str, Any]]:
        for portion in portions(around, min(_AT_ONCE, asked.limit + 1)):
            details = read_dag_details({dag_id for each in portion for dag_id in each.owners})
            may_start = asker.startable({dag_id for each in portion for dag_id in each.owners})
            groups = asset_groups([each.asset for each in portion])
            assets = list(read_assets(portion))
            overviews = overviews_of(assets, now) if asked.counts or chosen else {}
            for asset in assets:
                overview = overviews.get(asset.name)
                if chosen and overview is not None and not overview.is_among(chosen):
                    continue
                shown = overview if asked.counts else None
                yield _form(asset, now, details, surroundings, groups, may_start, shown)

    return page("assets", forms(), asked.limit, dict)


def show_asset(asked: ShowAsset, asker: Asker) -> dict[str, Any]:
    """One asset, its definition, the Dags and assets around it, and what the Dags say of it."""
    asset = partitioned_asset(asked.asset)
    owners, now = asset.dags.owners, datetime.now(UTC)
    form = _form(
        asset,
        now,
        read_dag_details(owners),
        AssetSurroundings.of(asset_dags(), asker.readable),
        asset_groups([asset.name]),
        asker.startable(owners),
        None,
    )
    sources = [attrs.asdict(source) for source in asset_sources(asset)]
    return form | {"sources": sources, "example": _example(asset.definition, now)}


def _form(
    asset: PartitionedAsset,
    now: datetime,
    details: Mapping[str, DagDetails],
    surroundings: AssetSurroundings,
    groups: Mapping[str, str],
    startable: Collection[str],
    overview: Overview | None,
) -> dict[str, Any]:
    own = [(dag_id, details[dag_id]) for dag_id in asset.dags.owners if dag_id in details]
    producers = set(asset.dags.producers)
    form = {
        "name": asset.name,
        "group": groups.get(asset.name, ""),
        "definition": definition_form(asset.definition, now),
        "producers": list(asset.dags.producers),
        "consumers": surroundings.readable_dags(asset.dags.consumers),
        "upstream": surroundings.upstream(asset.dags),
        "downstream": surroundings.downstream(asset.dags),
        "tags": sorted({tag for _, one in own for tag in one.tags}),
        "owners": sorted({owner for _, one in own for owner in one.owners}),
        "paused": [dag_id for dag_id, one in own if one.paused and dag_id in producers],
        "holds": {dag_id: list(one.held_for) for dag_id, one in own if one.held_for and dag_id in producers},
        "absent": [one.to_json() for one in asset.dags.absent],
        "may_change": set(asset.dags.owners) <= set(startable),
        "next": _next(asset.definition, now),
    }
    if overview is not None:
        counts = None if overview.counts is None else overview.counts.to_json()
        form |= {"counts": counts, "newest": overview.newest, "error": overview.error}
    return form


def _example(definition: PartitionDefinition, now: datetime) -> str | None:
    """Text that selects some of the newest partitions; ``None`` if there is none yet, and with keys at runtime."""
    if isinstance(definition, PartitionAtRuntime):
        return None
    time = definition.time
    if time is None:
        return selection_text(Selection.of(definition, *islice(definition.keys(), 2))) or None
    last = first = definition.last_interval(now)
    for _ in range(_EXAMPLE - 1):
        first = (first and time.previous(first)) or first
    if first is None or last is None:
        return None
    return selection_text(Selection.between(definition, first.start, last.end))


def _next(definition: PartitionDefinition, now: datetime) -> dict[str, Any] | None:
    """The interval that ends next, and when that is; ``None`` without time, and where there is none any more."""
    interval = definition.next_interval(now)
    if interval is None:
        return None
    return {"key": str(interval), "due": interval.end.isoformat()}


def definition_form(definition: PartitionDefinition, now: datetime) -> dict[str, Any]:
    """The JSON form of a *definition*, of its dimensions by name, and of its closed partitions: first, last and number.

    A calendar that is open to the past has no first partition and no number; keys at runtime are counted elsewhere.
    """
    first: Any = None
    last: Any = None
    count: int | None = None
    time = definition.time
    if time is not None:
        closed = definition.last_interval(now)
        first, last = time.first(), closed
        if first is not None:
            first = definition.next_interval(first.start)
            count = 0 if closed is None or first is None else definition.count(first.start, closed.end)
        if closed is None:
            first = None
    elif not isinstance(definition, PartitionAtRuntime):
        count = definition.count()
    return {
        "kind": definition.to_json()["kind"],
        "text": repr(definition),
        "timezone": None if time is None else time.timezone,
        "dimensions": [
            {"name": name, "kind": dimension.kind, "count": None if dimension.time else _count(dimension)}
            for name, dimension in definition.dimensions.items()
        ],
        "first": None if first is None else str(first),
        "last": None if last is None else str(last),
        "count": count,
        "form": definition.to_json(),
    }


def _count(dimension: PartitionDefinition) -> int | None:
    try:
        return dimension.count()
    except InvalidDefinitionError:  # keys at runtime
        return None
