"""What is missing of 500 assets over 90 days, as one plan of which nothing is asked for.

Each fifth asset has a schedule, the other four are made of the one before. Wall time is shown too, for what the
database does.
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.metadata import Row, main, timed

if TYPE_CHECKING:
    from collections.abc import Callable

ASSETS, DAYS = 500, 90
WANTED = 10.0
SOURCE = """
DAYS = PartitionByInterval("@daily", start="{start:%Y-%m-%d}", name="date")

for number in range({assets}):
    own = Asset(f"filled_{{number:03}}")
    upstream = Asset.ref(name=f"filled_{{number - 1:03}}") if number % 5 else None
    with DAG(own.name, schedule=Partitioned(upstream, DAYS, asset=own)):
        EmptyOperator(task_id="write", outlets=[own])
"""


def measure() -> list[Row]:
    """A plan of all that is missing, at first and again, and one of ten of the assets."""
    from airflow_partitions.operate.contract.fill import FillAssets
    from airflow_partitions.operate.operations import answer

    _fill()

    def plan(most: int, **asked: object) -> Callable[[], None]:
        def made() -> None:
            filled = answer(FillAssets.of(since=f"{DAYS}d", search="filled_", dry_run=True, **asked))
            assert (len(filled["plan"]["steps"]), filled["left_out"], filled["requests"]) == (most, [], [])

        return made

    some = [f"filled_{number:03}" for number in range(10)]
    return [
        timed("a plan of ten assets", plan(10, asset=some), None),
        timed(f"a plan of {ASSETS} assets", plan(ASSETS), WANTED),
        timed("the same again", plan(ASSETS), WANTED),
    ]


def _fill() -> None:
    """The Dags, and 100 days of each; one of seven is missing."""
    from airflow import settings
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import update

    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from benchmarks.estate import add_history
    from tests.metadata import Metadata

    os.environ["AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL"] = "0"
    now = datetime.now(UTC)
    source = SOURCE.format(start=now - timedelta(days=DAYS + 10), assets=ASSETS)
    with tempfile.TemporaryDirectory() as folder:
        Metadata(settings.engine).parse(Path(folder), filled=source)
    with create_session() as session:
        session.execute(update(DagModel).values(is_paused=False))
    texts = [f"{now - timedelta(days=day):%Y-%m-%d}" for day in range(DAYS + 10, 0, -1)]
    for number in range(ASSETS):
        name = f"filled_{number:03}"
        there = [text for i, text in enumerate(texts) if (i + number) % 7]
        add_history(name, there, now - timedelta(days=1), runs=False)
        update_ledger(name, partitioned_asset(name).meaning)


if __name__ == "__main__":
    sys.exit(main("fill", f"what is missing of {ASSETS} assets, as one plan", measure))
