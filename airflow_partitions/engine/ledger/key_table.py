"""The lists of runtime keys in our tables, and the cells by which tasks read and change them.

Tasks reach no database. A list is written into a cell for them whenever it was changed here, and the cell is made again
when Airflow has thrown it away. A cell that was written later than that is of a task: what it says is read from then
on, and taken over soon.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.errors import UnknownVersionError
from airflow_partitions.core.versions import Report, read_form
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.form import Unreadable
from airflow_partitions.engine.database.models import KeyList, RuntimeKey
from airflow_partitions.engine.ledger.added_keys import CELL, CLOCKS, KEYS_GROUP, KEYS_OF, AddingRun, RuntimeKeys
from airflow_partitions.engine.ledger.state_store import form_of, replace_empty_cell

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from airflow_partitions.core.definitions import PartitionAtRuntime

log = logging.getLogger(__name__)

_ROWS = select(KeyList.name, KeyList.id, KeyList.revision, KeyList.cell_at).where(
    KeyList.name.in_(bindparam("names", expanding=True))
)


@attrs.frozen
class _List:
    """A list and its cell.

    :ivar asset_id: of the asset that stands for it; ``None`` if Airflow knows of none.
    :ivar is_active: whether a Dag has that asset now.
    :ivar id: of its row; ``None`` before it was first taken over.
    :ivar cell_at: when the cell was written; ``None`` if there is none.
    :ivar taken_at: when that cell was written that was last taken over.
    """

    name: str
    asset_id: int | None = None
    is_active: bool = False
    id: int | None = None
    revision: int | None = None
    cell_at: datetime | None = None
    taken_at: datetime | None = None

    @property
    def has_mail(self) -> bool:
        """Whether a task has written something that was not taken over yet."""
        return self.cell_at is not None and self.cell_at != self.taken_at


def listed_keys(definition: PartitionAtRuntime) -> Mapping[str, Addition]:
    """The keys that tasks or people have added to *definition*, and not removed, by text, the newest last.

    Those that no event of their task has confirmed are not among them.

    :raises UnknownVersionError: if another release wrote the list.
    """
    with open_connection() as connection:
        return read_list(connection, definition).added


def read_list(connection: Connection, definition: PartitionAtRuntime) -> RuntimeKeys:
    """The keys of *definition* that count, as :func:`listed_keys` has them.

    :raises UnknownVersionError: if another release wrote the list.
    """
    of, *_ = _lists(connection, [definition.name])
    cell = _read_cell(connection, of, log.warning) if of.has_mail else None
    if cell is None:
        return _read_rows(connection, of).allowed(definition)
    stored = RuntimeKeys(revision=of.revision) if cell.revision == of.revision else _read_rows(connection, of)
    return cell.onto(stored, partial(_has_event, connection)).allowed(definition)


def write_list(connection: Connection, definition: PartitionAtRuntime, keys: RuntimeKeys) -> bool:
    """Store the *keys* that a person has changed, for all and for tasks; ``False`` if a task did so in this moment."""
    lock_list(connection, definition.name)
    of, *_ = _lists(connection, [definition.name])
    revision = (of.revision or 0) + 1
    connection.execute(update(KeyList).where(KeyList.id == of.id).values(revision=revision))
    return _store(connection, of, RuntimeKeys(keys.added, revision=revision))


def take_over(connection: Connection, names: Iterable[str], report: Report) -> None:
    """Take over what tasks have written in the cells of the lists of these *names*, and make again those cells that
    Airflow has thrown away.

    :param report: is called with a sentence for each list that can't be taken over.
    """
    for of in _lists(connection, names):
        if of.has_mail or (of.cell_at is None and of.id is not None and of.asset_id is not None):
            _take_over(connection, of.name, report)


def take_over_all(report: Report) -> None:
    """Take over all lists, as :func:`take_over` does; the cells of those that no Dag has now are not made again."""
    with open_connection() as connection:
        due = [
            of
            for of in _lists(connection)
            if of.has_mail or (of.cell_at is None and of.id is not None and of.is_active)
        ]
    for of in due:
        with open_connection() as connection:
            _take_over(connection, of.name, report)
            connection.commit()


def is_running(connection: Connection, dag_id: str, run_id: str) -> bool:
    """Whether a run works now."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    named = DagRun.dag_id == dag_id, DagRun.run_id == run_id
    return connection.scalar(select(DagRun.id).where(*named, DagRun.state == DagRunState.RUNNING)) is not None


def lock_list(connection: Connection, name: str) -> None:
    """Lock the list of that *name* until the transaction ends, once nobody else has it; it is made if need be."""
    # A write, not a lock for reading: SQLite has none, and lets one writer in at a time.
    lock = update(KeyList).where(KeyList.name == name).values(revision=KeyList.revision)
    if connection.execute(lock).rowcount:
        return
    try:
        with connection.begin_nested():
            connection.execute(insert(KeyList).values(name=name, revision=0))
    except IntegrityError:  # another process has made it in the same moment, and has let it go
        connection.execute(lock)


def _take_over(connection: Connection, name: str, report: Report) -> None:
    lock_list(connection, name)
    of, *_ = _lists(connection, [name])
    try:
        cell = _read_cell(connection, of, report)
    except UnknownVersionError as error:
        report(str(error))
        return
    stored = _read_rows(connection, of)
    if cell is None:
        _write_cell(connection, of, stored)
    elif (
        cell.run is None
        or _has_event(connection, cell.run)
        or not is_running(connection, cell.run.dag_id, cell.run.run_id)
    ):
        _store(connection, of, cell.onto(stored, partial(_has_event, connection)), cell)


