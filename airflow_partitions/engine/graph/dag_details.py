"""What people say of Dags, and how they are: tags, owners, active or not, held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import bindparam, select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.ledger.holds import held_dags
from airflow_partitions.engine.ledger.scheduling_state import SchedulingState, scheduling_state

if TYPE_CHECKING:
    from sqlalchemy import Select


@attrs.frozen
class DagDetails:
    """Details of a Dag.

    :ivar held_for: numbers of the requests that it works for although it was paused; none if its schedule goes on.
    """

    tags: frozenset[str]
    owners: frozenset[str]
    state: SchedulingState
    held_for: tuple[int, ...]

    @property
    def paused(self) -> bool:
        """Whether it begins no runs by itself: it is paused, or draining."""
        return self.state != "active"


def read_dag_details(dag_ids: Collection[str]) -> dict[str, DagDetails]:
    """The details of those Dags, by id; none of them is parsed."""
    tags, holds = defaultdict[str, set[str]](set), held_dags(dag_ids)
    rows: dict[str, Sequence[Any]] = {}
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            for dag_id, tag, *row in connection.execute(_details(), {"dag_ids": portion}):
                rows[dag_id] = row
                if tag is not None:
                    tags[dag_id].add(tag)
    details: dict[str, DagDetails] = {}
    for dag_id, (owners, state) in rows.items():
        names = frozenset(name.strip() for name in (owners or "").split(",") if name.strip())
        details[dag_id] = DagDetails(frozenset(tags[dag_id]), names, state, holds.get(dag_id, ()))
    return details


@cache
def _details() -> Select[str, str, str | None, SchedulingState]:
    from airflow.models.dag import DagModel, DagTag

    return (
        select(DagModel.dag_id, DagTag.name, DagModel.owners, scheduling_state())
        .join(DagTag, DagTag.dag_id == DagModel.dag_id, isouter=True)
        .where(DagModel.dag_id.in_(bindparam("dag_ids", expanding=True)))
    )
