"""Keys known only at runtime, added and removed by a person instead of a task."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.definitions import PartitionAtRuntime
from airflow_partitions.errors import (
    ConflictError,
    InvalidDefinitionError,
    InvalidKeyError,
    RequestSizeError,
    UnknownAssetError,
)
from airflow_partitions.history.database import session
from airflow_partitions.history.marks import Mark
from airflow_partitions.history.state_store import asset_id_of, lock_cell, read_cells, write_cells
from airflow_partitions.keys.nearest import nearest_texts
from airflow_partitions.requests.mark import send_events
from airflow_partitions.runs.claim import KEYS_CLAIM, claimant_in
from airflow_partitions.runs.key_list import CELL, CLOCKS, AddingRun, RuntimeKeys, keys_asset
from airflow_partitions.versions import read_form

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.definitions.runtime import Addition
    from airflow_partitions.graph.partitioned_assets import PartitionedAsset

log = logging.getLogger(__name__)

# All of them are one transaction, which Airflow's other processes wait for.
_MOST = 1_000


@attrs.frozen
class RuntimeKeysChange:
    """Keys that were added to a list or removed from it, or would be.

    :ivar asset: whose events tell of them.
    :ivar name: of the list.
    :ivar keys: the texts of these keys.
    :ivar known: how many others were on the list already.
    """

    asset: str
    name: str
    keys: tuple[str, ...]
    known: int
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return attrs.asdict(self) | {"keys": list(self.keys)}


def runtime_keys(asset: PartitionedAsset) -> dict[str, Addition]:
    """The keys on the list of *asset*, by text, the newest last; those that no task has confirmed are not among them.

    :raises InvalidDefinitionError: if its keys are not known only at runtime.
    :raises UnknownVersionError: if another release wrote the list.
    """
    definition = _definition(asset)
    with session() as at:
        asset_id = asset_id_of(at, keys_asset(definition).name)
        return {} if asset_id is None else dict(_read(at, asset_id, definition).added)


def add_runtime_keys(
    asset: PartitionedAsset,
    keys: Iterable[Any],
    metadata: Any = None,
    *,
    by: str,
    reason: str = "",
    once: bool = False,
    dry_run: bool = False,
) -> RuntimeKeysChange:
    """Add *keys* to the list of *asset*, as its task does: an event is sent for each, and what is downstream runs.

    :param keys: plain, or texts of keys.
    :param metadata: JSON to keep with each.
    :param by: who asks; it is kept in the events, as the reason is.
    :param once: leave those as they are that are on the list.
    :raises InvalidDefinitionError: if its keys are not known only at runtime.
    :raises InvalidKeyError: if one is not allowed.
    :raises RequestSizeError: if there is none, or too many.
    :raises ConflictError: if a run is adding keys to the list now.
    :raises UnknownAssetError: if there is no such asset.
    """
    definition = _definition(asset)
    texts = list(
        dict.fromkeys(str(definition.parse(key) if isinstance(key, str) else definition.key(key)) for key in keys)
    )
    if not texts or len(texts) > _MOST:
        raise RequestSizeError(f"{len(texts):,} keys to add; expected 1 to {_MOST:,} at once: add them in parts")
    with session() as at:
        asset_id, list_id = (_asset_id(at, name) for name in (asset.name, keys_asset(definition).name))
        _lock(at, list_id, definition)
        present = _read(at, list_id, definition)
        new = [text for text in texts if not once or text not in present.added]
        if new and not dry_run:
            _write(at, list_id, present.with_added(dict.fromkeys(new, metadata)))
            send_events(at, asset_id, new, Mark(by, reason).to_extra())
            at.commit()
    return RuntimeKeysChange(asset.name, definition.name, tuple(new), len(texts) - len(new), dry_run)


def remove_runtime_keys(asset: PartitionedAsset, keys: Iterable[Any], *, dry_run: bool = False) -> RuntimeKeysChange:
    """Take *keys* off the list of *asset*; what was made for them stays.

    :param keys: plain, or texts of keys.
    :raises InvalidDefinitionError: if its keys are not known only at runtime.
    :raises InvalidKeyError: if one is not on the list; the nearest are in the message.
    :raises ConflictError: if a run is adding keys to the list now.
    :raises UnknownAssetError: if there is no list yet.
    """
    definition = _definition(asset)
    texts = list(
        dict.fromkeys(str(definition.parse(key) if isinstance(key, str) else definition.key(key)) for key in keys)
    )
    with session() as at:
        list_id = _asset_id(at, keys_asset(definition).name)
        _lock(at, list_id, definition)
        present = _read(at, list_id, definition)
        for text in texts:
            if text not in present.added:
                raise InvalidKeyError(
                    f"{text!r} is none of the {len(present.added)} keys of {definition!r}",
                    given=text,
                    nearest=partial(nearest_texts, text, list(present.added)),
                )
        if texts and not dry_run:
            _write(at, list_id, present.without(texts))
            at.commit()
    return RuntimeKeysChange(asset.name, definition.name, tuple(texts), 0, dry_run)


def _definition(asset: PartitionedAsset) -> PartitionAtRuntime:
    definition = asset.definition
    if not isinstance(definition, PartitionAtRuntime):
        raise InvalidDefinitionError(
            f"the keys of asset {asset.name!r} follow from its definition {definition!r}; expected an asset with"
            " PartitionAtRuntime(name=…)"
        )
    return definition


def _asset_id(at: Session, name: str) -> int:
    asset_id = asset_id_of(at, name)
    if asset_id is None:
        raise UnknownAssetError(f"there is no asset {name!r} now; expected one that a Dag names", given=name)
    return asset_id


def _lock(at: Session, list_id: int, definition: PartitionAtRuntime) -> None:
    """Let no task begin to add keys until the transaction ends.

    :raises ConflictError: if one is at it.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    lock_cell(at, list_id, KEYS_CLAIM)
    claimant = claimant_in(read_cells(at, list_id, [KEYS_CLAIM]).get(KEYS_CLAIM))
    if claimant is None:
        return
    running = select(DagRun.id).where(
        DagRun.dag_id == claimant.dag_id, DagRun.run_id == claimant.run_id, DagRun.state == DagRunState.RUNNING
    )
    if at.scalar(running) is not None:
        raise ConflictError(
            f"{claimant} is adding keys to {definition.name!r}; expected to be asked again when it has ended"
        )


def _read(at: Session, list_id: int, definition: PartitionAtRuntime) -> RuntimeKeys:
    """The keys that count."""
    form = read_cells(at, list_id, [CELL]).get(CELL)
    keys = read_form(form, RuntimeKeys.from_json, f"the list of the keys of {definition.name!r}", log.warning)
    return RuntimeKeys() if keys is None else keys.allowed(definition).settled(lambda run: _has_event(at, run))


def _has_event(at: Session, run: AddingRun) -> bool:
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
    return at.scalar(query.limit(1)) is not None


def _write(at: Session, list_id: int, keys: RuntimeKeys) -> None:
    write_cells(at, list_id, {CELL: json.dumps(keys.to_json())})
