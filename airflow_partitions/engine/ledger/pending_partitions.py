"""Airflow's pending rows of a Dag that waits for others, many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from airflow_partitions.engine.database.connection import portions

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.orm import Session

#: So many rows are put in by one statement.
_ROWS = 500


def request_partitions(
    session: Session | Connection,
    dag_id: str,
    requests: Mapping[str, Mapping[int, tuple[int, str]]],
    prints: Mapping[str, Any],
) -> None:
    """Put pending rows where the scheduler looks for them.

    :param requests: by key of the consumer, the events that call for it, each with its asset and the key it has.
    """
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    def pending(keys: Sequence[str]) -> dict[str, int]:
        query = select(Row.partition_key, Row.id, Row.rollup_fingerprint).where(
            Row.target_dag_id == dag_id, Row.partition_key.in_(keys), Row.created_dag_run_id.is_(None)
        )  # the scheduler deletes those of other prints, and looks at the newest
        return {key: row for key, row, form in session.execute(query.order_by(Row.id)) if form == prints}

    for keys in portions(list(requests), _ROWS):
        there = pending(keys)
        new = [
            {"target_dag_id": dag_id, "partition_key": key, "rollup_fingerprint": prints}
            for key in keys
            if key not in there
        ]
        if new:
            session.execute(insert(Row), new)
            there = pending(keys)
        logs = [
            {
                "asset_id": asset_id,
                "asset_event_id": event,
                "asset_partition_dag_run_id": there[key],
                "source_partition_key": text,
                "target_dag_id": dag_id,
                "target_partition_key": key,
            }
            for key in keys
            for event, (asset_id, text) in requests[key].items()
        ]
        for some in portions(logs, _ROWS):
            session.execute(insert(Log), some)
