"""Whether a Dag begins runs by itself: it is active, paused or, since Airflow 3.4, draining.

A Dag that drains ends the runs that it has, begins no others, and no event of an upstream is kept for it; then Airflow
pauses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import and_, case, not_

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

SchedulingState = Literal["active", "paused", "draining"]
_DRAINING = "is_draining"


def scheduling_state() -> ColumnElement[SchedulingState]:
    """The state of a Dag, as a column."""
    from airflow.models.dag import DagModel

    states = [(DagModel.is_paused.is_(True), "paused")]
    if hasattr(DagModel, _DRAINING):
        states.append((getattr(DagModel, _DRAINING).is_(True), "draining"))
    return case(*states, else_="active")


def is_active() -> ColumnElement[bool]:
    """That a Dag begins runs by itself, as a condition."""
    from airflow.models.dag import DagModel

    draining = [getattr(DagModel, _DRAINING).is_(True)] if hasattr(DagModel, _DRAINING) else []
    return and_(DagModel.is_paused.is_(False), *map(not_, draining))


def paused_values() -> dict[str, Any]:
    """What a paused Dag has in its columns: Airflow refuses one that is paused and draining."""
    from airflow.models.dag import DagModel

    return {"is_paused": True} | ({_DRAINING: False} if hasattr(DagModel, _DRAINING) else {})
