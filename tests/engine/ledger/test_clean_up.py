"""Airflow's clean-up of the state store: it deletes all cells of the assets that no Dag file names just now."""

from __future__ import annotations

import pytest

from airflow_partitions import KeyFormat, PartitionByInterval, PartitionByProduct, PartitionBySequence, Selection
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.engine.ledger import corrections
from airflow_partitions.engine.ledger.cache import HistoryCache
from airflow_partitions.engine.ledger.forgotten import forgotten_of
from airflow_partitions.engine.ledger.last_times import last_times
from airflow_partitions.engine.ledger.ledger import current_records, materialized_times, update_ledger
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.mailbox import publish_missing
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", timezone="Europe/Berlin", name="day")
REGIONS = PartitionBySequence(["eu", "us|ca"], name="region")
DEFINITIONS = [DAYS, REGIONS, PartitionByProduct([DAYS, REGIONS])]


def keys_of(definition: PartitionDefinition) -> list[str]:
    keys = definition.keys("2013-01-30", "2013-02-03") if definition.time is not None else definition.keys()
    return [str(key) for key in keys]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_eb1_a_purged_history_and_what_is_forgotten_stay(metadata: Metadata, definition: PartitionDefinition) -> None:
    keys = keys_of(definition)
    selection = Selection.of(definition, *keys)
    metadata.emit("sales", *keys, at=LONG_AGO, extra={"rows": 7, "author": "me"}, source_run_id="r")
    update_ledger("sales", definition)
    corrections.forget("sales", Selection.of(definition, keys[1]), by="me", reason="wrong")
    metadata.purge()
    cells, forgotten = metadata.cells("sales"), forgotten_of("sales")
    before = dict(current_records("sales", definition, selection))
    times = last_times([("sales", definition)])["sales", definition].of(selection)
    assert len(before) == len(times) == len(keys) - 1
    metadata.take_away("sales")
    assert metadata.cells("sales") == {}
    metadata.bring_back("sales")
    assert dict(current_records("sales", definition, selection)) == before
    assert last_times([("sales", definition)])["sales", definition].of(selection) == times
    assert forgotten_of("sales") == forgotten
    assert list(materialized_times("sales", definition, {key: definition.parse(key) for key in keys})) == [
        keys[0],
        *keys[2:],
    ]
    assert publish_missing() == [metadata.asset("sales")]
    assert metadata.cells("sales") == cells
    assert publish_missing() == []


def test_eb1_events_that_came_while_a_file_was_away_count(metadata: Metadata) -> None:
    keys = keys_of(DAYS)
    metadata.emit("sales", *keys[:2])
    update_ledger("sales", DAYS)
    metadata.take_away("sales")
    metadata.emit("sales", keys[2])
    assert update_ledger("sales", DAYS).records == 1
    metadata.bring_back("sales")
    assert update_ledger("sales", DAYS).records == 0
    assert sorted(key for page in metadata.pages("sales").values() for key in page) == keys[:3]


def test_eb1_a_format_of_keys_stays(metadata: Metadata) -> None:
    key_format = KeyFormat(DAYS, "%Y%m%d")
    metadata.emit("sales", "20130131", "20130201")
    update_ledger("sales", key_format)
    metadata.purge()
    metadata.take_away("sales")
    metadata.bring_back("sales")
    assert [str(key) for key in dict(current_records("sales", key_format, Selection.all(DAYS)))] == [
        "2013-01-31",
        "2013-02-01",
    ]


def test_eb7_what_was_taken_over_is_seen_by_schedulers_at_once(metadata: Metadata) -> None:
    one, other = (DAYS.parse(key) for key in keys_of(DAYS)[:2])
    keys = [(str(key), key) for key in (one, other)]
    metadata.emit("sales", str(one))
    cache = HistoryCache()
    cache.refresh(at_once=True)
    assert [text for text, times in cache.times("sales", DAYS, keys).items() if times] == [str(one)]
    corrections.take_over("sales", DAYS, {other: LedgerRecord(str(other), LONG_AGO, LONG_AGO, 0)})
    cache.refresh(at_once=True)
    assert [text for text, times in cache.times("sales", DAYS, keys).items() if times] == [str(one), str(other)]


def test_eb7_what_was_reconciled_is_seen_by_schedulers_at_once(metadata: Metadata) -> None:
    one, other = (DAYS.parse(key) for key in keys_of(DAYS)[:2])
    metadata.emit("sales", str(one))
    update_ledger("sales", DAYS)
    cache = HistoryCache()
    cache.refresh(at_once=True)
    cache.times("sales", DAYS, [(str(other), other)])
    version = last_times([("sales", DAYS)])["sales", DAYS].version()
    update_ledger("sales", DAYS, anew=True)
    cache.refresh(at_once=True)
    assert cache.lacks("sales", [(str(other), other)])
    assert last_times([("sales", DAYS)])["sales", DAYS].version() != version
