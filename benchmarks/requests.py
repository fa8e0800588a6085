"""10,000 partitions asked for, and a plan of 100,000, with 100,000 runs in Airflow's history.

Beside it, Airflow's own backfill of the same Dag, which looks for a run of each partition by itself.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from itertools import islice
from time import perf_counter, process_time

from benchmarks.metadata import Row, main

HISTORY = 100_000
ASKED, NATIVE, PLANNED = 10_000, 200, 100_000
#: Runs created in a second, and seconds of a plan.
RATE, PLAN = 200, 2.0
#: So many a second Dagster 1.13.28 submitted of a backfill on such a machine.
DAGSTER = "5 to 8"


def measure() -> list[Row]:
    """A plan of all, a request of those after the history, and a backfill of some after these."""
    from airflow.models.backfill import ReprocessBehavior, _create_backfill

    from airflow_partitions.core.dependencies import Selection
    from airflow_partitions.core.dependencies.box import Box
    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from airflow_partitions.engine.runs.run_options import RunOptions
    from airflow_partitions.operate.requests.materialize import materialize
    from airflow_partitions.operate.requests.plan import plan
    from airflow_partitions.operate.states import State
    from benchmarks.estate import add_history

    name = "requested_hours"
    asset = partitioned_asset(name)
    keys = list(islice(asset.definition.keys("2013-01-01", "2026-11-01"), HISTORY + ASKED + NATIVE))
    # Every hundredth is missing, so that the missing ones are many ranges.
    made = [str(key) for i, key in enumerate(keys[:HISTORY]) if i % 100]
    add_history(name, made, datetime.now(UTC) - timedelta(days=30), runs=True)
    update_ledger(name, asset.meaning)
    ends = [asset.definition.parse(str(key)).time_range[0] for key in (keys[0], keys[HISTORY], keys[HISTORY + ASKED])]
    whole, new = (Selection(asset.definition, (Box((low, high)),)) for low, high in (ends[:2], ends[1:]))
    rows = []
    for what, states in (("plan of 100,000", ()), ("plan of what is missing of them", {State.MISSING})):
        plan(asset, whole, states=states)
        began, begun = perf_counter(), process_time()
        partitions = len(plan(asset, whole, states=states).asked.selection)
        rows.append(_row(what, partitions, process_time() - begun, perf_counter() - began, f"< {PLAN:g} s", PLAN))
    began, begun = perf_counter(), process_time()
    materialize(asset, new, RunOptions(), by="benchmark")
    seconds = perf_counter() - began
    rows.append(_row("runs of a request", ASKED, process_time() - begun, seconds, f">= {RATE} a second", ASKED / RATE))
    again = Selection.of(asset.definition, *keys[1:NATIVE])
    began, begun = perf_counter(), process_time()
    materialize(asset, again, RunOptions(), by="benchmark")
    rows.append(_row("runs of a request, most cleared", NATIVE - 1, process_time() - begun, perf_counter() - began))
    start = asset.definition.parse(str(keys[HISTORY + ASKED])).start
    from airflow.models.backfill import Backfill
    from airflow.utils.session import create_session
    from sqlalchemy import update

    with create_session() as session:  # Airflow allows one backfill at a time
        session.execute(update(Backfill).values(completed_at=datetime.now(UTC)))
    began, begun = perf_counter(), process_time()
    _create_backfill(
        dag_id=name, from_date=start, to_date=start + timedelta(hours=NATIVE - 1), max_active_runs=10, reverse=False,
        dag_run_conf={}, triggering_user_name=None, reprocess_behavior=ReprocessBehavior.NONE,
    )  # fmt: skip
    rows.append(_row("runs of Airflow's backfill", NATIVE, process_time() - begun, perf_counter() - began))
    return rows


def _row(what: str, number: int, processor: float, wall: float, wanted: str = "", most: float | None = None) -> Row:
    is_runs = what.startswith("runs")
    return {
        "what": what,
        "partitions": f"{number:,}",
        "wall": f"{wall:.2f} s",
        "processor": f"{processor:.2f} s",
        "a second": f"{number / wall:,.0f}" if is_runs else "",
        "wanted": wanted,
        "Dagster, a second": DAGSTER if is_runs else "",
        "missed": most is not None and wall > most,
    }


if __name__ == "__main__":
    sys.exit(main("requests", str(__doc__), measure))
