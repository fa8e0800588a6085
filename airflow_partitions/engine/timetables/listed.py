"""Products whose combinations are added at runtime, with those that are on their lists now."""

from __future__ import annotations

import logging
from functools import lru_cache

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import NotMigratedError, UnknownVersionError

log = logging.getLogger(__name__)


def as_listed(definition: PartitionDefinition) -> PartitionDefinition:
    """*definition* with the combinations that are on its list now, if it has one; for scheduler and API server.

    Where the list can't be read nothing exists, until it can.
    """
    declared = definition.declared
    if declared.listed is None:
        return definition
    from airflow_partitions.engine.ledger.key_table import listed_keys

    try:
        return _having(declared, frozenset(listed_keys(declared.listed)))
    except (NotMigratedError, UnknownVersionError) as error:
        log.warning("No partition of %r exists: %s", declared, error)
        return declared.having(())


@lru_cache(maxsize=64)
def _having(declared: PartitionDefinition, texts: frozenset[str]) -> PartitionDefinition:
    """The scheduler reads the same list in each of its loops."""
    return declared.having(texts)
