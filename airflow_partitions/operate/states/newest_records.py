"""Records of the newest partitions that were materialized."""

from __future__ import annotations

from airflow_partitions.core.calendars.steps import back
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.ledger.ledger import current_records
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.waiting import span_of


def newest_records(of: AssetStates, partitions: Selection, limit: int) -> list[tuple[Key, LedgerRecord]]:
    """The records of the newest *partitions*, up to *limit*, in order: of time, or else of when they were materialized.

    Those before them are not read.

    :raises UnknownVersionError: if another release wrote a part of the ledger.
    """
    time = of.definition.time
    if time is None:
        records = list(current_records(of.asset.name, of.asset.meaning, partitions))
        return sorted(records, key=lambda entry: entry[1].last)[-limit:]
    low, high = span_of(partitions) or (0, 0)
    newest: list[tuple[Key, LedgerRecord]] = []
    last = partitions & Selection(of.definition, (Box((back(time.calendar, high, 1), high)),))
    size = max(1, limit // max(1, len(last)))
    while low < high and len(newest) < limit:
        start = max(low, back(time.calendar, high, size))
        part = partitions & Selection(of.definition, (Box((start, high)),))
        newest = [*current_records(of.asset.name, of.asset.meaning, part), *newest]
        high, size = start, size * 2
    return newest[-limit:]
