"""What tasks find in the state stores of assets, made again from what lasts.

Tasks reach no database, and Airflow throws the state store of an asset away while no Dag names the asset: a Dag file
that is away for half a minute is enough. So what they need is made again where it is missing: in the transaction in
which their run begins, and by upkeep. What they have left there is taken over by upkeep, and when their run ends.

Airflow calls these listeners in the transaction that changes the run's state, in the scheduler and in the API server.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from sqlalchemy import select
from sqlalchemy.orm import aliased

from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.ledger.added_keys import KEYS_OF
from airflow_partitions.engine.ledger.key_table import take_over
from airflow_partitions.engine.ledger.state_store import form_of, replace_empty_cell
from airflow_partitions.engine.runs.claim import Claimant, claim_cell, note_of
from airflow_partitions.engine.runs.own_claims import OWN_CLAIMS, OwnClaims
from airflow_partitions.engine.runs.transaction import within
from airflow_partitions.engine.timetables.base import PartitionTimetable

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection, Select

log = logging.getLogger(__name__)

_NOT_MADE = "what its tasks need was not made again"


@hookimpl
def on_dag_run_running(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Make the claims of those that are at work again, and the lists of keys that the run's tasks read."""
    timetable: Any = getattr(dag_run.dag, "timetable", None)
    if dag_run.dag is None or not isinstance(timetable, PartitionTimetable):
        return
    tasks = dag_run.dag.tasks
    outlets = {str(outlet.name) for task in tasks for outlet in task.outlets or ()}
    inlets = {str(getattr(inlet, "name", "")) for task in tasks for inlet in task.inlets or ()}
    lists = sorted(name.removeprefix(KEYS_OF) for name in inlets if name.startswith(KEYS_OF))
    with within(dag_run, _NOT_MADE) as at:
        restore_claims(at, outlets | {f"{KEYS_OF}{name}" for name in lists})
    if lists:
        with within(dag_run, _NOT_MADE) as at:
            take_over(at, lists, log.warning)


@hookimpl
def on_dag_run_success(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Take over the keys that the run has added."""
    _take_over_added(dag_run)


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Take over the keys that the run has added before it failed."""
    _take_over_added(dag_run)


def _take_over_added(dag_run: DagRun) -> None:
    timetable: Any = getattr(dag_run.dag, "timetable", None)
    if isinstance(timetable, PartitionTimetable) and timetable.adds is not None:
        with within(dag_run, _NOT_MADE) as at:
            take_over(at, [timetable.adds.name], log.warning)


def restore_claims(connection: Connection, assets: Collection[str] | None = None) -> None:
    """Make the claims of all runs that work again, where they were thrown away.

    :param assets: names of those whose partitions they are of; all if not given.
    """
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    claims = _claims(connection)
    names = {asset for asset, _ in claims if assets is None or asset in assets}
    for portion in portions(sorted(names)):
        query = select(AssetModel.name, AssetModel.id).where(AssetModel.name.in_(portion))
        for asset, asset_id in connection.execute(query).all():
            notes = {claim_cell(text): note for (name, text), note in claims.items() if name == asset}
            cells = select(Cell.key, Cell.value).where(Cell.asset_id == asset_id, Cell.key.in_(notes))
            there = {name for name, text in connection.execute(cells) if form_of(text) is not None}
            for name in notes.keys() - there:
                replace_empty_cell(connection, asset_id, name, notes[name])


def _claims(connection: Connection) -> dict[tuple[str, str], Any]:
    """The note of the last claim of each partition that a run has which works, by asset and key."""
    from airflow.models.dagrun import DagRun
    from airflow.models.task_state_store import TaskStateStoreModel as Cell
    from airflow.utils.state import DagRunState

    query = (
        select(Cell.key, Cell.value, Cell.updated_at, DagRun.dag_id, DagRun.run_id)
        .join(DagRun, DagRun.id == Cell.dag_run_id)
        .where(DagRun.state == DagRunState.RUNNING, Cell.key.startswith(OWN_CLAIMS, autoescape=True))
        .order_by(Cell.updated_at)
    )
    claims: dict[tuple[str, str], Any] = {}
    for name, text, written, dag_id, run_id in connection.execute(query):
        own = read_form(form_of(text), OwnClaims.from_json, f"what run {run_id} of {dag_id} has noted", log.warning)
        if own is not None:
            note = note_of(Claimant(dag_id, run_id), written)
            claims.update({(asset, name.removeprefix(OWN_CLAIMS)): note for asset in own.assets})
    return claims | _claims_of_batches(connection)


def _claims_of_batches(connection: Connection) -> dict[tuple[str, str], Any]:
    """The notes of the partitions that runs which work make for others, by asset and key."""
    rows = connection.execute(_members_at_work())
    return {(asset, str(key)): note_of(Claimant(dag_id, run_id)) for asset, key, dag_id, run_id in rows}


@cache
def _members_at_work() -> Select[str, str | None, str, str]:
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    member = aliased(DagRun)
    return (
        select(AssetModel.name, member.partition_key, DagRun.dag_id, DagRun.run_id)
        .join(BatchMember, BatchMember.leader_id == DagRun.id)
        .join(member, member.id == BatchMember.run_id)
        .join(TaskOutletAssetReference, TaskOutletAssetReference.dag_id == DagRun.dag_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .where(DagRun.state == DagRunState.RUNNING, BatchMember.outcome.is_(None))
    )
