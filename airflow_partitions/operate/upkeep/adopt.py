"""Take over what is materialized already: from storage, or from the ledger of an asset that had another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.dependencies import KeyFormat, Selection
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, LayoutError, UnknownAssetError
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.graph.asset_storage import asset_storage
from airflow_partitions.engine.ledger.clocks import CLOCKS
from airflow_partitions.engine.ledger.corrections import take_over
from airflow_partitions.engine.ledger.forgotten import forgotten_of
from airflow_partitions.engine.ledger.former_assets import former_records
from airflow_partitions.engine.ledger.ledger import current_records
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.marks import Adoption
from airflow_partitions.operate.upkeep.connected_storage import connected
from airflow_partitions.storage.filesystem.filesystem import ages, at
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.keys import Key
    from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
    from airflow_partitions.storage.scan.stored_partition import StoredPartition

STORAGE = "storage"
_AT_ONCE = 1_000

#: Gives what it is given, and shows how far that is.
Track = Callable[[Sequence[Any]], Iterable[Any]]


@attrs.frozen
class Adopted:
    """What was taken over, or would be.

    :ivar source: ``"storage"``, or the name of the asset whose ledger had it.
    :ivar selection: the partitions that were taken over.
    :ivar present: how many others the ledger has already, as new or newer.
    :ivar forgotten: how many were forgotten since they were stored: mark them if they are to count again.
    :ivar foreign: what is none of the asset's partitions, such as ``"date=x"``; the first hundred.
    """

    asset: str
    source: str
    selection: Selection
    present: int
    forgotten: int
    foreign: tuple[str, ...]
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "source": self.source,
            "count": len(self.selection),
            "present": self.present,
            "forgotten": self.forgotten,
            "foreign": list(self.foreign),
            "dry_run": self.dry_run,
        }


def adopt_from_storage(asset: PartitionedAsset, *, by: str, dry_run: bool = False, track: Track = iter) -> Adopted:
    """Take what exists in the storage of *asset* into its ledger, quietly: no event is sent, nothing runs for it.

    It mends what was published while its event was lost, too. Asked again it does nothing more; whoever is interrupted
    may ask again.

    :param by: who asks; it is kept in the records.
    :param dry_run: only tell what would be taken over.
    :param track: is given the stored partitions, and gives them one by one.
    :raises InvalidDefinitionError: if no Dag says where it is stored.
    :raises StorageError: if the storage, or Airflow's state store, can't be reached.
    """
    storage = connected(Storage.from_json(asset_storage(asset)))
    stored: dict[Key, LedgerRecord] = {}
    foreign: list[str] = []
    for partition in track(list(storage.list())):
        try:
            key = partition.key
            if asset.definition.listed is not None:  # storage says nothing of which combinations exist
                key = asset.definition.key(key)
        except (LayoutError, InvalidKeyError):
            foreign.append(partition.directory)
            continue
        if partition.content.files or partition.content.metadata is not None:
            stored[key] = _record(partition, asset, key, storage, Adoption(by, STORAGE))
    return _adopt(asset, STORAGE, stored, foreign, dry_run=dry_run)


def adopt_from_asset(asset: PartitionedAsset, former: str, *, by: str, dry_run: bool = False) -> Adopted:
    """Take over what an asset had materialized that is called *asset* now, quietly, with the times and runs.

    :param former: its name before.
    :param by: who asks; it is kept in the records.
    :param dry_run: only tell what would be taken over.
    :raises UnknownAssetError: if Airflow knows none of that name.
    :raises InvalidDefinitionError: if it is the same, or its keys mean something else.
    """
    if former == asset.name:
        raise InvalidDefinitionError(f"asset {former!r} can't take over its own ledger; expected the name before")
    records = former_records(former, asset.meaning)
    if records is None:
        raise UnknownAssetError(
            f"Airflow knows no asset {former!r}, by whose name anything was materialized; expected the name of before",
            given=former,
        )
    adoption = Adoption(by, former).to_extra()
    renamed = {
        key: attrs.evolve(record, key=_text(asset.meaning, key), event=0, extra={**record.extra, **adoption})
        for key, record in records.items()
    }
    return _adopt(asset, former, renamed, (), dry_run=dry_run)


def _adopt(
    asset: PartitionedAsset, source: str, records: Mapping[Key, LedgerRecord], foreign: Sequence[str], *, dry_run: bool
) -> Adopted:
    present = dict(current_records(asset.name, asset.meaning, Selection.all(asset.definition)))
    forgotten = forgotten_of(asset.name)
    parts = {key: forgotten.part_of(key) for key in records} if forgotten else {}
    hidden = {key for key, part in parts.items() if part is not None and records[key].last <= part.at}
    new = {
        key: record
        for key, record in records.items()
        if key not in hidden and (key not in present or _is_newer(record, present[key]))
    }
    if not dry_run:
        for portion in portions(list(new), _AT_ONCE):
            take_over(asset.name, asset.meaning, {key: new[key] for key in portion})
    selection = Selection.of(asset.definition, *new)
    left = len(records) - len(new) - len(hidden)
    return Adopted(asset.name, source, selection, left, len(hidden), tuple(foreign[:100]), dry_run)


def _is_newer(record: LedgerRecord, present: LedgerRecord) -> bool:
    """Whether a *record* is of another, later materialization than the one *present*: its event was lost."""
    by_same_run = record.run_id is not None and (record.dag_id, record.run_id) == (present.dag_id, present.run_id)
    return not by_same_run and record.last > present.last + CLOCKS


def _record(
    partition: StoredPartition, asset: PartitionedAsset, key: Key, storage: Storage, adoption: Adoption
) -> LedgerRecord:
    metadata = partition.content.metadata
    counts = {"rows": partition.rows, "files": len(partition.files), "bytes": partition.bytes}
    extra = {name: count for name, count in counts.items() if count is not None} | adoption.to_extra()
    if metadata is None:
        changed = _changed(partition, storage)
        return LedgerRecord(_text(asset.meaning, key), changed, changed, 0, extra=extra)
    published = datetime.fromisoformat(metadata.published)
    published = published if published.tzinfo else published.replace(tzinfo=UTC)
    attempt = metadata.attempt
    return LedgerRecord(_text(asset.meaning, key), published, published, 0, attempt.dag_id, attempt.run_id, extra)


def _changed(partition: StoredPartition, storage: Storage) -> datetime:
    """When the files of a *partition* that somebody else has written changed last; now, if nothing tells it."""
    times: list[datetime] = []
    if partition.folder is not None:
        with suppress(OSError):
            changes = ages(at(partition.folder, dict(storage.credentials)))
            times = [time for name, time in changes.items() if name in partition.files]
    return min(max(times, default=datetime.now(UTC)), datetime.now(UTC))


def _text(meaning: PartitionDefinition | KeyFormat, key: Key) -> str:
    return meaning.text(key) if isinstance(meaning, KeyFormat) else str(key)
