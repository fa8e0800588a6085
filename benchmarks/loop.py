"""One scheduler pass over 500 waiting windows of ours, beside 500 of Airflow's own mapper.

The first pass of a scheduler reads what was materialised; those after it read what is new.
"""

from __future__ import annotations

import statistics
import sys
from datetime import timedelta
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.metadata import Row, main

if TYPE_CHECKING:
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner

ROUNDS = 7
WINDOWS = 500
WANTED_RATIO = 1.2


def measure() -> list[Row]:
    """Half of each window's hours are there; the sides are asked by turns, without the other's windows."""
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner

    from benchmarks.history import FIRST, add_windows, hours, native_text, our_text

    days = [FIRST + timedelta(days=n) for n in range(WINDOWS)]
    add_windows(
        "waiting_ours", "waited_for", {f"{day:%Y-%m-%d}": [our_text(hour) for hour in hours(day, 12)] for day in days}
    )
    add_windows(
        "waiting_native",
        "waited_for_natively",
        {f"{day:%Y-%m-%d}": [native_text(hour) for hour in hours(day, 12)] for day in days},
    )
    runner = SchedulerJobRunner(job=Job())
    taken: dict[str, list[float]] = {"waiting_ours": [], "waiting_native": []}
    first: dict[str, float] = {}
    asked: dict[str, int] = {}
    for number in range(ROUNDS + 1):
        for side in taken if number % 2 else reversed(taken):
            seconds, asked[side] = _pass(runner, side)
            if number:
                taken[side].append(seconds)
            else:
                first[side] = seconds
    ours, native = (statistics.median(taken[side]) for side in ("waiting_ours", "waiting_native"))
    return [
        {
            "what": f"{WINDOWS} windows",
            "ours": f"{ours * 1e3:,.0f} ms",
            "queries": asked["waiting_ours"],
            "the first": f"{first['waiting_ours'] * 1e3:,.0f} ms",
            "native": f"{native * 1e3:,.0f} ms",
            "its queries": asked["waiting_native"],
            "its first": f"{first['waiting_native'] * 1e3:,.0f} ms",
            "ratio": f"{ours / native:.2f} x",
            "wanted": f"<= {WANTED_RATIO} x",
            "missed": ours / native > WANTED_RATIO,
        }
    ]


def _pass(runner: SchedulerJobRunner, side: str) -> tuple[float, int]:
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from airflow.utils.sqlalchemy import prohibit_commit
    from sqlalchemy import update

    from benchmarks.history import counted

    with create_session() as session:
        # A pass leaves out the windows of stale Dags.
        session.execute(update(DagModel).values(is_stale=DagModel.dag_id != side))
    with create_session() as session, counted() as queries, prohibit_commit(session) as guard:
        started = process_time()
        fired = runner._create_dagruns_for_partitioned_asset_dags(session)  # noqa: SLF001
        seconds = process_time() - started
        asked = queries()
        guard.commit()
    assert not fired
    return seconds, asked


if __name__ == "__main__":
    sys.exit(main("loop", str(__doc__), measure))
