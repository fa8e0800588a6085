"""Partitions of an older definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.orphans import orphans, orphans_of
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.orphans import ListOrphans


def list_orphans(asked: ListOrphans, _: Asker) -> dict[str, Any]:
    """The materialized partitions of an asset that its definition does not have any more."""
    meaning = partitioned_asset(asked.asset).meaning
    return {"asset": asked.asset, "orphans": [part.to_json() for part in orphans(asked.asset, meaning)]}


def orphan_texts(definitions: Mapping[str, PartitionDefinition | KeyFormat]) -> dict[str, str]:
    """A sentence for each asset that has some, by its name.

    :param definitions: of the keys of each asset's events, by its name.
    """
    return {
        asset: f"asset {asset!r}: {', '.join(map(str, parts))} are no partitions of its definition any more; they are"
        " kept, and nothing is made again by itself"
        for asset, parts in orphans_of(definitions).items()
    }
