"""Keys known only at runtime, added and removed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from getpass import getuser
from typing import Any

from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.requests import runtime_keys


def add_keys(
    asset: str,
    *,
    keys: Sequence[str],
    metadata: Any = None,
    reason: str = "",
    once: bool = False,
    dry_run: bool = False,
    by: str | None = None,
) -> dict[str, Any]:
    """Add keys, as a task does: what is downstream runs for each.

    :param keys: their texts.
    :param metadata: JSON to keep with each.
    :param reason: why; it is kept in the events.
    :param once: leave those as they are that are there already.
    :param dry_run: only tell what would be added.
    :param by: who asks; by default the user of this process.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises InvalidDefinitionError: if its keys are not known only at runtime.
    :raises InvalidKeyError: if one is not allowed.
    :raises RequestSizeError: if there is none, or too many.
    :raises ConflictError: if a run is adding keys now.
    """
    named = partitioned_asset(asset)
    return runtime_keys.add_runtime_keys(
        named, keys, metadata, by=by or getuser(), reason=reason, once=once, dry_run=dry_run
    ).to_json()


def remove_keys(asset: str, *, keys: Sequence[str], dry_run: bool = False) -> dict[str, Any]:
    """Take keys off the list; what was made for them stays.

    :param keys: their texts.
    :param dry_run: only tell what would be removed.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises InvalidDefinitionError: if its keys are not known only at runtime.
    :raises InvalidKeyError: if one is not on the list.
    :raises ConflictError: if a run is adding keys now.
    """
    return runtime_keys.remove_runtime_keys(partitioned_asset(asset), keys, dry_run=dry_run).to_json()
