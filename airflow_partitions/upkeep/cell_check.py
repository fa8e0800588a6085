"""Check of what is kept: records that nothing explains, and what tasks have left that can't be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, or_, select

from airflow_partitions.calendars.instants import utc
from airflow_partitions.database.connection import connection, portions
from airflow_partitions.database.models import Asset, Partition
from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.history.forgotten import read_forgotten
from airflow_partitions.history.ledger import progress_from
from airflow_partitions.history.state_store import form_of
from airflow_partitions.requests.task_request import TASK_REQUEST, TaskRequest
from airflow_partitions.runs.key_list import CELL, RuntimeKeys
from airflow_partitions.versions import read_form

_READERS: Mapping[str, Callable[[Any], object]] = {TASK_REQUEST: TaskRequest.from_json, CELL: RuntimeKeys.from_json}
_AT_ONCE = 1_000
# So many unexplained records of an asset are told one by one.
_SHOWN = 10


class CellProblem(NamedTuple):
    """What is wrong with what is kept of an asset.

    :ivar text: a sentence.
    :ivar is_rewritten: whether reading all events again mends it.
    """

    asset: str
    text: str
    is_rewritten: bool = False


def cell_problems(assets: Collection[str] | None = None) -> Iterator[CellProblem]:
    """What tasks have left that can't be read, and the records that neither an event nor a run explains.

    What Airflow has purged explains nothing any more: only records that are younger than what is left are judged.

    :param assets: only of these; of all if not given.
    """
    from airflow.models.asset import AssetModel

    if assets is None:
        conditions = [AssetModel.active.has()]
    else:
        conditions = [AssetModel.active.has() & AssetModel.name.in_(some) for some in portions(sorted(assets))]
    for part in (_unreadable_rows, _unreadable_cells, _unexplained):
        for condition in conditions:
            yield from part(condition)


def _unreadable_rows(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    """Definitions and forgotten partitions that another release, or another hand, has written."""
    from airflow.models.asset import AssetModel

    query = (
        select(AssetModel.name, Asset.id, Asset.meaning, Asset.event, Asset.until, Asset.corrections)
        .join(AssetModel, AssetModel.id == Asset.id)
        .where(condition)
        .order_by(AssetModel.name)
    )
    with connection() as at:
        for name, asset_id, meaning, event, until, corrections in at.execute(query).all():
            texts: list[str] = []
            progress_from(meaning, event, until, texts.append)
            yield from (CellProblem(name, f"asset {name!r}: {text}", is_rewritten=True) for text in texts)
            texts.clear()
            if corrections:  # otherwise nothing was ever forgotten
                read_forgotten(at, asset_id, texts.append)
            yield from (CellProblem(name, f"asset {name!r}: {text}") for text in texts)


def _unreadable_cells(condition: ColumnElement[bool]) -> Iterator[CellProblem]:
    from airflow.models.asset import AssetModel
    from airflow.models.asset_state_store import AssetStateStoreModel as Cell

    kinds = (Cell.key.startswith(kind, autoescape=True) for kind in _READERS)
    query = (
        select(AssetModel.name, Cell.key, Cell.value)
        .join(AssetModel, AssetModel.id == Cell.asset_id)
        .where(condition, or_(*kinds))
        .order_by(AssetModel.name, Cell.key)
    )
    with connection() as at:
        for asset, cell, text in at.execute(query, execution_options={"yield_per": _AT_ONCE}):
            read = next(reader for kind, reader in _READERS.items() if cell.startswith(kind))
            name = f"asset {asset!r}: the cell {cell!r}"
            texts: list[str] = []
            try:
                read_form(form_of(text), read, name, texts.append)
            except UnknownVersionError as error:
                texts.append(f"{name}: {error}")
            yield from (CellProblem(asset, each) for each in texts)


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
    with connection() as at:
        rows = at.execute(query, execution_options={"yield_per": _AT_ONCE})
        for asset, records in groupby(rows, key=lambda row: str(row.name)):
            for _, key, last in islice(records, _SHOWN):
                yield CellProblem(
                    asset,
                    f"asset {asset!r}: no event and no run explains the record of partition {key!r}, materialised"
                    f" {utc(last).isoformat(timespec='seconds')}. It counts as there; if it is not, forget it: airflow"
                    f" asset-partitions forget {asset} {key!r}",
                )
            if others := sum(1 for _ in records):
                yield CellProblem(asset, f"asset {asset!r}: nothing explains the records of {others:,} more partitions")