def _lists(connection: Connection, names: Iterable[str] | None = None) -> list[_List]:
    """The lists of these *names*, or all that Airflow has an asset for."""
    named = None if names is None else {f"{KEYS_OF}{name}": name for name in names}
    lists = {} if named is None else {name: _List(name) for name in named.values()}
    assets = connection.execute(_assets(named=named is not None), {"assets": list(named or ())})
    for asset, asset_id, is_active, cell_at in assets:
        if asset.startswith(KEYS_OF):
            name = asset.removeprefix(KEYS_OF)
            lists[name] = _List(name, asset_id, bool(is_active), cell_at=cell_at)
    for name, id_, revision, taken_at in connection.execute(_ROWS, {"names": list(lists)}):
        lists[name] = attrs.evolve(lists[name], id=id_, revision=revision, taken_at=taken_at)
    return list(lists.values())


@cache
def _assets(*, named: bool) -> Select[str, int, bool, datetime]:
    """The query for the assets that stand for lists and their cells, or for the *named* ones, ``assets``."""
    from airflow.models.asset import AssetActive, AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    return (
        select(AssetModel.name, AssetModel.id, AssetActive.name.is_not(None), Cell.updated_at)
        .outerjoin(AssetActive, (AssetActive.name == AssetModel.name) & (AssetActive.uri == AssetModel.uri))
        .outerjoin(Cell, (Cell.asset_id == AssetModel.id) & (Cell.key == CELL))
        .where(AssetModel.name.in_(bindparam("assets", expanding=True)) if named else AssetModel.group == KEYS_GROUP)
    )


def _read_rows(connection: Connection, of: _List) -> RuntimeKeys:
    query = select(RuntimeKey.key, RuntimeKey.previous, RuntimeKey.details).where(RuntimeKey.list_id == of.id)
    rows = connection.execute(query.order_by(RuntimeKey.place)) if of.id is not None else ()
    return RuntimeKeys({key: _addition(previous, details) for key, previous, details in rows}, revision=of.revision)


def _addition(previous: str | None, details: Any) -> Addition:
    return Addition(previous, {"unreadable": str(details)} if isinstance(details, Unreadable) else details)


def _read_cell(connection: Connection, of: _List, report: Report) -> RuntimeKeys | None:
    """What the cell says; ``None`` if there is none that can be read."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    text = connection.scalar(select(Cell.value).where(Cell.asset_id == of.asset_id, Cell.key == CELL))
    form = None if text is None else form_of(text)
    return read_form(form, RuntimeKeys.from_json, f"the list of the keys of {of.name!r}", report)


def _store(connection: Connection, of: _List, keys: RuntimeKeys, cell: RuntimeKeys | None = None) -> bool:
    """Make *keys* the list, and the cell if that has others; ``False`` if a task has written the cell just now."""
    _write_rows(connection, of, keys)
    if cell == keys:
        connection.execute(update(KeyList).where(KeyList.id == of.id).values(cell_at=of.cell_at))
        return True
    return _write_cell(connection, of, keys)


def _write_rows(connection: Connection, of: _List, keys: RuntimeKeys) -> None:
    """Write what has changed."""
    query = select(RuntimeKey.key, RuntimeKey.place, RuntimeKey.previous, RuntimeKey.details)
    before = {
        key: (place, _addition(previous, details))
        for key, place, previous, details in connection.execute(query.where(RuntimeKey.list_id == of.id))
    }
    last, top = 0, max((place for place, _ in before.values()), default=0)
    rows: list[dict[str, Any]] = []
    for key, addition in keys.added.items():
        place, stored = before.get(key, (0, None))
        if is_moved := place <= last:
            top = place = top + 1
        last = place
        if is_moved or addition != stored:
            previous, details = addition
            rows.append({"list_id": of.id, "key": key, "place": place, "previous": previous, "details": details})
    gone = [*(before.keys() - keys.added.keys()), *(row["key"] for row in rows if row["key"] in before)]
    for portion in portions(gone):
        connection.execute(delete(RuntimeKey).where(RuntimeKey.list_id == of.id, RuntimeKey.key.in_(portion)))
    if rows:
        connection.execute(insert(RuntimeKey), rows)


def _write_cell(connection: Connection, of: _List, keys: RuntimeKeys) -> bool:
    """Write the cell anew; ``False`` if a task has done so since it was read."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    now: datetime | None
    if of.asset_id is None:
        return True
    if of.cell_at is None:
        now = replace_empty_cell(connection, of.asset_id, CELL, keys.to_json())
    else:
        here = Cell.asset_id == of.asset_id, Cell.key == CELL, Cell.updated_at == of.cell_at
        now, value = datetime.now(UTC), json.dumps(keys.to_json())
        now = (
            now if connection.execute(update(Cell).where(*here).values(value=value, updated_at=now)).rowcount else None
        )
    if now is None:
        return False
    connection.execute(update(KeyList).where(KeyList.id == of.id).values(cell_at=now))
    return True


def _has_event(connection: Connection, run: AddingRun) -> bool:
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel

    oldest: datetime = run.at - CLOCKS
    query = (
        select(E.id)
        .join(AssetModel, AssetModel.id == E.asset_id)
        .where(
            AssetModel.name == run.asset,
            E.source_dag_id == run.dag_id,
            E.source_run_id == run.run_id,
            E.timestamp >= oldest,
        )
    )
    return connection.scalar(query.limit(1)) is not None
