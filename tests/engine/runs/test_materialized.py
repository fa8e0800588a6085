"""What a task is told where Airflow can't tell it of events."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import UnreadableEventsError
from airflow_partitions.engine.ledger.addresses import Addresses
from airflow_partitions.engine.ledger.ledger_pages import PROGRESS, LedgerProgress, page_cell, page_text
from airflow_partitions.engine.runs import materialized as module
from airflow_partitions.engine.runs.materialized import AssetHistory

HOURS = PartitionByInterval("@hourly")
AT = datetime(2014, 3, 2, tzinfo=UTC)
MARCH, APRIL = (page_cell(Addresses.by(HOURS), month) for month in ("201403", "201404"))


def history(monkeypatch: pytest.MonkeyPatch, *lost: str) -> AssetHistory:
    """Of an asset whose events before what upkeep has kept can't be told."""
    cells: dict[str, Any] = {
        PROGRESS: LedgerProgress(HOURS, 1, AT, ("201403", "201404")).to_json(),
        MARCH: json.loads(page_text({"2014-03-01T00:00Z": (AT, AT)})),
        APRIL: json.loads(page_text({"2014-04-01T00:00Z": (AT, AT)})),
    }

    def events(name: str, since: datetime | None) -> list[Any]:
        if since is None or since <= AT:
            raise UnreadableEventsError("queued")
        return []

    monkeypatch.setattr(module, "_events", events)
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    monkeypatch.setattr(module, "_LOOK_AGAIN", 0.0)
    reader = AssetHistory.__new__(AssetHistory)
    reader._name, reader._keys = "hours", None
    reader._definition, reader._addresses = HOURS, Addresses.by(HOURS)
    reader._store = type("Store", (), {"get": lambda _, cell: None if cell in lost else cells.get(cell)})()
    reader._progress = reader._read(PROGRESS, LedgerProgress.from_json)
    return reader


def test_what_upkeep_has_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert history(monkeypatch).last() == {"2014-03-01T00:00Z": AT, "2014-04-01T00:00Z": AT}


@pytest.mark.parametrize("cell", [PROGRESS, MARCH, APRIL])
def test_where_some_of_it_was_lost_no_part_of_it_is_told_for_the_whole(
    monkeypatch: pytest.MonkeyPatch, cell: str
) -> None:
    with pytest.raises(UnreadableEventsError):
        history(monkeypatch, cell).last()
