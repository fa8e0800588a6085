"""Cells of the assets' state store, many at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from airflow_partitions.engine.database.connection import portions

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select
    from sqlalchemy.orm import Session


def lock_cell(session: Session, asset_id: int, name: str) -> None:
    """Lock an asset's cell until the transaction ends, once nobody else has it.

    A cell that is not there is made, with nothing in it.
    """
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    now = datetime.now(UTC)
    # A write, not a lock for reading: SQLite has none, and lets one writer in at a time.
    lock = update(Cell).where(Cell.asset_id == asset_id, Cell.key == name).values(updated_at=now)
    if session.connection().execute(lock).rowcount:
        return
    try:
        with session.begin_nested():
            session.execute(insert(Cell).values(asset_id=asset_id, key=name, value="null", updated_at=now))
    except IntegrityError:  # another process has made it in the same moment, and has let it go
        session.execute(lock)


def replace_empty_cell(connection: Connection, asset_id: int, name: str, form: Any) -> datetime | None:
    """Put a *form* into an asset's cell, if that is not there or has nothing in it.

    It goes without the events of a session: the scheduler's refuses savepoints.

    :returns: when it was written; ``None`` if somebody has written another one.
    """
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    now, here = datetime.now(UTC), (Cell.asset_id == asset_id, Cell.key == name, Cell.value == "null")
    values = {"value": json.dumps(form), "updated_at": now}
    if connection.execute(update(Cell).where(*here).values(**values)).rowcount:
        return now
    try:
        with connection.begin_nested():
            connection.execute(insert(Cell).values(asset_id=asset_id, key=name, **values))
    except IntegrityError:
        return None
    return now


def read_cells(session: Session | Connection, asset_id: int, names: Collection[str]) -> dict[str, Any]:
    """The forms in those of an asset's cells that there are, by name; anybody may have written them."""
    return {name: form_of(text) for name, text in read_texts(session, asset_id, names).items()}


def form_of(text: str) -> Any:
    """What the *text* of a cell stands for; the text itself, if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_texts(session: Session | Connection, asset_id: int, names: Collection[str]) -> dict[str, str]:
    """The texts in those of an asset's cells that there are, by name."""
    texts: dict[str, str] = {}
    for portion in portions(list(names)):
        rows = session.execute(_cells(), {"asset": asset_id, "names": portion})
        texts.update((name, text) for name, text in rows)
    return texts


@cache
def _cells() -> Select[str, str]:
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    named = Cell.key.in_(bindparam("names", expanding=True))
    return select(Cell.key, Cell.value).where(Cell.asset_id == bindparam("asset"), named)


def write_cells(session: Session, asset_id: int, cells: Mapping[str, str]) -> None:
    """Put JSON texts into an asset's *cells*; those that have them stay as they are."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    before = read_texts(session, asset_id, cells)
    now = datetime.now(UTC)
    new: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for name, text in cells.items():
        if text != before.get(name):
            row = {"asset_id": asset_id, "key": name, "value": text, "updated_at": now}
            (changed if name in before else new).append(row)
    if new:
        session.execute(insert(Cell), new)
    if changed:
        session.execute(update(Cell), changed)


def put_cell(session: Session, asset_id: int, name: str, form: Any) -> None:
    """Put a *form* into an asset's cell, in a transaction of Airflow's own."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell
    from airflow.utils.sqlalchemy import build_upsert_stmt, get_dialect_name

    row = {"asset_id": asset_id, "key": name}
    value = {"value": json.dumps(form), "updated_at": datetime.now(UTC)}
    session.execute(build_upsert_stmt(get_dialect_name(session), Cell, list(row), row | value, value))
