"""Holds: Dags that work for requests, and make nothing of their own accord meanwhile.

Airflow begins no run of a paused Dag, also none that somebody asks for. So a request for a Dag that is paused holds its
schedule and unpauses it: the timetable says that nothing is due until the hold ends, and then the Dag is paused again.
The holds of the Dags that have their requests in one asset's cells are in one cell there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.history.database import connection, portions
from airflow_partitions.history.state_store import form_of, lock_cell, read_cells, write_cells
from airflow_partitions.versions import check_version, read_form, read_number

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

log = logging.getLogger(__name__)

#: The cell of the holds.
HOLDS = "holds"
_VERSION = 1


@attrs.frozen
class Holds:
    """The Dags that are held, each with the numbers of the requests that it works for."""

    requests: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "requests": {dag_id: list(each) for dag_id, each in self.requests.items()}}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Holds:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the holds of Dags")
        return cls({str(dag_id): tuple(map(read_number, numbers)) for dag_id, numbers in form["requests"].items()})

    def with_requests(self, dag_id: str, numbers: Iterable[int]) -> Holds:
        """These holds, and of a Dag that of these requests; of no request: none."""
        requests = {**self.requests, dag_id: tuple(sorted(set(numbers)))}
        return Holds({name: each for name, each in requests.items() if each})


def held_dags(dag_ids: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Those of some Dags that are held, with the numbers of their requests; for scheduler and API server.

    What another release wrote counts as no hold, since a scheduler must go on.
    """
    from airflow.models.asset import TaskOutletAssetReference as Outlet
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    numbers_of_dags: dict[str, tuple[int, ...]] = {}
    with connection() as at:
        for portion in portions(sorted(dag_ids)):
            homes = select(Outlet.asset_id).where(Outlet.dag_id.in_(portion))
            for text in at.scalars(select(Cell.value).where(Cell.asset_id.in_(homes), Cell.key == HOLDS)):
                try:
                    requests = _read(form_of(text)).requests
                except UnknownVersionError as error:
                    log.warning("Holds of Dags are left aside: %s", error)
                else:
                    numbers_of_dags.update(
                        (dag_id, numbers) for dag_id, numbers in requests.items() if dag_id in portion
                    )
    return numbers_of_dags


def is_held(dag_id: str | None) -> bool:
    """Whether a Dag is held; one that is not known yet is not."""
    return dag_id is not None and bool(held_dags([dag_id]))


def lock_holds(at: Session, home: int) -> Holds:
    """The holds in the cells of the asset called *home*; nobody else changes them until the transaction ends.

    :raises UnknownVersionError: if another release wrote them.
    """
    lock_cell(at, home, HOLDS)
    return _read(read_cells(at, home, [HOLDS])[HOLDS])


def write_holds(at: Session, home: int, holds: Holds) -> None:
    """Keep the *holds* as they are now."""
    write_cells(at, home, {HOLDS: json.dumps(holds.to_json())})


def homes_of_holds(at: Session) -> list[int]:
    """The ids of the assets in whose cells there are holds, or something that another release wrote for them."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    cells = select(Cell.asset_id, Cell.value).where(Cell.asset_id.in_(select(AssetModel.id)), Cell.key == HOLDS)
    return [home for home, text in at.execute(cells) if not _is_empty(form_of(text))]


def _is_empty(form: Any) -> bool:
    try:
        return not _read(form).requests
    except UnknownVersionError:
        return False


def _read(form: Any) -> Holds:
    return read_form(form, Holds.from_json, f"the cell {HOLDS}", log.warning) or Holds()
