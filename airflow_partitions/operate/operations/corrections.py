"""What is said of partitions by hand: that they are materialized, that they are not, or that they were all along."""

from __future__ import annotations

from datetime import UTC, datetime
from getpass import getuser
from typing import Any

from airflow_partitions.core.dependencies import parse_selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.requests import forget as forgetting
from airflow_partitions.operate.requests import mark as marking
from airflow_partitions.operate.upkeep.adopt import Track, adopt_from_asset, adopt_from_storage


def mark(
    asset: str,
    *,
    select: str,
    reason: str = "",
    quiet: bool = False,
    dry_run: bool = False,
    by: str | None = None,
) -> dict[str, Any]:
    """Mark partitions as materialized now, without a run; storage is not touched.

    :param select: which partitions, as text.
    :param reason: why; it is kept in the events.
    :param quiet: let nothing downstream run for it.
    :param dry_run: only tell what would be marked.
    :param by: who asks; by default the user of this process.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read.
    :raises RequestSizeError: if too much is selected.
    :raises InvalidKeyError: if what is selected is no key, or its interval is not over.
    """
    named = partitioned_asset(asset)
    selection = parse_selection(named.definition, select, closed_by=datetime.now(UTC))
    return marking.mark(named, selection, by=by or getuser(), reason=reason, quiet=quiet, dry_run=dry_run).to_json()


def forget(
    asset: str, *, select: str, reason: str = "", dry_run: bool = False, by: str | None = None
) -> dict[str, Any]:
    """Let partitions count as missing until they are materialized again; storage is not touched, and nothing runs.

    :param select: which partitions, as text.
    :param reason: why; it is kept.
    :param dry_run: only tell what would be forgotten.
    :param by: who asks; by default the user of this process.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read.
    :raises RequestSizeError: if too much is selected.
    :raises InvalidKeyError: if what is selected is no key.
    """
    named = partitioned_asset(asset)
    selection = parse_selection(named.definition, select, closed_by=datetime.now(UTC))
    return forgetting.forget(named, selection, by=by or getuser(), reason=reason, dry_run=dry_run).to_json()


def remember(asset: str, *, select: str, dry_run: bool = False) -> dict[str, Any]:
    """Take back that partitions were forgotten: they count as materialized when they were; nothing runs for it.

    :param select: which partitions, as text.
    :param dry_run: only tell what would count again.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read.
    :raises RequestSizeError: if too much is selected.
    :raises InvalidKeyError: if what is selected is no key.
    """
    named = partitioned_asset(asset)
    selection = parse_selection(named.definition, select, closed_by=datetime.now(UTC))
    return forgetting.remember(named, selection, dry_run=dry_run).to_json()


def adopt(
    asset: str,
    *,
    from_storage: bool = False,
    from_asset: str | None = None,
    dry_run: bool = False,
    by: str | None = None,
    track: Track = iter,
) -> dict[str, Any]:
    """Take what exists into the ledger, quietly: from the asset's storage, or from what it was called before.

    :param from_storage: take over what is stored.
    :param from_asset: the name before, whose ledger to take over.
    :param dry_run: only tell what would be taken over.
    :param by: who asks; by default the user of this process.
    :param track: is given the stored partitions, and gives them one by one.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it, or there never was one called so before.
    :raises InvalidDefinitionError: if not one source is named, or it is none.
    :raises StorageError: if the storage can't be reached.
    """
    if from_storage == (from_asset is not None):
        raise InvalidDefinitionError("expected one of both: from storage, or from the asset of another name")
    named = partitioned_asset(asset)
    if from_asset is None:
        return adopt_from_storage(named, by=by or getuser(), dry_run=dry_run, track=track).to_json()
    return adopt_from_asset(named, from_asset, by=by or getuser(), dry_run=dry_run).to_json()
