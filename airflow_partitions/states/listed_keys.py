"""The keys on the list of a definition whose keys are known only at runtime."""

from __future__ import annotations

import logging

from airflow_partitions.definitions import PartitionAtRuntime
from airflow_partitions.history.database import session
from airflow_partitions.history.state_store import asset_id_of, read_cells
from airflow_partitions.runs.key_list import CELL, RuntimeKeys, keys_asset
from airflow_partitions.versions import read_form

log = logging.getLogger(__name__)


def listed_keys(definition: PartitionAtRuntime) -> set[str]:
    """The texts of the keys that tasks or people have added to *definition*, and not removed.

    :raises UnknownVersionError: if another release wrote the list.
    """
    with session() as at:
        list_id = asset_id_of(at, keys_asset(definition).name)
        form = None if list_id is None else read_cells(at, list_id, [CELL]).get(CELL)
    keys = read_form(form, RuntimeKeys.from_json, f"the list of the keys of {definition.name!r}", log.warning)
    return set() if keys is None else set(keys.allowed(definition).added)
