"""The last run of a partition that failed, also one that never came to claim it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.listeners import hookimpl
from sqlalchemy.orm import object_session

from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.state_store import put_cell
from airflow_partitions.engine.runs.claim import Claimant, claim_of, claimant_in, is_newer, note_of
from airflow_partitions.engine.runs.run_note import partition_of_run

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

#: What the names of the cells of failed runs begin with; a key follows.
FAILED = "failed|"


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Leave the run's name with each asset that its Dag writes, in the transaction that ends the run."""
    at, partition = object_session(dag_run), partition_of_run(dag_run)
    if at is None or partition is None or dag_run.dag is None:
        return
    for name in sorted({str(outlet.name) for task in dag_run.dag.tasks for outlet in task.outlets or ()}):
        if (asset_id := asset_id_of(at, name)) is not None:
            put_cell(at, asset_id, failed_cell(partition.text), note_of(Claimant(dag_run.dag_id, dag_run.run_id)))


def last_failed(asset: str, text: str) -> Claimant | None:
    """The last failed run of the partition with the key *text* of an asset; ``None`` if one claimed it since."""
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

    failure = AssetStateStoreAccessor(name=asset).get(failed_cell(text))
    run = claimant_in(failure)
    return None if run is None or is_newer(claim_of(asset, text), failure) else run


def failed_cell(text: str) -> str:
    """The cell of the last failed run of the partition with that key."""
    return f"{FAILED}{text}"
