"""Keys known only at runtime, added and removed by a person instead of a task."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.definitions import PartitionAtRuntime
from airflow_partitions.core.errors import (
    ConflictError,
    InvalidDefinitionError,
    InvalidKeyError,
    RequestSizeError,
    UnknownAssetError,
)
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.ledger.asset_rows import asset_id_of
from airflow_partitions.engine.ledger.key_table import is_running, listed_keys, read_list, write_list
from airflow_partitions.engine.ledger.marks import Mark
from airflow_partitions.engine.ledger.state_store import lock_cell, read_cells
from airflow_partitions.engine.runs.claim import KEYS_CLAIM, claimant_in
from airflow_partitions.engine.runs.key_list import keys_asset
from airflow_partitions.engine.runs.mailbox import restore_claims
from airflow_partitions.operate.requests.mark import send_events

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from airflow_partitions.core.definitions.runtime import Addition
    from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
    from airflow_partitions.engine.ledger.added_keys import RuntimeKeys

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
    return dict(listed_keys(definition))


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
    with open_session() as session:
        asset_id, list_id = (_asset_id(session, name) for name in (asset.name, keys_asset(definition).name))
        _lock(session, list_id, definition)
        present = read_list(session.connection(), definition)
        new = [text for text in texts if not once or text not in present.added]
        if new and not dry_run:
            _write(session, definition, present.with_added(dict.fromkeys(new, metadata)))
            send_events(session, asset_id, new, Mark(by, reason).to_extra())
            session.commit()
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
    with open_session() as session:
        list_id = _asset_id(session, keys_asset(definition).name)
        _lock(session, list_id, definition)
        present = read_list(session.connection(), definition)
        for text in texts:
            if text not in present.added:
                raise InvalidKeyError(
                    f"{text!r} is none of the {len(present.added)} keys of {definition!r}",
                    given=text,
                    nearest=partial(nearest_texts, text, list(present.added)),
                )
        if texts and not dry_run:
            _write(session, definition, present.without(texts))
            session.commit()
    return RuntimeKeysChange(asset.name, definition.name, tuple(texts), 0, dry_run)


def _definition(asset: PartitionedAsset) -> PartitionAtRuntime:
    definition = asset.definition
    if not isinstance(definition, PartitionAtRuntime):
        raise InvalidDefinitionError(
            f"the keys of asset {asset.name!r} follow from its definition {definition!r}; expected an asset with"
            " PartitionAtRuntime(name=…)"
        )
    return definition


def _asset_id(session: Session, name: str) -> int:
    asset_id = asset_id_of(session, name)
    if asset_id is None:
        raise UnknownAssetError(f"there is no asset {name!r} now; expected one that a Dag names", given=name)
    return asset_id


def _lock(session: Session, list_id: int, definition: PartitionAtRuntime) -> None:
    """Let no task begin to add keys until the transaction ends.

    :raises ConflictError: if one is at it.
    """
    lock_cell(session, list_id, KEYS_CLAIM)
    restore_claims(session.connection(), [keys_asset(definition).name])
    claimant = claimant_in(read_cells(session, list_id, [KEYS_CLAIM]).get(KEYS_CLAIM))
    if claimant is not None and is_running(session.connection(), claimant.dag_id, claimant.run_id):
        raise ConflictError(
            f"{claimant} is adding keys to {definition.name!r}; expected to be asked again when it has ended"
        )


def _write(session: Session, definition: PartitionAtRuntime, keys: RuntimeKeys) -> None:
    if not write_list(session.connection(), definition, keys):
        raise ConflictError(f"a task has just changed {definition.name!r}; expected to be asked again")
