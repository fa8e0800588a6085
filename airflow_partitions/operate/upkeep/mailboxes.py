"""Make again what Airflow has thrown away of the state stores of assets that are back in a Dag."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from airflow_partitions.core.versions import Report
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.ledger.mailbox import publish_missing
from airflow_partitions.engine.runs.claim import Claimant, note_of
from airflow_partitions.engine.runs.failure import failed_cell
from airflow_partitions.engine.runs.mailbox import restore_claims


def renew_mailboxes(report: Report) -> None:
    """Let tasks find again what the ledger has, who works, and what has failed, where it was thrown away.

    :param report: is told of what can't be read.
    """
    if asset_ids := publish_missing(report):
        restore_notes(asset_ids)


def restore_notes(asset_ids: Collection[int]) -> None:
    """Note again who works on partitions, and the last failed run of each partition of the assets with these ids."""
    with open_connection() as connection:
        restore_claims(connection)
        connection.commit()
    for asset_id in asset_ids:
        with open_connection() as connection:
            _restore_failures(connection, asset_id)
            connection.commit()


def _restore_failures(connection: Connection, asset_id: int) -> None:
    """Note the last failed run of each partition of an asset again, as the run itself has done."""
    from airflow.models.asset import TaskOutletAssetReference as Outlet
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    makes = DagRun.dag_id.in_(select(Outlet.dag_id).where(Outlet.asset_id == asset_id))
    runs = select(DagRun.partition_key, DagRun.dag_id, DagRun.run_id, DagRun.end_date).where(
        makes, DagRun.state == DagRunState.FAILED, DagRun.partition_key.is_not(None)
    )
    notes: dict[str, Any] = {
        failed_cell(str(key)): note_of(Claimant(dag_id, run_id), ended)
        for key, dag_id, run_id, ended in connection.execute(runs.order_by(DagRun.end_date))
    }
    there = set(connection.scalars(select(Cell.key).where(Cell.asset_id == asset_id)))
    now = datetime.now(UTC)
    rows = [
        {"asset_id": asset_id, "key": name, "value": json.dumps(note), "updated_at": now}
        for name, note in notes.items()
        if name not in there
    ]
    if rows:
        with suppress(IntegrityError), connection.begin_nested():  # a run fails in this moment, and notes that itself
            connection.execute(insert(Cell), rows)
