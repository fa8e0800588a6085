"""Partitions of an older definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.orphans import orphans, orphans_of


def list_orphans(asset: str) -> dict[str, Any]:
    """The materialized partitions of an asset that its definition does not have any more.

    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    """
    named = partitioned_asset(asset)
    return {"asset": asset, "orphans": [part.to_json() for part in orphans(asset, named.meaning)]}


def orphan_texts(definitions: Mapping[str, PartitionDefinition | KeyFormat]) -> dict[str, str]:
    """A sentence for each asset that has some, by its name.

    :param definitions: of the keys of each asset's events, by its name.
    """
    return {
        asset: f"asset {asset!r}: {', '.join(map(str, parts))} are no partitions of its definition any more; they are"
        " kept, and nothing is made again by itself"
        for asset, parts in orphans_of(definitions).items()
    }
