"""The keys that were added to a definition at runtime, for tasks.

They belong to the definition's name, not to the asset that adds them: all tasks that name it share them. A task reads
and changes them in one cell of the state store of an asset that stands for the name. It is an inlet of these tasks,
which keeps it known to Airflow; nothing makes it, and nothing is scheduled on it. The list itself is in our tables:
:mod:`~airflow_partitions.engine.ledger.key_table` takes over what tasks have written in the cell, and makes it again
when Airflow has thrown it away.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset
from airflow.sdk.execution_time.context import AssetStateStoreAccessor

from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.ledger.added_keys import CELL, CLOCKS, KEYS_GROUP, KEYS_OF, AddingRun, RuntimeKeys
from airflow_partitions.engine.runs.asset_events import newest_events

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionAtRuntime

log = logging.getLogger(__name__)


def keys_asset(definition: PartitionAtRuntime) -> Asset:
    """The asset in whose state store tasks find the keys of *definition*."""
    return Asset(f"{KEYS_OF}{definition.name}", group=KEYS_GROUP)


def read(definition: PartitionAtRuntime) -> RuntimeKeys:
    """The keys of *definition*, for a task.

    :raises UnknownVersionError: if another release wrote them.
    """
    name = keys_asset(definition).name
    cell: Any = AssetStateStoreAccessor(name=name).get(CELL)
    keys = read_form(cell, RuntimeKeys.from_json, f"the list in the state store of asset {name!r}", log.warning)
    return RuntimeKeys() if keys is None else keys.allowed(definition)


def write(definition: PartitionAtRuntime, keys: RuntimeKeys) -> None:
    """Store the *keys* of *definition*."""
    AssetStateStoreAccessor(name=keys_asset(definition).name).set(CELL, keys.to_json())


def has_event(run: AddingRun) -> bool:
    """Whether *run* has events, for a task; looks from the newest event of its asset back."""
    return any(
        (event.source_dag_id, event.source_run_id) == (run.dag_id, run.run_id)
        for event in newest_events(run.asset, run.at - CLOCKS)
    )
