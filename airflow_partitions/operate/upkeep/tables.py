"""Maintenance of the tables of assets: once a day each, beside the rounds."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
from sqlalchemy import or_, select, update

from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError
from airflow_partitions.core.versions import Report
from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.engine.ledger.asset_rows import ensure_asset
from airflow_partitions.operate.upkeep.connected_storage import connected
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.maintenance.maintain_table import maintain_table
from airflow_partitions.storage.maintenance.retention import compact
from airflow_partitions.storage.storage import Storage

log = logging.getLogger(__name__)

#: Each table is looked after so often.
EVERY = timedelta(days=1)


@attrs.frozen
class TableUpkeep:
    """What was done to the table of an asset, or would be.

    :ivar asset: name of the asset.
    :ivar table: name of the table, in its catalog.
    :ivar snapshots: how many snapshots were forgotten.
    :ivar manifests: how many manifests of data files there were.
    :ivar into: how many there are now.
    :ivar files: how many files were removed: no snapshot names them.
    :ivar tries: how many staging places of failed tries were removed.
    :ivar compacted: keys of the partitions whose small files were merged.
    """

    asset: str
    table: str
    snapshots: int
    manifests: int
    into: int
    files: int
    tries: int
    compacted: tuple[str, ...]

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.snapshots or self.manifests > self.into or self.files or self.tries or self.compacted)

    def __str__(self) -> str:
        return (
            f"{self.table} of asset {self.asset!r}: {self.snapshots} snapshots forgotten, {self.manifests} manifests"
            f" written as {self.into}, {self.files} files and {self.tries} places of tries removed,"
            f" {len(self.compacted)} partitions compacted"
        )


def maintain(asset: str, form: Mapping[str, Any], *, dry_run: bool = False) -> TableUpkeep:
    """Keep the table of *asset* small, as its :class:`.Maintenance` says.

    Two at once do no harm: each change is made by compare-and-swap, and only what is old is removed.

    :param form: JSON form of the dataset.
    :param dry_run: change nothing, only tell.
    :raises PartitionError: if it can't be done.
    """
    dataset = connected(Storage.from_json(form))
    if (policy := dataset.maintenance) is None:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} of asset {asset!r} is no table that is kept small; expected Iceberg(…,"
            " maintenance=Maintenance())"
        )
    tries = clean(dataset, keep_staged=policy.keep_files, dry_run=dry_run)
    compacted = compact(dataset, dry_run=dry_run) if policy.compact else []
    done = maintain_table(dataset, dry_run=dry_run)
    keys = tuple(each.key for each in compacted if each.done or dry_run)
    return TableUpkeep(
        asset, dataset.place, len(done.snapshots), done.manifests, done.into, len(done.files), len(tries), keys
    )


def due(tables: Collection[str]) -> Iterator[str]:
    """Those of the assets whose tables are to be looked after now; they count as looked after from then on.

    Of several processes that ask at once, one gets each.

    :param tables: names of the assets that have a table.
    """
    from airflow.models.asset import AssetModel

    now = datetime.now(UTC)
    is_due = or_(Asset.maintained_at.is_(None), ~Asset.maintained_at.between(now - EVERY, now + EVERY))
    with open_session() as session:
        assets: dict[str, int] = {}
        for portion in portions(sorted(tables)):
            query = (
                select(AssetModel.name, AssetModel.id)
                .join(Asset, Asset.id == AssetModel.id, isouter=True)
                .where(AssetModel.name.in_(portion), AssetModel.active.has(), or_(Asset.id.is_(None), is_due))
            )
            assets.update((name, asset_id) for name, asset_id in session.execute(query))
        for name, asset_id in sorted(assets.items()):
            ensure_asset(session, asset_id)
            begin = update(Asset).where(Asset.id == asset_id, is_due).values(maintained_at=now)
            is_ours = session.connection().execute(begin).rowcount
            session.commit()
            if is_ours:
                yield name


class TableWork:
    """Maintenance of tables in a thread, one at a time: the rounds go on meanwhile, and their heartbeats."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tables")
        self._work: dict[str, Future[TableUpkeep]] = {}

    def begin(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Let the tables that are due be looked after."""
        others = {asset: form for asset, form in tables.items() if asset not in self._work}
        for asset in due(others):
            self._work[asset] = self._pool.submit(maintain, asset, others[asset])

    def ended(self, report: Report, *, wait: bool = False) -> list[TableUpkeep]:
        """What was done since this was asked last.

        :param wait: for what is under way, too.
        """
        outcomes = []
        for asset, work in [(asset, work) for asset, work in self._work.items() if wait or work.done()]:
            del self._work[asset]
            try:
                outcomes.append(work.result())
            except PartitionError as error:
                report(f"asset {asset!r}: its table was not kept small: {error}")
            except Exception as error:
                log.exception("Maintenance of the table of asset %s failed", asset)
                report(f"asset {asset!r}: its table was not kept small: {type(error).__name__}: {error}")
        return outcomes

    def close(self) -> None:
        """Begin nothing more; what is under way ends, or is killed, which does no harm."""
        self._pool.shutdown(wait=False, cancel_futures=True)
