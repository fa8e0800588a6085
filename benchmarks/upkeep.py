"""Rounds of upkeep over 300 partitioned Dags of 21 tasks, and the overview of their assets."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.metadata import Row, main

if TYPE_CHECKING:
    from airflow_partitions.operate.upkeep import Upkeep

ROUNDS = 9
DAGS = 300
DAYS = 80
CONSUMERS = 10
WANTED_IDLE = 0.05
WANTED_OVERVIEW = 0.3
SOURCE = """
HOURS, DAYS = PartitionByInterval("@hourly", start="2013-01-01"), PartitionByInterval("@daily", start="2013-01-01")

for number in range({pairs}):
    hours = Asset(f"upkeep_hours_{{number}}")
    with DAG(f"upkeep_hours_{{number}}", schedule=Partitioned("@hourly", HOURS, asset=hours), tags=["{tag}"]):
        EmptyOperator(task_id="make", outlets=[hours]) >> [EmptyOperator(task_id=f"task_{{n}}") for n in range(20)]
    days = Asset(f"upkeep_days_{{number}}")
    with DAG(f"upkeep_days_{{number}}", schedule=Partitioned(Asset.ref(name=hours.name), DAYS, asset=days)):
        EmptyOperator(task_id="make", outlets=[days]) >> [EmptyOperator(task_id=f"task_{{n}}") for n in range(20)]
"""


def measure() -> list[Row]:
    """Processor time and queries of rounds, by one process after the other."""
    from airflow import settings
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import update

    from airflow_partitions.operate.upkeep import Upkeep
    from benchmarks.history import FIRST, add_events, hours, our_text
    from tests.metadata import Metadata

    os.environ["AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL"] = "0"  # a changed file counts at once
    metadata = Metadata(settings.engine)
    with tempfile.TemporaryDirectory() as folder:

        def parse(tag: str) -> None:
            metadata.parse(Path(folder), estate=SOURCE.format(pairs=DAGS // 2, tag=tag))
            with create_session() as session:
                session.execute(update(DagModel).values(is_paused=False))

        parse("one")
        work = Upkeep()
        rows = [_row(f"{DAGS} Dags of 21 tasks: the first round", *_round(work))]
        idle = [_round(work) for _ in range(ROUNDS)]
        seconds = statistics.median(seconds for seconds, _ in idle)
        rows.append(_row("an idle round", seconds, idle[-1][1], WANTED_IDLE))
        parse("other")
        rows.append(_row(f"a round after {DAGS // 2} of them changed", *_round(work)))
        for number in range(CONSUMERS):
            add_events(f"upkeep_hours_{number}", [our_text(hour) for hour in hours(FIRST, 24 * DAYS)])
        rows.append(_row(f"{CONSUMERS * DAYS} partitions of {CONSUMERS} consumers caught up", *_round(Upkeep())))
        for number in range(DAGS // 2):
            add_events(f"upkeep_days_{number}", [f"2013-01-{day:02}" for day in range(1, 31)])
        Upkeep().round()
        rows.append(_row(f"the overview of {DAGS} assets", *_overview(), WANTED_OVERVIEW))
        rows.append(_row("the same, when nothing has changed", *_overview()))
    return rows


def _round(work: Upkeep) -> tuple[float, int]:
    """Seconds of processor time, and queries, of a round."""
    from benchmarks.history import counted

    with counted() as queries:
        started = process_time()
        work.round()
        return process_time() - started, queries()


def _overview() -> tuple[float, int]:
    """Seconds of processor time, and queries, of the numbers of all partitions by asset and state."""
    from airflow_partitions.operate.contract.assets import ListAssets
    from airflow_partitions.operate.operations import answer
    from benchmarks.history import counted

    with counted() as queries:
        started = process_time()
        assets = answer(ListAssets(search="upkeep_", counts=True, limit=2 * DAGS))["assets"]
        seconds = process_time() - started
        assert len(assets) == DAGS
        return seconds, queries()


def _row(what: str, seconds: float, queries: int, wanted: float | None = None) -> Row:
    return {
        "what": what,
        "ours": f"{seconds * 1e3:,.0f} ms",
        "queries": queries,
        "wanted": "" if wanted is None else f"<= {wanted * 1e3:,.0f} ms",
        "missed": wanted is not None and seconds > wanted,
    }


if __name__ == "__main__":
    sys.exit(main("upkeep", str(__doc__), measure))
