"""What the scheduler's listener takes to give a run 1,000 members, and to end their runs, notes and events."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, process_time

from benchmarks.metadata import Row, main

MEMBERS = 1_000
WANTED = 0.5
SOURCE = """
HOURS = PartitionByInterval("@hourly", start="2013-01-01")

@asset(schedule=None, partition=HOURS, batch=2000)
def hours(partition): ...

@asset(schedule=None, partition=HOURS, batch=2000)
def waited_for(partition): ...

@asset(schedule=waited_for, partition=PartitionByInterval("@daily", start="2013-01-01"))
def days(partition): ...
"""


def measure() -> list[Row]:
    """Without and with a Dag that waits for the asset."""
    from airflow import settings
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    from airflow_partitions import PartitionByInterval
    from airflow_partitions.engine.batches.outcome import IN_CELL, OUTCOMES, Ending, Outcome, outcomes_to_json
    from benchmarks.history import counted
    from tests.engine.batches.test_batch import members, notify, queue
    from tests.metadata import Metadata

    os.environ["AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL"] = "0"  # a changed file counts at once
    metadata = Metadata(settings.engine)
    began = datetime(2026, 11, 5, 12, tzinfo=UTC)
    hours = PartitionByInterval("@hourly", start="2013-01-01").keys("2013-01-01", "2014-01-01")
    keys = [str(key) for key, _ in zip(hours, range(MEMBERS + 1), strict=False)]

    def row(what: str, work: Callable[[], None]) -> Row:
        with counted() as queries:
            wall, own = monotonic(), process_time()
            work()
            wall, own = monotonic() - wall, process_time() - own
            number = queries()
        return {
            "what": what,
            "ours": f"{own * 1e3:,.0f} ms",
            "by the clock": f"{wall * 1e3:,.0f} ms",
            "queries": number,
            "wanted": f"<= {WANTED * 1e3:,.0f} ms",
            "missed": own > WANTED,
        }

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        metadata.parse(Path(folder), estate=SOURCE)
        with metadata.engine.begin() as at:
            at.execute(update(DagModel).values(is_paused=False))
        for dag_id, words in (("hours", ""), ("waited_for", ", whose days a Dag waits for")):
            leader, *_ = queue(metadata, *keys, dag_id=dag_id)
            rows.append(
                row(f"{MEMBERS:,} members given{words}", lambda: notify(metadata, leader, "running", dag_id))  # noqa: B023
            )
            outcomes = [
                Outcome(
                    each.run_id, Ending.MADE, began, began + timedelta(seconds=1), {dag_id: {"rows": 5, "files": 1}}
                )
                for each in members(metadata, leader)
            ]
            assert len(outcomes) == MEMBERS
            for number in range(0, MEMBERS, IN_CELL):
                form = outcomes_to_json(outcomes[number : number + IN_CELL])
                metadata.put_task_cell(leader, dag_id, f"{OUTCOMES}{number}", form)
            rows.append(
                row(f"{MEMBERS:,} runs ended{words}", lambda: notify(metadata, leader, "success", dag_id))  # noqa: B023
            )
            assert _ended(dag_id) == MEMBERS + 1
    return rows


def _ended(dag_id: str) -> int:
    from airflow import settings
    from airflow.models.dagrun import DagRun
    from sqlalchemy import func, select

    with settings.engine.connect() as at:
        query = select(func.count()).where(DagRun.dag_id == dag_id, DagRun.state == "success")
        return int(at.scalar(query) or 0)


if __name__ == "__main__":
    sys.exit(main("batch_end", str(__doc__), measure))
