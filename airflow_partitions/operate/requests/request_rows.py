"""Requests as rows of our tables: by their number, wherever the assets and the files of their Dags are by now."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
from airflow.models.backfill import Backfill
from airflow.utils.sqlalchemy import build_upsert_stmt, get_dialect_name
from sqlalchemy import and_, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from airflow_partitions.core.definitions import WholeAsset
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import UnknownRequestError
from airflow_partitions.core.versions import Report
from airflow_partitions.engine.database import models
from airflow_partitions.engine.database.connection import MOST_PARAMETERS, open_session
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.requests.request import Request

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import Session

log = logging.getLogger(__name__)

Row = models.Request
_AT_ONCE = 100
#: The backfill of a request: SQLite gives the number of a deleted one to another.
OWN_BACKFILL: ColumnElement[bool] = and_(Backfill.id == Row.id, Backfill.dag_id == Row.dag_id)
#: Whether runs are yet to be created.
IS_MAKING: ColumnElement[bool] = and_(Row.cancelled.is_(None), Row.created < Row.partitions)
#: Whether there is work left with its runs, for whoever was asked for it or for upkeep.
IS_UNFINISHED: ColumnElement[bool] = and_(
    Row.cancelled.is_(None), or_(Row.created < Row.partitions, Row.retried.is_not(None))
)


def read_request(number: int) -> Request:
    """The request of that *number*; raises as :func:`request_of`."""
    with open_session() as session:
        return request_of(session, number)


def read_dag_id(number: int) -> str:
    """The Dag of the request of that *number*; raises as :func:`dag_id_of`."""
    with open_session() as session:
        return dag_id_of(session, number)


def dag_id_of(session: Session, number: int) -> str:
    """The Dag of the request of that *number*, which need not be one that can be read.

    :raises UnknownRequestError: if there is none.
    """
    dag_id = session.scalar(select(Row.dag_id).join(Backfill, OWN_BACKFILL).where(Row.id == number))
    if dag_id is None:
        raise _unknown(number)
    return dag_id


def request_of(session: Session, number: int, *, damaged: bool = False) -> Request:
    """The request of that *number*.

    :param damaged: give one that can't be read without its partitions and its conf: enough to end it.
    :raises UnknownRequestError: if there is none, or it can't be read.
    """
    row = session.scalar(_rows().where(Row.id == number))
    if row is None:
        raise _unknown(number)
    try:
        return _read(row)
    except UnknownRequestError as error:
        if damaged:
            return _remains(row, str(error))
        raise


def lock_request(session: Session, number: int, *, damaged: bool = False) -> Request:
    """The request of that *number*, which nobody else changes until the transaction ends; as :func:`request_of`."""
    session.execute(update(Row).where(Row.id == number).values(written_at=datetime.now(UTC)))
    return request_of(session, number, damaged=damaged)


def add_request(session: Session, request: Request) -> None:
    """Keep a new *request*."""
    values = attrs.asdict(request.options) | {
        field.name: getattr(request, field.name)
        for field in attrs.fields(Request)
        if field.name not in ("selection", "options", "damage")
    }
    values |= {"selection": request.selection.to_json(), "written_at": datetime.now(UTC)}
    # SQLite gives the number of a deleted backfill again; what held another Dag for that one is released by upkeep.
    session.execute(build_upsert_stmt(get_dialect_name(session), Row, ["id"], values, values))


def write_request(session: Session, request: Request) -> None:
    """Keep how far a *request* has come."""
    values = {name: getattr(request, name) for name in ("created", "cancelled", "retried")}
    values |= {"written_at": datetime.now(UTC)}
    session.execute(update(Row).where(Row.id == request.id).values(values))


def lock_dag(session: Session, dag_id: str) -> None:
    """Let nobody else begin or end a request of a Dag until the transaction ends."""
    now = datetime.now(UTC)
    lock = update(models.Dag).where(models.Dag.dag_id == dag_id).values(locked_at=now)
    if session.connection().execute(lock).rowcount:
        return
    try:
        with session.begin_nested():
            session.execute(insert(models.Dag).values(dag_id=dag_id, locked_at=now))
    except IntegrityError:  # another process has made it in the same moment, and has let it go
        session.execute(lock)


def requests_being_made(session: Session, dag_id: str, report: Report = log.warning) -> list[Request]:
    """The requests of a Dag whose runs are being created.

    :param report: is told of those that can't be read.
    """
    return list(_readable(session.scalars(_rows().where(Row.dag_id == dag_id, IS_MAKING).order_by(Row.id)), report))


def request_by(requester: str) -> int | None:
    """The number of the newest request that was made by *requester*."""
    with open_session() as session:
        return session.scalar(
            select(Row.id).join(Backfill, OWN_BACKFILL).where(Row.by == requester).order_by(Row.id.desc())
        )


def requests_of(
    dag_ids: Collection[str] | None, *, before: int | None = None, damaged: bool = False, report: Report = log.warning
) -> Iterator[Request]:
    """The requests for partitions that some Dags make, the newest first; of all Dags for ``None``.

    :param before: only those with a lower number.
    :param damaged: give those that can't be read, too, as :func:`request_of` does.
    :param report: else it is told of those that can't be read and were not cancelled; they are left out.
    """
    query = _rows().order_by(Row.id.desc()).limit(_AT_ONCE)
    if dag_ids is not None and len(dag_ids) <= MOST_PARAMETERS:
        query = query.where(Row.dag_id.in_(dag_ids))
    while True:
        with open_session() as session:
            rows = session.scalars(query if before is None else query.where(Row.id < before)).all()
        yield from _readable((row for row in rows if dag_ids is None or row.dag_id in dag_ids), report, damaged=damaged)
        if len(rows) < _AT_ONCE:
            return
        before = rows[-1].id


def _rows() -> Select[Any]:
    """The rows of requests, as they are in the database now."""
    return select(Row).join(Backfill, OWN_BACKFILL).execution_options(populate_existing=True)


def _readable(rows: Iterable[Row], report: Report, *, damaged: bool = False) -> Iterator[Request]:
    for row in rows:
        try:
            yield _read(row)
        except UnknownRequestError as error:
            if damaged:
                yield _remains(row, str(error))
            elif row.cancelled is None:
                report(str(error))


def _read(row: Row) -> Request:
    """The request in a *row*.

    :raises UnknownRequestError: if it can't be read: whatever another release, or a hand, has written there.
    """
    try:
        options = {field.name: getattr(row, field.name) for field in attrs.fields(RunOptions)}
        values = {
            field.name: getattr(row, field.name)
            for field in attrs.fields(Request)
            if field.name not in ("options", "damage")
        }
        return Request(**values | {"selection": Selection.from_json(row.selection), "options": RunOptions(**options)})
    except Exception as error:
        raise UnknownRequestError(
            f"request {row.id} of Dag {row.dag_id} can't be read, and counts as not there: {type(error).__name__}:"
            f" {error}; cancel it: airflow asset-partitions cancel {row.id}; or mend or delete its row of the table"
            f" {Row.__tablename__}"
        ) from error


def _remains(row: Row, damage: str) -> Request:
    """The request in a *row* that can't be read, without what can't be."""
    names = "newest_first", "stop_at_failure", "label", "while_paused"
    options = RunOptions(**{name: getattr(row, name) for name in names})
    nothing = Selection(WholeAsset())
    return Request(
        row.id,
        row.asset,
        row.dag_id,
        nothing,
        options,
        row.at,
        row.by,
        row.created,
        row.cancelled,
        row.partitions,
        damage,
        row.retried,
    )


def _unknown(number: int) -> UnknownRequestError:
    return UnknownRequestError(
        f"there is no request {number}; airflow asset-partitions requests lists them, and Airflow's page of a Dag its"
        " own backfills"
    )
