"""The last run of a partition that failed, also one that never came to claim it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from airflow.listeners import hookimpl
from sqlalchemy.orm import object_session

from airflow_partitions.history.state_store import asset_id_of
from airflow_partitions.runs.claim import Claimant, claim_of, claimant_in, is_newer, note_of
from airflow_partitions.runs.run_note import partition_of_run

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Leave the run's name with each asset that its Dag writes, in the transaction that ends the run."""
    at, partition = object_session(dag_run), partition_of_run(dag_run)
    if at is None or partition is None or dag_run.dag is None:
        return
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell
    from airflow.utils.sqlalchemy import build_upsert_stmt, get_dialect_name

    content = json.dumps(note_of(Claimant(dag_run.dag_id, dag_run.run_id)))
    for name in sorted({str(outlet.name) for task in dag_run.dag.tasks for outlet in task.outlets or ()}):
        if (asset_id := asset_id_of(at, name)) is not None:
            row = {"asset_id": asset_id, "key": _cell(partition.text)}
            value = {"value": content, "updated_at": datetime.now(UTC)}
            at.execute(build_upsert_stmt(get_dialect_name(at), Cell, list(row), row | value, value))


def last_failed(asset: str, text: str) -> Claimant | None:
    """The last failed run of the partition with the key *text* of an asset; ``None`` if one claimed it since."""
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

    failure = AssetStateStoreAccessor(name=asset).get(_cell(text))
    run = claimant_in(failure)
    return None if run is None or is_newer(claim_of(asset, text), failure) else run


def _cell(text: str) -> str:
    return f"failed|{text}"
