"""Mark partitions as materialized without a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.dependencies import KeyFormat, Selection, selection_text
from airflow_partitions.core.errors import UnknownAssetError
from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.ledger import current_records
from airflow_partitions.engine.ledger.marks import Mark
from airflow_partitions.operate.requests.request_size import check_request

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset

# Each event locks a row for every Dag that waits for it; so others get in between.
_AT_ONCE = 100


@attrs.frozen
class Marked:
    """Partitions that were marked as materialized, or would be.

    :ivar selection: these partitions.
    :ivar present: those of them that were materialized already: they are again. To undo it, :func:`.forget` the others.
    """

    asset: str
    selection: Selection
    present: Selection
    quiet: bool
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "count": len(self.selection),
            "present": len(self.present),
            "new": selection_text(self.selection - self.present),
            "quiet": self.quiet,
            "dry_run": self.dry_run,
        }


def mark(
    asset: PartitionedAsset,
    selection: Selection,
    *,
    by: str,
    reason: str = "",
    quiet: bool = False,
    dry_run: bool = False,
) -> Marked:
    """Mark partitions of *asset* as materialized now: an event is sent for each, and what is downstream runs for it.

    Storage is not touched. Whoever is interrupted may ask for the same again.

    :param by: who asks; it is kept in the events, as the reason is.
    :param quiet: let nothing downstream run for it, neither now nor when upkeep catches up.
    :param dry_run: only tell what would be marked.
    :raises RequestSizeError: if nothing is selected, or too much.
    :raises InvalidKeyError: for a partition whose interval is not over.
    :raises UnknownAssetError: if there is no such asset.
    """
    check_request(selection, datetime.now(UTC))
    keys = [key for key, _ in current_records(asset.name, asset.meaning, selection)]
    present = Selection.of(selection.definition, *keys)
    outcome = Marked(asset.name, selection, present, quiet, dry_run)
    with open_session() as session:
        asset_id = asset_id_of(session, asset.name)
        if asset_id is None:
            raise UnknownAssetError(f"there is no asset {asset.name!r} any more", given=asset.name)
        if not dry_run:
            text = asset.meaning.text if isinstance(asset.meaning, KeyFormat) else str
            texts = list(map(text, selection))
            extra = Mark(by, reason, quiet).to_extra()
            for portion in portions(texts, _AT_ONCE):
                (_store if quiet else send_events)(session, asset_id, portion, extra)
                session.commit()
    return outcome


def send_events(session: Session, asset_id: int, texts: Sequence[str], extra: dict[str, Any]) -> None:
    """Send events with these keys as Airflow's own API does, in the transaction at hand."""
    from airflow.assets.manager import asset_manager
    from airflow.models.asset import AssetModel

    asset = session.get_one(AssetModel, asset_id)
    for text in texts:
        asset_manager.register_asset_change(
            asset=asset, extra=extra, partition_key=text, source_is_api=True, session=session
        )


def _store(session: Session, asset_id: int, texts: Sequence[str], extra: dict[str, Any]) -> None:
    """Store events of which nobody is told."""
    from airflow.models.asset import AssetEvent

    session.add_all(AssetEvent(asset_id=asset_id, extra=extra, partition_key=text) for text in texts)
