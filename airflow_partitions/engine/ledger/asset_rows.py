"""Rows of assets: whose all else is that we keep of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from airflow_partitions.engine.database.models import Asset

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement, Connection, ScalarSelect, Select
    from sqlalchemy.orm import Session


_ID = select(Asset.id).where(Asset.id == bindparam("asset"))
_ROW = update(Asset).where(Asset.id == bindparam("asset"))
# A write, not a lock for reading: SQLite has none, and lets one writer in at a time.
_LOCK = _ROW.values(changes=Asset.changes)


def asset_id_of(session: Session | Connection, asset: str) -> int | None:
    """The id of the current *asset* of that name, as :func:`is_current` has it."""
    return session.scalar(_current(), {"asset": asset})


@cache
def id_of(*, by_name: bool) -> ScalarSelect[int] | BindParameter[int]:
    """The id of the asset ``asset``, as a part of another question: that is the id, or the name of the current one."""
    return _current().scalar_subquery() if by_name else bindparam("asset")


@cache
def _current() -> Select[int]:
    from airflow.models.asset import AssetModel

    return select(AssetModel.id).where(AssetModel.name == bindparam("asset"), is_current())


@cache
def is_current() -> ColumnElement[bool]:
    """Whether a row of Airflow's table of assets is the active one of its name, or the newest while none is active.

    While a Dag's file is away or broken none of the assets that it alone names is active.
    """
    from airflow.models.asset import AssetActive, AssetModel

    other = aliased(AssetModel)
    is_away = ~exists().where(AssetActive.name == AssetModel.name)
    newest = select(func.max(other.id)).where(other.name == AssetModel.name).correlate(AssetModel).scalar_subquery()
    return or_(AssetModel.active.has(), and_(is_away, AssetModel.id == newest))


def ensure_asset(session: Session, asset_id: int) -> None:
    """Make the row of the asset with that id, which Airflow knows, unless it is there."""
    from airflow.models.asset import AssetModel

    if session.connection().scalar(_ID, {"asset": asset_id}) is not None:
        return
    name, uri = session.execute(select(AssetModel.name, AssetModel.uri).where(AssetModel.id == asset_id)).one()
    try:
        with session.begin_nested():
            session.execute(insert(Asset).values(id=asset_id, name=name, uri=uri))
    except IntegrityError:  # another process has made it in the same moment
        return


def lock_asset(session: Session, asset_id: int) -> None:
    """Let nobody else write what we keep of an asset until the transaction ends, once nobody else does.

    The row is made if it is not there.
    """
    if not session.connection().execute(_LOCK, {"asset": asset_id}).rowcount:
        ensure_asset(session, asset_id)
        session.connection().execute(_LOCK, {"asset": asset_id})


def write_asset(session: Session, asset_id: int, **values: Any) -> None:
    """Write columns of the row of an asset."""
    session.connection().execute(_ROW.values(values), {"asset": asset_id})
