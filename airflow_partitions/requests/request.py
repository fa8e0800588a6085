"""A request for partitions, as it is kept: in a cell beside the ledger, and as a backfill of Airflow."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import func, select

from airflow_partitions.dependencies import Selection, selection_text
from airflow_partitions.errors import InvalidDefinitionError, UnknownRequestError
from airflow_partitions.history.database import portions, session
from airflow_partitions.history.state_store import lock_cell, read_cells, write_cells
from airflow_partitions.versions import check_version, read_form, read_number, read_time

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

log = logging.getLogger(__name__)

#: The cell of the requests whose runs are being created. Who holds its lock is the only one to begin or end one.
MAKING = "materialise"
#: The most runs at a time that may be asked for: what Airflow's column takes, and far more than it can run.
MOST_AT_A_TIME = 100_000
_VERSION = 1
_AT_ONCE = 100


@attrs.frozen
class RunOptions:
    """How the runs of a request are to go.

    :ivar concurrency: the most runs at a time.
    :ivar newest_first: begin with the newest partition, not with the oldest.
    :ivar stop_at_failure: begin no more runs once one has failed, until the request is resumed.
    :ivar label: in the note of every run.
    :ivar conf: configuration of every run.
    :ivar while_paused: make them also if the Dag is paused; its schedule begins no run until the request has ended.
    """

    concurrency: int = attrs.field(default=16)
    newest_first: bool = False
    stop_at_failure: bool = False
    label: str = ""
    conf: Mapping[str, Any] = attrs.field(factory=dict)
    while_paused: bool = False

    @concurrency.validator
    def _check_concurrency(self, _: Any, value: Any) -> None:
        if type(value) is not int or not 1 <= value <= MOST_AT_A_TIME:
            raise InvalidDefinitionError(
                f"concurrency={value!r}; expected a number of runs from 1 to {MOST_AT_A_TIME:,}"
            )


@attrs.frozen
class Request:
    """A request for partitions of an asset: a backfill of Airflow, with exactly these keys.

    :ivar id: that of the backfill.
    :ivar dag_id: the Dag whose runs make them.
    :ivar at: when it was made, aware.
    :ivar by: who made it.
    :ivar created: number of keys, from the first on, that have a run by now.
    :ivar cancelled: when it was, aware.
    """

    id: int
    asset: str
    dag_id: str
    selection: Selection
    options: RunOptions
    at: datetime
    by: str = ""
    created: int = 0
    cancelled: datetime | None = None

    @property
    def is_making(self) -> bool:
        """Whether runs are yet to be created."""
        return self.cancelled is None and self.created < len(self.selection)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            **attrs.asdict(self, filter=lambda field, _: field.name not in ("selection", "options")),
            "selection": self.selection.to_json(),
            "options": attrs.asdict(self.options),
            "at": self.at.isoformat(),
            "cancelled": None if self.cancelled is None else self.cancelled.isoformat(),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Request:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "a request")
        return cls(
            read_number(form["id"]),
            form["asset"],
            form["dag_id"],
            Selection.from_json(form["selection"]),
            RunOptions(**form["options"]),
            read_time(form["at"]),
            form["by"],
            read_number(form["created"]),
            None if form["cancelled"] is None else read_time(form["cancelled"]),
        )

    def summary(self) -> dict[str, Any]:
        """JSON form for people and screens: the selection as text."""
        form = self.to_json()
        del form["version"]
        return form | {"selection": selection_text(self.selection), "partitions": len(self.selection)}


def read_request(number: int) -> Request:
    """The request of that *number*.

    :raises UnknownRequestError: if there is none.
    :raises UnknownVersionError: if another release wrote it.
    """
    with session() as at:
        return request_of(at, number, home_of(at, number))


def request_of(at: Session, number: int, home: int) -> Request:
    """The request of that *number*, from the cells of the asset called *home*."""
    form = read_cells(at, home, [cell_of(number)]).get(cell_of(number))
    request = read_form(form, Request.from_json, f"request {number}", log.warning)
    if request is None:
        raise _unknown(number)
    return request


def lock_request(at: Session, number: int, home: int) -> Request:
    """The request of that *number*, which nobody else changes until the transaction ends."""
    lock_cell(at, home, cell_of(number))
    return request_of(at, number, home)


def write_request(at: Session, home: int, request: Request) -> None:
    """Keep a *request* as it is now."""
    write_cells(at, home, {cell_of(request.id): json.dumps(request.to_json())})


def lock_making(at: Session, home: int) -> list[int]:
    """The requests whose runs are being created, by number; nobody begins or ends one until the transaction ends."""
    lock_cell(at, home, MAKING)
    form = read_cells(at, home, [MAKING])[MAKING]
    return [] if form is None else list(map(read_number, form["requests"]))


def write_making(at: Session, home: int, numbers: Iterable[int]) -> None:
    """Keep which requests are being made."""
    write_cells(at, home, {MAKING: json.dumps({"version": _VERSION, "requests": sorted(numbers)})})


def requests_of(dag_ids: Collection[str] | None, *, before: int | None = None) -> Iterator[Request]:
    """The requests for partitions that some Dags make, the newest first; of all Dags for ``None``.

    :param before: only those with a lower number.
    """
    from airflow.models.backfill import Backfill

    query = select(Backfill.id, Backfill.dag_id).order_by(Backfill.id.desc())
    if before is not None:
        query = query.where(Backfill.id < before)
    with session() as at:
        backfills = [(number, dag_id) for number, dag_id in at.execute(query) if dag_ids is None or dag_id in dag_ids]
        for portion in portions(backfills, _AT_ONCE):
            homes = _homes(at, {dag_id for _, dag_id in portion})
            forms: dict[int, Any] = {}  # others are backfills that were asked of Airflow itself
            for home in set(homes.values()):
                numbers = {cell_of(number): number for number, dag_id in portion if homes.get(dag_id) == home}
                forms.update((numbers[cell], form) for cell, form in read_cells(at, home, list(numbers)).items())
            yield from (Request.from_json(forms[number]) for number, _ in portion if number in forms)


def _homes(at: Session, dag_ids: Collection[str]) -> dict[str, int]:
    """Ids of the assets in whose cells the requests of Dags are, by the Dag's id."""
    from airflow.models.asset import TaskOutletAssetReference as Outlet

    query = (
        select(Outlet.dag_id, func.min(Outlet.asset_id).label("home"))
        .where(Outlet.dag_id.in_(dag_ids))
        .group_by(Outlet.dag_id)
    )
    return {row.dag_id: row.home for row in at.execute(query)}


def home_of(at: Session, number: int) -> int:
    """Id of the asset in whose cells a request is."""
    from airflow.models.asset import TaskOutletAssetReference
    from airflow.models.backfill import Backfill

    query = (
        select(TaskOutletAssetReference.asset_id)
        .join(Backfill, Backfill.dag_id == TaskOutletAssetReference.dag_id)
        .where(Backfill.id == number)
        .order_by(TaskOutletAssetReference.asset_id)
        .limit(1)
    )
    home = at.scalar(query)
    if home is None:
        raise _unknown(number)
    return home


def cell_of(number: int | str) -> str:
    """The cell of a request; of an empty *number*, what the cells of all begin with."""
    return f"{MAKING}/{number}"


def _unknown(number: int) -> UnknownRequestError:
    return UnknownRequestError(
        f"there is no request {number}; airflow asset-partitions requests lists them, and Airflow's page of a Dag its"
        " own backfills"
    )
