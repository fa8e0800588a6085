"""One scheduler pass over 500 waiting windows of ours, beside 500 of Airflow's own mapper, and beside runs in flight.

The first pass of a scheduler reads what was materialized; those after it read what is new.
"""

from __future__ import annotations

import statistics
import sys
from datetime import timedelta
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.metadata import Row, main

if TYPE_CHECKING:
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner

ROUNDS = 7
WINDOWS = 500
IN_FLIGHT = 8_000
WANTED_RATIO = 1.2


def measure() -> list[Row]:
    """Half of each window's hours are there; the sides are asked by turns, without the other's windows."""
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner

    from benchmarks.history import FIRST, add_runs, add_windows, hours, native_text, our_text

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
    quiet = _measured(runner, ["waiting_ours", "waiting_native"])
    add_runs("producer", [our_text(hour) for hour in hours(FIRST, IN_FLIGHT)])
    busy = _measured(runner, ["waiting_ours"])
    ours, native = (quiet[side].median for side in ("waiting_ours", "waiting_native"))
    first = {
        "what": f"{WINDOWS} windows",
        "native": f"{native * 1e3:,.0f} ms",
        "its queries": quiet["waiting_native"].queries,
        "its first": f"{quiet['waiting_native'].first * 1e3:,.0f} ms",
    }
    second = {
        "what": f"beside {IN_FLIGHT:,} upstream runs",
        "native": f"{ours * 1e3:,.0f} ms (none)",
        "its queries": quiet["waiting_ours"].queries,
        "its first": "",
    }
    return [
        _row(first, quiet["waiting_ours"], native),
        _row(second, busy["waiting_ours"], ours),
    ]


class Passes(NamedTuple):
    """Seconds that the first pass took, and the median of those after it; queries of one."""

    first: float
    median: float
    queries: int


def _row(what: Row, ours: Passes, other: float) -> Row:
    return {
        "what": what["what"],
        "ours": f"{ours.median * 1e3:,.0f} ms",
        "queries": ours.queries,
        "the first": f"{ours.first * 1e3:,.0f} ms",
        **what,
        "ratio": f"{ours.median / other:.2f} x",
        "wanted": f"<= {WANTED_RATIO} x",
        "missed": ours.median / other > WANTED_RATIO,
    }


def _measured(runner: SchedulerJobRunner, sides: list[str]) -> dict[str, Passes]:
    durations: dict[str, list[float]] = {side: [] for side in sides}
    query_counts: dict[str, int] = {}
    for number in range(ROUNDS + 1):
        for side in sides if number % 2 else reversed(sides):
            seconds, query_counts[side] = _pass(runner, side)
            durations[side].append(seconds)
    return {side: Passes(each[0], statistics.median(each[1:]), query_counts[side]) for side, each in durations.items()}


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
        query_count = queries()
        guard.commit()
    assert not fired
    return seconds, query_count


if __name__ == "__main__":
    sys.exit(main("loop", str(__doc__), measure))
