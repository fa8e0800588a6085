"""A run whose jobs are anybody's: its tasks are called in this process, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import attrs
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import PartitionByInterval, Partitioned, Publish, RunPartition
from airflow_partitions.storage import Storage

NEW_YORK = {"timezone": "America/New_York", "start": "2013-01-01"}
DAYS = PartitionByInterval("@daily", **NEW_YORK, name="day")
DAY = "2013-11-03"
DELAYS = Asset("delays")


@attrs.define
class Instance:
    """What a task asks of Airflow about itself and the others of its run.

    :ivar xcoms: by task and key.
    :ivar states: of the tasks.
    """

    dag_id: str
    run_id: str
    task_id: str
    try_number: int
    xcoms: dict[tuple[str, str], Any]
    states: dict[str, str]
    map_index: int = -1

    def xcom_push(self, key: str, value: Any) -> None:
        self.xcoms[self.task_id, key] = value

    def xcom_pull(self, task_ids: str, key: str) -> Any:
        return self.xcoms.get((task_ids, key))

    def get_task_states(self, dag_id: str, task_ids: list[str], run_ids: list[str]) -> Mapping[str, Mapping[str, str]]:
        return {run_ids[0]: {task: self.states[task] for task in task_ids}}


class OpenRun:
    """One run of a Dag in which a task ``make`` stages the partition, and ``publish`` publishes it."""

    def __init__(self, storage: Storage, key: str = DAY, run_id: str = "run", partition: Any = DAYS, **arguments: Any):
        with DAG("delays", schedule=Partitioned("@daily", partition)) as self.dag:
            self.publish = Publish(asset=DELAYS, storage=storage, **arguments)
            EmptyOperator(task_id="make") >> self.publish >> EmptyOperator(task_id="notify")
        self.key, self.run_id = key, run_id
        self.xcoms: dict[tuple[str, str], Any] = {}
        self.states = {"make": "success"}

    def context(self, task: str, number: int = 1, map_index: int = -1) -> dict[str, Any]:
        """Of one try of a task. As Airflow does, a new one forgets the XComs of that before."""
        instance = Instance("delays", self.run_id, task, number, self.xcoms, self.states, map_index)
        run = SimpleNamespace(
            dag_id="delays", run_id=self.run_id, partition_key=self.key, run_after=datetime(2013, 11, 5, tzinfo=UTC)
        )
        context: dict[str, Any] = {
            "dag": self.dag,
            "dag_run": run,
            "ti": instance,
            "task": self.dag.get_task(task),
            "outlet_events": OutletEventAccessors(),
        }
        timetable: Any = self.dag.timetable
        context["partition"] = RunPartition(timetable, self.key, run.run_after, run.run_after, context=context)
        return context

    def make(self, number: int = 1) -> RunPartition:
        """The partition, as a try of the task ``make`` gets it."""
        self.xcoms = {name: value for name, value in self.xcoms.items() if name[0] != "make"}
        partition: RunPartition = self.context("make", number)["partition"]
        return partition

    def published(self, number: int = 1) -> dict[str, Any]:
        """Let ``publish`` run; what its event says."""
        context = self.context("publish", number)
        self.publish.execute(context)  # type: ignore[arg-type]
        extra: dict[str, Any] = context["outlet_events"][DELAYS].extra
        return extra
