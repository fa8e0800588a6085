"""What is said of partitions by hand: that they are materialized, that they are not, or that they were all along."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidDefinitionError, SelectionError
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, asset_dags, partitioned_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.corrections import Adopt, Forget, Mark, Remember
from airflow_partitions.operate.operations.asked_partitions import asked_partitions
from airflow_partitions.operate.requests import forget as forgetting
from airflow_partitions.operate.requests import mark as marking
from airflow_partitions.operate.upkeep.adopt import adopt_from_asset, adopt_from_storage


def mark(asked: Mark, asker: Asker) -> dict[str, Any]:
    """What was marked."""
    options: dict[str, Any] = {"reason": asked.reason, "quiet": asked.quiet, "dry_run": asked.dry_run}
    return marking.mark(*_selected(asked), by=asker.name, **options).to_json()


def forget(asked: Forget, asker: Asker) -> dict[str, Any]:
    """What was forgotten."""
    return forgetting.forget(*_selected(asked), by=asker.name, reason=asked.reason, dry_run=asked.dry_run).to_json()


def remember(asked: Remember, _: Asker) -> dict[str, Any]:
    """What counts again."""
    return forgetting.remember(*_selected(asked), dry_run=asked.dry_run).to_json()


def adopt(asked: Adopt, asker: Asker) -> dict[str, Any]:
    """What was taken over.

    :raises InvalidDefinitionError: if not one source is named, or it is none.
    """
    if asked.from_storage == (asked.from_asset is not None):
        raise InvalidDefinitionError("expected one of both: from storage, or from the asset of another name")
    asset = partitioned_asset(asked.asset)
    if asked.from_asset is None:
        return adopt_from_storage(asset, by=asker.name, dry_run=asked.dry_run, track=asker.track).to_json()
    if asked.from_asset in asset_dags(asked.from_asset):  # else it is what was called so once
        asker.check_reading(asked.from_asset)
    return adopt_from_asset(asset, asked.from_asset, by=asker.name, dry_run=asked.dry_run).to_json()


def _selected(asked: Mark | Forget | Remember) -> tuple[PartitionedAsset, Selection]:
    """The asset, and the partitions of it that are meant."""
    asset = partitioned_asset(asked.asset)
    partitions = asked_partitions(asset.definition, asked.select, asked.keys, datetime.now(UTC))
    if partitions is None:
        raise SelectionError(
            "nothing says which partitions are meant; expected a selection such as 2013-03-01..2013-03-10, or keys"
        )
    return asset, partitions
