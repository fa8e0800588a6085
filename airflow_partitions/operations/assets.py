"""The assets that have partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from airflow_partitions.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.graph.partitioned_assets import (
    AssetDags,
    PartitionedAsset,
    asset_dags,
    partitioned_asset,
    read_assets,
)
from airflow_partitions.operations.page import USUAL, page
from airflow_partitions.states import counts as state_counts

_AT_ONCE = 50


def list_assets(
    *,
    search: str | None = None,
    counts: bool = False,
    limit: int = USUAL,
    cursor: str | None = None,
    dags: Collection[str] | None = None,
) -> dict[str, Any]:
    """The partitioned assets by name.

    :param search: a part of their names, in capitals or not.
    :param counts: with the numbers of their partitions by state, which takes longer.
    :param dags: only those whose own Dags are all among these; all if not given.
    """
    part = (search or "").casefold()
    around = [
        each
        for name, each in asset_dags().items()
        if part in name.casefold() and (cursor is None or name > cursor) and (dags is None or each.owned_by(dags))
    ]

    def form(asset: PartitionedAsset) -> dict[str, Any]:
        about = _form(asset, dags)
        return about | {"counts": state_counts(asset).to_json()} if counts else about

    return page("assets", _read(around), limit, form)


def show_asset(asset: str, *, dags: Collection[str] | None = None) -> dict[str, Any]:
    """One asset, its definition, and the Dags around it.

    :param dags: name only those consumers that are among these; all if not given.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    """
    return _form(partitioned_asset(asset), dags)


def _read(around: list[AssetDags]) -> Iterator[PartitionedAsset]:
    """The assets around which those Dags are; reads the Dags of some at once, not of all."""
    portions = iter(around)
    while portion := list(islice(portions, _AT_ONCE)):
        yield from read_assets(portion)


def _form(asset: PartitionedAsset, dags: Collection[str] | None) -> dict[str, Any]:
    return {
        "name": asset.name,
        "definition": definition_form(asset.definition, datetime.now(UTC)),
        "producers": list(asset.dags.producers),
        "consumers": [dag_id for dag_id in asset.dags.consumers if dags is None or dag_id in dags],
    }


def definition_form(definition: PartitionDefinition, now: datetime) -> dict[str, Any]:
    """The JSON form of a *definition*, of its dimensions by name, and of its closed partitions: first, last and number.

    A calendar that is open to the past has no first partition and no number; keys at runtime are counted elsewhere.
    """
    first: Any = None
    last: Any = None
    count: int | None = None
    time = definition.time
    if time is not None:
        closed = time.last(now)
        first, last = time.first(), closed
        if first is not None:
            combinations = definition.count(first.start, first.end)
            count = 0 if closed is None else combinations * time.count(first.start, closed.end)
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
