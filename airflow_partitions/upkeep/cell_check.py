"""Check of the cells that upkeep and schedulers keep: what can't be read, and records that nothing explains."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, or_, select

from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.history.clocks import CLOCKS
from airflow_partitions.history.database import connection, portions
from airflow_partitions.history.forgotten import FORGOTTEN, Forgotten
from airflow_partitions.history.holds import HOLDS, Holds
from airflow_partitions.history.ledger_pages import PROGRESS, LedgerProgress, read_page
from airflow_partitions.history.ledger_record import LedgerRecord
from airflow_partitions.history.marks import Adoption
from airflow_partitions.history.run_requests import RunRequest
from airflow_partitions.history.state_store import form_of
from airflow_partitions.requests.task_request import ANSWER, TASK_REQUEST, Answer, TaskRequest
from airflow_partitions.upkeep.last_looked_at import CONSUMER, LastLookedAt
from airflow_partitions.upkeep.last_maintained import MAINTENANCE, LastMaintained
from airflow_partitions.versions import read_form

_READERS: Mapping[str, Callable[[Any], object]] = {
    PROGRESS: LedgerProgress.from_json,
    "record/": LedgerRecord.from_json,
    "page/": read_page,
    CONSUMER: LastLookedAt.from_json,
    MAINTENANCE: LastMaintained.from_json,
    "request/": RunRequest.from_json,
    HOLDS: Holds.from_json,
    FORGOTTEN: Forgotten.from_json,
    TASK_REQUEST: TaskRequest.from_json,
    ANSWER: Answer.from_json,
}
_AT_ONCE = 1_000


class CellProblem(NamedTuple):
    """What is wrong with a cell.

    :ivar text: a sentence.
    :ivar is_rewritten: whether reading all events again writes it anew.
    """

    asset: str
    text: str
    is_rewritten: bool = False


class _Entry(NamedTuple):
    asset: str
    cell: str
    record: LedgerRecord


def cell_problems() -> Iterator[CellProblem]:
    """The cells that can't be read, and the records that neither an event nor a run explains.

    What Airflow has purged explains nothing any more: only records that are younger than what is left are judged.
    """
    problems: list[CellProblem] = []
    with connection() as at:
        entries = list(_entries(at, problems))
        yield from problems
        for portion in portions(entries, _AT_ONCE):
            for entry in _unexplained(at, portion):
                yield CellProblem(
                    entry.asset,
                    f"asset {entry.asset!r}: no event and no run explains the record of partition {entry.record.key!r},"
                    f" materialised {entry.record.last.isoformat(timespec='seconds')}. It counts as there; if it is"
                    f" not, delete the cell {entry.cell!r} of the asset's state store",
                )


def _entries(at: Connection, problems: list[CellProblem]) -> Iterator[_Entry]:
    """The records of all ledgers; notes *problems* with cells of all kinds."""
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    kinds = (Cell.key.startswith(kind, autoescape=True) for kind in _READERS)
    query = (
        select(AssetModel.name, Cell.key, Cell.value)
        .join(AssetModel, AssetModel.id == Cell.asset_id)
        .where(AssetModel.active.has(), or_(*kinds))
        .order_by(AssetModel.name, Cell.key)
    )
    for asset, cell, text in at.execute(query, execution_options={"yield_per": _AT_ONCE}):
        read = next(reader for kind, reader in _READERS.items() if cell.startswith(kind))
        name = f"asset {asset!r}: the cell {cell!r}"
        texts: list[str] = []
        try:
            form = read_form(form_of(text), read, name, texts.append)
            is_rewritten = cell.startswith((PROGRESS, "record/", "page/"))
            problems += (CellProblem(asset, each, is_rewritten) for each in texts)
        except UnknownVersionError as error:
            problems.append(CellProblem(asset, f"{name}: {error}"))
        else:
            if isinstance(form, LedgerRecord):
                yield _Entry(asset, cell, form)


def _unexplained(at: Connection, entries: Sequence[_Entry]) -> list[_Entry]:
    from airflow.models.asset import AssetEvent as E
    from airflow.models.asset import AssetModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    oldest = at.execute(select(func.min(E.id), func.min(E.timestamp))).one()
    first, since = oldest if oldest[0] is not None else (sys.maxsize, datetime.now(UTC))
    events = (
        select(AssetModel.name, E.id, E.partition_key)
        .join(AssetModel, AssetModel.id == E.asset_id)
        .where(E.id.in_([entry.record.event for entry in entries]))
    )
    runs = select(DagRun.dag_id, DagRun.run_id).where(
        DagRun.run_id.in_([entry.record.run_id for entry in entries if entry.record.run_id is not None]),
        DagRun.state.in_([DagRunState.SUCCESS, DagRunState.RUNNING]),
    )
    there = {tuple(event) for event in at.execute(events)}
    dag_runs = {tuple(run) for run in at.execute(runs)}
    return [
        entry
        for entry in entries
        if Adoption.of(entry.record.extra) is None
        and (entry.record.event >= first or entry.record.last > since + CLOCKS)
        and (entry.asset, entry.record.event, entry.record.key) not in there
        and (entry.record.dag_id, entry.record.run_id) not in dag_runs
    ]
