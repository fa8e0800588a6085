"""Several assets, filled over one stretch of time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.core.calendars.clock import Clock
from airflow_partitions.core.calendars.instants import instant
from airflow_partitions.core.errors import RequestSizeError
from airflow_partitions.engine.graph.asset_order import upstream_first
from airflow_partitions.engine.graph.asset_surroundings import AssetSurroundings
from airflow_partitions.engine.graph.partitioned_assets import asset_dags, read_assets
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.operations.chosen_assets import chosen_assets
from airflow_partitions.operate.operations.requests import begun_progress, startable, visible
from airflow_partitions.operate.operations.since import stretch
from airflow_partitions.operate.requests.concurrency import concurrency_note
from airflow_partitions.operate.requests.fill import LACKING, begin_fill, plan_fill
from airflow_partitions.operate.states import State


def fill_assets(asked: FillAssets, asker: Asker) -> dict[str, Any]:
    """What fills the assets: one plan, and a request for each Dag of which something begins at once."""
    from airflow.settings import TIMEZONE

    now = datetime.now(UTC)
    start, end = stretch(asked.since, asked.until, now)
    states = [State(state) for state in asked.states or LACKING]
    every = asset_dags()
    surroundings, around = AssetSurroundings.of(every, asker.readable), chosen_assets(asked, asker, every)
    order = upstream_first({name: surroundings.upstream(dags) for name, dags in around.items()})
    assets = {asset.name: asset for asset in read_assets([around[name] for name in order])}
    options = RunOptions(**{field.name: getattr(asked, field.name) for field in attrs.fields(RunOptions)})
    dags = startable(asker, while_paused=asked.while_paused)
    fill = plan_fill([assets[name] for name in order], (instant(start), instant(end)), states, options, now, dags)
    begun, refused = begin_fill(fill.plan, options, by=asker.name, dry_run=asked.dry_run)
    if not fill.plan.steps and not fill.left_out and not fill.plan.lacking:
        raise RequestSizeError(
            f"of {len(order):,} assets none has a partition that begins in this time and is {' or '.join(states)}; ask"
            " for another time, other states, or other assets"
        )
    clock = Clock(TIMEZONE)
    return {
        "start": clock.datetime(instant(start)).isoformat(),
        "end": clock.datetime(instant(end)).isoformat(),
        "plan": visible(fill.plan.to_json(), asker),
        "left_out": [{"asset": name, "why": why} for name, why in {**fill.left_out, **refused}.items()],
        "requests": [] if asked.dry_run else begun_progress(begun, asker),
        "notes": [note] if (note := concurrency_note(asked.concurrency)) else [],
        "dry_run": asked.dry_run,
    }
