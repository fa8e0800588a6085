"""Holds: Dags that work for requests, and make nothing of their own accord meanwhile.

Airflow begins no run of a paused Dag, also none that somebody asks for. So a request for a Dag that is paused holds its
schedule and unpauses it: the timetable says that nothing is due until the hold ends, and then the Dag is paused again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import bindparam, select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.models import Hold

_HOLDS = (
    select(Hold.dag_id, Hold.request_id)
    .where(Hold.dag_id.in_(bindparam("dag_ids", expanding=True)))
    .order_by(Hold.request_id)
)


def held_dags(dag_ids: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Those of some Dags that are held, with the numbers of their requests; for scheduler and API server."""
    numbers = defaultdict[str, list[int]](list)
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            for dag_id, number in connection.execute(_HOLDS, {"dag_ids": portion}):
                numbers[dag_id].append(number)
    return {dag_id: tuple(each) for dag_id, each in numbers.items()}


def is_held(dag_id: str | None) -> bool:
    """Whether a Dag is held; one that is not known yet is not."""
    return dag_id is not None and bool(held_dags([dag_id]))
