"""A run that leads a batch, and the cells of its task: what it was given, and what it has told of that."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import delete, insert, select

from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.batches.member import MEMBERS, Member, members_to_json
from airflow_partitions.engine.batches.outcome import OUTCOMES, Outcome, outcomes_from_json
from airflow_partitions.engine.ledger.state_store import form_of

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection

log = logging.getLogger(__name__)


@attrs.frozen
class Leader:
    """A run that leads a batch, as scheduler and upkeep see it.

    :ivar id: its number.
    :ivar task_id: its Dag's only task.
    :ivar assets: names of those that it writes.
    """

    id: int
    dag_id: str
    run_id: str
    task_id: str
    assets: Sequence[str]

    @classmethod
    def of(cls, dag_run: DagRun, task: Any) -> Leader:
        """*dag_run*, whose Dag's only task is *task*."""
        assets = sorted({str(outlet.name) for outlet in task.outlets or ()})
        return cls(dag_run.id, dag_run.dag_id, dag_run.run_id, task.task_id, assets)

    def leave(self, at: Connection, members: Iterable[Member]) -> None:
        """Leave the members where the task finds them."""
        from airflow.models.task_state_store import TaskStateStoreModel as Cell

        row = {
            "dag_run_id": self.id,
            "dag_id": self.dag_id,
            "run_id": self.run_id,
            "task_id": self.task_id,
            "key": MEMBERS,
            "value": json.dumps(members_to_json(members)),
            "updated_at": datetime.now(UTC),
        }
        at.execute(insert(Cell).values(row))

    def outcomes(self, at: Connection) -> dict[str, Outcome]:
        """What the task has told, by the members' run ids."""
        from airflow.models.task_state_store import TaskStateStoreModel as Cell

        query = select(Cell.value).where(
            Cell.dag_run_id == self.id,
            Cell.task_id == self.task_id,
            Cell.key.startswith(OUTCOMES, autoescape=True),
        )
        name = f"what run {self.run_id} of {self.dag_id} tells of its batch"
        forms = [read_form(form_of(text), outcomes_from_json, name, log.warning) for text in at.scalars(query)]
        return {outcome.run_id: outcome for form in forms for outcome in form or ()}

    def forget(self, at: Connection) -> None:
        """Forget the batch: the run may be cleared, and begin anew while its listener fails."""
        from airflow.models.task_state_store import TaskStateStoreModel as Cell

        names = Cell.key.startswith(OUTCOMES, autoescape=True) | (Cell.key == MEMBERS)
        at.execute(delete(Cell).where(Cell.dag_run_id == self.id, Cell.task_id == self.task_id, names))
