"""Check of what is kept: records that nothing explains, and what tasks have left that can't be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Text, cast, func, literal, or_, select

from airflow_partitions.core.calendars.instants import utc
from airflow_partitions.core.errors import UnknownVersionError
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.form import Unreadable
from airflow_partitions.engine.database.models import Asset, Forgetting, KeyList, Partition, RuntimeKey
from airflow_partitions.engine.database.models import TaskRequest as Row
from airflow_partitions.engine.ledger.added_keys import CELL, KEYS_OF, RuntimeKeys
from airflow_partitions.engine.ledger.forgotten import Forgotten, read_selection
from airflow_partitions.engine.ledger.ledger_pages import (
    FORGOTTEN,
    PAGE,
    PROGRESS,
    LedgerProgress,
    progress_from,
    read_page,
)
from airflow_partitions.engine.ledger.state_store import form_of
from airflow_partitions.engine.runs.claim import CLAIM_CELLS, Claimant
from airflow_partitions.engine.runs.failure import FAILED
from airflow_partitions.engine.runs.task_request import ANSWER, TASK_REQUEST, TaskAnswer, TaskRequest

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

#: What the names of our cells of assets begin with, and what reads these: others may write there, too.
CELLS: Mapping[str, Callable[[Any], object]] = {
    PROGRESS: LedgerProgress.from_json,
    FORGOTTEN: Forgotten.from_json,
    PAGE: read_page,
    CELL: RuntimeKeys.from_json,
    TASK_REQUEST: TaskRequest.from_json,
    ANSWER: TaskAnswer.from_json,
    **dict.fromkeys((*CLAIM_CELLS, FAILED), Claimant.from_json),
}
#: Those that a ledger is read by, which come with it when it is made again.
_OF_LEDGER = (PROGRESS, FORGOTTEN, PAGE)
_STREAMED: Mapping[str, int] = {"yield_per": 1_000}
Track = Callable[[Iterable[Any]], Iterable[Any]]
# So many assets are looked at in one step.
_ASSETS = 50
# So many partitions of an asset are told one by one.
_SHOWN = 10


class CellProblem(NamedTuple):
    """What is wrong with what is kept of an asset.

    :ivar text: a sentence.
    :ivar is_rewritten: whether reading all events again mends it.
    """

    asset: str
    text: str
    is_rewritten: bool = False


def cell_problems(assets: Collection[str] | None = None, track: Track = iter) -> Iterator[CellProblem]:
    """What tasks have left that can't be read, and the records that neither an event nor a run explains.

    What Airflow has purged explains nothing any more: only records that are younger than what is left are judged.

    :param assets: only of these; of all if not given.
    :param track: is given the steps of the work, and gives them one by one.
    """
    from airflow.models.asset import AssetModel

    if assets is None:
        conditions = [AssetModel.active.has()]
    else:
        conditions = [AssetModel.active.has() & AssetModel.name.in_(some) for some in portions(sorted(assets), _ASSETS)]
    parts = (
        _unreadable_ledgers,
        _unreadable_task_requests,
        _unreadable_extras,
        _unreadable_details,
        _unreadable_cells,
        _unexplained,
    )
    for part in parts:
        for condition in track(conditions):
            yield from part(condition)


def _unreadable_ledgers(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    """Definitions and forgotten partitions that another release, or another hand, has written."""
    from airflow.models.asset import AssetModel

    ledgers = (
        select(AssetModel.name, Asset.meaning, Asset.event, Asset.until)
        .join(AssetModel, AssetModel.id == Asset.id)
        .where(condition)
        .order_by(AssetModel.name)
    )
    forgettings = (
        select(AssetModel.name, Forgetting.id, Forgetting.selection)
        .join(AssetModel, AssetModel.id == Forgetting.asset_id)
        .where(condition)
        .order_by(AssetModel.name, Forgetting.id)
    )
    with open_connection() as connection:
        for name, meaning, event, until in connection.execute(ledgers, execution_options=_STREAMED):
            texts: list[str] = []
            progress_from(meaning, event, until, texts.append)
            yield from (CellProblem(name, f"asset {name!r}: {text}", is_rewritten=True) for text in texts)
        for name, number, form in connection.execute(forgettings, execution_options=_STREAMED):
            texts = []
            read_selection(number, form, texts.append)
            yield from (CellProblem(name, f"asset {name!r}: {text}") for text in texts)


def _unreadable_task_requests(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    """What tasks ask for, and answers to it, that another release, or another hand, has written."""
    from airflow.models.asset import AssetModel

    query = (
        select(AssetModel.name, Row.id, Row.form, Row.answer)
        .join(AssetModel, AssetModel.name == Row.asset)
        .where(condition)
        .order_by(AssetModel.name, Row.at)
    )
    with open_connection() as connection:
        for asset, number, form, answer in connection.execute(query, execution_options=_STREAMED):
            name = f"asset {asset!r}: task request {number}"
            yield from _problems(asset, name, form, TaskRequest.from_json)
            yield from _problems(asset, f"{name}: the answer", answer, TaskAnswer.from_json)


def _unreadable_extras(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    """What events say of partitions, where it is no object of JSON: some of each asset, and how many others."""
    from airflow.models.asset import AssetModel

    text = cast(Partition.extra, Text)
    query = (
        select(AssetModel.name, Partition.key, Partition.extra)
        .join(AssetModel, AssetModel.id == Partition.asset_id)
        .order_by(AssetModel.name, Partition.start, Partition.segments)
    )
    with open_connection() as connection:
        is_broken: ColumnElement[bool] = text.not_like("{%")
        if connection.dialect.name == "sqlite":  # the others take nothing but JSON
            is_broken = or_(is_broken, func.json_valid(text) == 0)
        for asset, partitions in _by_asset(connection, query.where(condition, Partition.extra.is_not(None), is_broken)):
            for _, key, extra in islice(partitions, _SHOWN):
                yield CellProblem(
                    asset,
                    f"asset {asset!r}: what the last event of partition {key!r} says of it can't be read: {extra}",
                    is_rewritten=True,
                )
            if others := sum(1 for _ in partitions):
                words = f"what the last events of {others:,} more partitions say of them can't be read"
                yield CellProblem(asset, f"asset {asset!r}: {words}", is_rewritten=True)


def _unreadable_details(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    """What is kept with keys that are known only at runtime, where it is no JSON."""
    from airflow.models.asset import AssetModel

    query = (
        select(AssetModel.name, RuntimeKey.key, RuntimeKey.details)
        .join(KeyList, KeyList.id == RuntimeKey.list_id)
        .join(AssetModel, AssetModel.name == literal(KEYS_OF).concat(KeyList.name))
        .where(condition, RuntimeKey.details.is_not(None))
        .order_by(AssetModel.name, RuntimeKey.place)
    )
    with open_connection() as connection:
        for asset, key, details in connection.execute(query, execution_options=_STREAMED):
            if isinstance(details, Unreadable):
                yield CellProblem(asset, f"{asset}: what is kept with {key!r} can't be read: {details}")


def _unreadable_cells(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    kinds = (Cell.key.startswith(kind, autoescape=True) for kind in CELLS)
    query = (
        select(AssetModel.name, Cell.key, Cell.value)
        .join(AssetModel, AssetModel.id == Cell.asset_id)
        .where(condition, or_(*kinds))
        .order_by(AssetModel.name, Cell.key)
    )
    with open_connection() as connection:
        for asset, cell, text in connection.execute(query, execution_options=_STREAMED):
            read = next(reader for kind, reader in CELLS.items() if cell.startswith(kind))
            problems = _problems(asset, f"asset {asset!r}: the cell {cell!r}", form_of(text), read)
            yield from (each._replace(is_rewritten=cell.startswith(_OF_LEDGER)) for each in problems)


def _unexplained(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    """The records without an event and a run: some of each asset by themselves, and how many others there are."""
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    first = select(func.min(E.id)).scalar_subquery()
    event = select(E.id).where(
        E.id == Partition.event, E.asset_id == Partition.asset_id, func.coalesce(E.partition_key, "") == Partition.key
    )
    run = select(DagRun.id).where(
        DagRun.dag_id == Partition.dag_id,
        DagRun.run_id == Partition.run_id,
        DagRun.state.in_([DagRunState.SUCCESS, DagRunState.RUNNING]),
    )
    query = (
        select(AssetModel.name, Partition.key, Partition.last)
        .join(AssetModel, AssetModel.id == Partition.asset_id)
        .where(condition, Partition.event >= first, ~event.exists(), ~run.exists())
        .order_by(AssetModel.name, Partition.start, Partition.segments)
    )
    with open_connection() as connection:
        for asset, records in _by_asset(connection, query):
            for _, key, last in islice(records, _SHOWN):
                yield CellProblem(
                    asset,
                    f"asset {asset!r}: no event and no run explains the record of partition {key!r}, materialized"
                    f" {_moment(last)}. It counts as there; if it is not, forget it: airflow"
                    f" asset-partitions forget {asset} {key!r}",
                )
            if others := sum(1 for _ in records):
                yield CellProblem(asset, f"asset {asset!r}: nothing explains the records of {others:,} more partitions")


def _moment(at: int) -> str:
    """An instant, however it came there."""
    try:
        return utc(at).isoformat(timespec="seconds")
    except (OverflowError, ValueError):
        return f"at {at}, which is no time"


def _problems(asset: str, name: str, form: Any, read: Callable[[Any], object]) -> Iterator[CellProblem]:
    """Why a *form* of that *name* can't be read, if so."""
    texts: list[str] = []
    try:
        read_form(form, read, name, texts.append)
    except UnknownVersionError as error:
        texts.append(f"{name}: {error}")
    yield from (CellProblem(asset, text) for text in texts)


def _by_asset(connection: Connection, query: Select[Any, Any, Any]) -> Iterator[tuple[str, Iterator[Any]]]:
    """The rows of a *query* that begin with the name of an asset, by which they are ordered."""
    return groupby(connection.execute(query, execution_options=_STREAMED), key=lambda row: str(row.name))
