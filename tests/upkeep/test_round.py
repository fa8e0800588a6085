"""A round of upkeep where another release has left its forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions.upkeep import one_round
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAG_FILE = """
@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", start="2013-01-01"))
def hours(partition): ...

@asset(schedule=hours, partition=PartitionByInterval("@daily", start="2013-01-01"))
def days(partition): ...
"""


def test_forms_of_another_release_are_told_and_keep_nothing_else(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    metadata.parse(tmp_path, files=DAG_FILE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    metadata.emit("hours", "2013-01-01T00:00Z")
    metadata.emit("days", "2013-01-01")
    assert one_round().problems == ()
    for cell in ("ledger", "consumer/days"):
        metadata.put("hours", cell, metadata.cells("hours")[cell] | {"version": 2})
    metadata.emit("days", "2013-01-02")
    outcome = one_round()
    assert outcome.records == 1
    ledger, consumer = outcome.problems
    assert ledger.startswith("asset 'hours': the progress of a ledger has version 2; expected 1.")
    assert consumer.startswith(
        "Dag 'days': the last event that consumer 'days' has looked at has version 2; expected 1"
    )
