"""The context of a task that makes several partitions, and what it tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from airflow.sdk.api.datamodels._generated import DagRun
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import Partition
from airflow_partitions.engine.batches.member import MEMBERS, Member, members_to_json
from airflow_partitions.engine.batches.outcome import OUTCOMES, Outcome, outcomes_from_json

DUE = datetime(2013, 2, 1, tzinfo=UTC)


class Cells(dict[str, Any]):
    """The state store of a task."""

    def set(self, key: str, value: Any, **_: Any) -> None:
        self[key] = value


class Instance:
    """The task instance of the leader."""

    dag_id, task_id, run_id, try_number, map_index = "made", "made", "leader", 1, -1

    def __init__(self) -> None:
        self.ended: set[str] = set()

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str]) -> int:
        return len(set(run_ids) - self.ended)

    def xcom_push(self, key: str, value: Any) -> None: ...


def batch(
    made: Any, *keys: str, own: str, cells: Cells | None = None, skips: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The context of a task that makes some keys with its own; *skips* has why some are not to be made."""
    members = [Member(f"run {key}", key, DUE, "backfill", skip=(skips or {}).get(key, "")) for key in keys]
    store = Cells({MEMBERS: members_to_json(members)}) if cells is None else cells
    run = DagRun.model_construct(
        dag_id="made", run_id="leader", run_after=DUE, start_date=DUE, run_type="backfill", clear_number=0,
        partition_key=own,
    )  # fmt: skip
    return {
        "task": made.task,
        "dag": made.task.dag,
        "dag_run": run,
        "ti": Instance(),
        "outlet_events": OutletEventAccessors(),
        "task_state_store": store,
        "partition": Partition(made.task.dag.timetable.partition, own),
    }


def outcomes(context: dict[str, Any]) -> dict[str, Outcome]:
    """What was told, by key."""
    store = context["task_state_store"]
    cells = [store[name] for name in store if name.startswith(OUTCOMES)]
    return {outcome.run_id.removeprefix("run "): outcome for cell in cells for outcome in outcomes_from_json(cell)}


def endings(context: dict[str, Any]) -> dict[str, str]:
    return {key: str(outcome.ending) for key, outcome in outcomes(context).items()}
