"""The ledger: which partitions were materialised, kept when Airflow purges its events.

Its rows lie in the assets' state store. They are a projection of the events: written by :func:`advance`, any number of
times with the same outcome, and never needed to know about an event that is still there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import insert, select, update

from airflow_partitions.dependencies import Foreign, Selection
from airflow_partitions.errors import InvalidKeyError, StorageError
from airflow_partitions.history.address import address, moment, prefix
from airflow_partitions.history.database import connection, portions, session
from airflow_partitions.history.events import Times
from airflow_partitions.history.record import Record

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.keys import Key

MARK = "ledger"
# Events are read again until they are this old: the transaction that registers one may commit late.
_SETTLED = timedelta(hours=1)
_AT_ONCE = 5_000


@attrs.frozen
class Progress:
    """What bringing one asset's ledger up to date did.

    :ivar events: how many events were read.
    :ivar records: how many partitions were written.
    :ivar malformed: keys that are none of the asset's definition, each with the reason.
    """

    asset: str
    events: int
    records: int
    malformed: Mapping[str, str] = attrs.field(factory=dict)


def recorded(asset: str, definition: PartitionDefinition, keys: Mapping[str, Key]) -> dict[str, Times]:
    """When the ledger says that those of *keys* that it knows were materialised, by the text their events carry."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    texts = {address(definition, key): text for text, key in keys.items()}
    found: dict[str, Times] = {}
    with connection() as at:
        for some in portions(list(texts)):
            query = (
                select(Row.key, Row.value)
                .join(AssetModel, AssetModel.id == Row.asset_id)
                .where(AssetModel.name == asset, AssetModel.active.has(), Row.key.in_(some))
            )
            found.update({texts[row]: Record.from_text(value).times for row, value in at.execute(query)})
    return found


def records(asset: str, selection: Selection) -> Iterator[Record]:
    """The records of a *selection* of the asset's partitions, by time, as of the last :func:`advance`."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    definition = selection.definition
    start = prefix(definition)
    with connection() as at:
        for box in selection.boxes:
            reach = [Row.key.startswith(start, autoescape=True)]
            if box.span is not None:
                low, high = (start + moment(bound) for bound in box.span)
                reach = [Row.key >= low, Row.key < high]
            query = (
                select(Row.value)
                .join(AssetModel, AssetModel.id == Row.asset_id)
                .where(AssetModel.name == asset, AssetModel.active.has(), *reach)
                .order_by(Row.key)
            )
            for value in at.execution_options(yield_per=1000).scalars(query):
                record = Record.from_text(value)
                try:
                    key = definition.parse(record.key)
                except InvalidKeyError:  # a key of an older definition
                    continue
                if key in selection:
                    yield record


def advance(asset: str, definition: PartitionDefinition | Foreign, *, anew: bool = False) -> Progress:
    """Bring the ledger of the active *asset* up to date with its events.

    :param definition: what the keys of its events mean.
    :param anew: read all events again, not only the newest.
    :raises StorageError: if Airflow's state store is not in its database.
    """
    _check_backend()
    with session() as at:
        asset_id = _asset_id(at, asset)
        if asset_id is None:
            return Progress(asset, 0, 0)
        mark = 0 if anew else _mark(at, asset_id)
        events, written, malformed = 0, 0, {}
        while batch := _events(at, asset_id, mark):
            found: dict[str, Record] = {}
            for record in batch:
                try:
                    rows = _addresses(definition, record.key)
                except InvalidKeyError as error:
                    malformed[record.key] = str(error)
                    continue
                for row in rows:
                    found[row] = record.after(found.get(row))
            written += _store(at, asset_id, found)
            settled = [record.event for record in batch if record.last < datetime.now(UTC) - _SETTLED]
            if settled:
                _set_mark(at, asset_id, max(settled))
            at.commit()
            events, mark = events + len(batch), batch[-1].event
    return Progress(asset, events, written, malformed)


def _addresses(definition: PartitionDefinition | Foreign, text: str) -> list[str]:
    if isinstance(definition, Foreign):
        return [address(definition.definition, key) for key in definition.keys(text)]
    return [address(definition, definition.parse(text))]


def _asset_id(at: Session, asset: str) -> int | None:
    from airflow.models.asset import AssetModel

    return at.scalar(select(AssetModel.id).where(AssetModel.name == asset, AssetModel.active.has()))


def _events(at: Session, asset_id: int, mark: int) -> list[Record]:
    """The next events after the one called *mark*."""
    from airflow.models.asset import AssetEvent as E

    query = (
        select(E.partition_key, E.timestamp, E.id, E.source_dag_id, E.source_run_id, E.extra)
        .where(E.asset_id == asset_id, E.id > mark, E.partition_key.is_not(None))
        .order_by(E.id)
        .limit(_AT_ONCE)
    )
    return [Record(key, time, time, *rest) for key, time, *rest in at.execute(query)]


def _store(at: Session, asset_id: int, found: Mapping[str, Record]) -> int:
    """Write what is new in the records *found*; returns how many that were."""
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    kept: dict[str, str] = {}
    for some in portions(list(found)):
        rows = at.execute(select(Row.key, Row.value).where(Row.asset_id == asset_id, Row.key.in_(some)))
        kept.update((key, value) for key, value in rows)
    now = datetime.now(UTC)
    new: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for row, record in found.items():
        before = kept.get(row)
        text = record.after(None if before is None else Record.from_text(before)).to_text()
        if text != before:
            values = {"asset_id": asset_id, "key": row, "value": text, "updated_at": now}
            (new if before is None else changed).append(values)
    if new:
        at.execute(insert(Row), new)
    if changed:
        at.execute(update(Row), changed)
    return len(new) + len(changed)


def _mark(at: Session, asset_id: int) -> int:
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    found = at.scalar(select(Row.value).where(Row.asset_id == asset_id, Row.key == MARK))
    return 0 if found is None else int(json.loads(found)["event"])


def _set_mark(at: Session, asset_id: int, event: int) -> None:
    from airflow.models.asset_state_store import AssetStateStoreModel as Row

    values = {"asset_id": asset_id, "key": MARK, "value": json.dumps({"event": event}), "updated_at": datetime.now(UTC)}
    if at.get(Row, (asset_id, MARK)) is None:
        at.execute(insert(Row), [values])
    else:
        at.execute(update(Row), [values])


def _check_backend() -> None:
    from airflow.state import get_state_backend
    from airflow.state.metastore import MetastoreBackend

    backend: Any = get_state_backend()
    if not isinstance(backend, MetastoreBackend):
        raise StorageError(
            f"the state store is {type(backend).__name__}; the ledger expected Airflow's own in its database:"
            " leave [state_store] backend as it is, or go without the ledger"
        )
