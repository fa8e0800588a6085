"""Forget that partitions are materialized, and take that back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.engine.ledger import corrections
from airflow_partitions.engine.ledger.forgotten import forgotten_of
from airflow_partitions.engine.ledger.ledger import current_records
from airflow_partitions.operate.requests.request_size import check_size

if TYPE_CHECKING:
    from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset


@attrs.frozen
class ForgottenPartitions:
    """Partitions that were forgotten, or would be.

    :ivar selection: these partitions: those of what was asked for that were materialized.
    :ivar absent: how many others were asked for: they were missing before.
    """

    asset: str
    selection: Selection
    absent: int
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "count": len(self.selection),
            "absent": self.absent,
            "selection": selection_text(self.selection),
            "dry_run": self.dry_run,
        }


@attrs.frozen
class RememberedPartitions:
    """Partitions that count as materialized again, or would.

    :ivar selection: these partitions: those of what was asked for that were forgotten, and not materialized since.
    """

    asset: str
    selection: Selection
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "count": len(self.selection),
            "selection": selection_text(self.selection),
            "dry_run": self.dry_run,
        }


def forget(
    asset: PartitionedAsset,
    selection: Selection,
    *,
    by: str,
    reason: str = "",
    dry_run: bool = False,
) -> ForgottenPartitions:
    """Let partitions of *asset* count as missing, though events tell of them, until they are materialized again.

    Storage is not touched, nothing runs for it, and Airflow's own pages show the events as before. To take it back,
    :func:`remember` them.

    :param by: who asks; it is kept with the reason.
    :param dry_run: only tell what would be forgotten.
    :raises RequestSizeError: if nothing is selected, or too much.
    :raises UnknownAssetError: if there is no such asset.
    """
    check_size(selection)
    keys = [key for key, _ in current_records(asset.name, asset.meaning, selection)]
    present = Selection.of(selection.definition, *keys)
    if present and not dry_run:
        corrections.forget(asset.name, present, by=by, reason=reason)
    return ForgottenPartitions(asset.name, present, len(selection) - len(present), dry_run)


def remember(asset: PartitionedAsset, selection: Selection, *, dry_run: bool = False) -> RememberedPartitions:
    """Take back that partitions of *asset* were forgotten: each counts as materialized when it was, by whom it was.

    :param dry_run: only tell what would count again.
    :raises RequestSizeError: if nothing is selected, or too much.
    :raises UnknownAssetError: if there is no such asset.
    """
    check_size(selection)
    there = {key for key, _ in current_records(asset.name, asset.meaning, selection)}
    parts = [part.selection for part in forgotten_of(asset.name).parts]
    hidden = [part & selection for part in parts if part.definition == selection.definition]
    keys = [key for part in hidden for key in part if key not in there]
    chosen = Selection.of(selection.definition, *keys)
    if chosen and not dry_run:
        corrections.remember(asset.name, chosen)
    return RememberedPartitions(asset.name, chosen, dry_run)
