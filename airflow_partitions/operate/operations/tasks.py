"""The tasks that make an asset's partitions."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Any

from airflow_partitions.core.dependencies import Selection, parse_selection
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.tasks import ShowTasks
from airflow_partitions.operate.operations.keys import key_form, walk
from airflow_partitions.operate.state import MISSING
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.task_matrix import task_matrix


def show_tasks(asked: ShowTasks, _: Asker) -> dict[str, Any]:
    """The state of every task in the newest run of each partition, the newest partitions first."""
    of = AssetStates(partitioned_asset(asked.asset), datetime.now(UTC))
    after = None if asked.cursor is None else of.definition.parse(asked.cursor)
    some = list(islice(walk(_partitions(of, asked.select), after, oldest_first=False), asked.limit + 1))
    page = some[: asked.limit]
    keys = sorted(page, key=lambda key: of.times.places.of(key).start)  # of one interval in the order of its segments
    stretches = of.stretches(Selection.of(of.definition, *keys)) if keys else []
    states = {str(key): stretch.state for stretch in stretches for key in stretch.selection}
    forms = (key_form(of.definition, key) for key in keys)
    return {
        "asset": asked.asset,
        "partitions": [
            {name: form[name] for name in ("key", "start", "end")}
            | {"state": str(states.get(form["key"], MISSING.state))}
            for form in forms
        ],
        "dags": [one.to_json() for one in task_matrix(of.tasks.keys(), list(map(str, keys)))],
        "cursor": str(page[-1]) if len(some) > asked.limit else None,
    }


def _partitions(of: AssetStates, select: str | None) -> Selection:
    """Those that are asked for of what there is by now."""
    if select is None:
        return of.everything()
    selection = parse_selection(of.definition, select, closed_by=of.now)
    return of.everything() & selection if of.definition.time is None else of.existing(selection)
