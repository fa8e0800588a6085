"""Operations about the tasks that make partitions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airflow_partitions.operate.contract.fields import AssetName, Cursor, Select
from airflow_partitions.operate.contract.operation import Answer, Operation
from airflow_partitions.operate.state import State

#: The most partitions of a matrix.
MOST_PARTITIONS = 200
#: Partitions of a matrix where nobody says how many.
USUAL_PARTITIONS = 60


class TaskPartition(Answer):
    """A partition whose tasks are told."""

    key: str = Field(examples=["2013-03-01"])
    start: str | None = Field(description="Begin of its interval, with UTC offset; null without time")
    end: str | None = Field(description="End of its interval, not part of it")
    state: State = Field(description="Of the partition itself")


class TaskRun(Answer):
    """The newest run of a Dag for a partition."""

    run_id: str
    state: str = Field(description="As Airflow has it", examples=["success"])


class TaskCell(Answer):
    """A task in a run: its newest try; of mapped instances all together."""

    state: str | None = Field(
        description="As Airflow has it, such as up_for_retry; of several instances that which needs somebody most; null"
        " before anything was decided",
        examples=["success"],
    )
    tries: int = Field(description="As far as they were begun; of several instances the most")
    began: str | None = Field(description="When the newest try did, with UTC offset; of several instances the first")
    seconds: float | None = Field(
        description="From that begin to the end, of several instances to the last; null as long as one has not ended"
    )
    instances: int | None = Field(default=None, description="Number of mapped instances; null of a task without them")


class TaskRow(Answer):
    """A task, partition by partition."""

    task_id: str
    cells: list[TaskCell | None] = Field(
        description="One for each partition; null where no run is known, or the run does not have the task"
    )


class DagTasks(Answer):
    """The tasks of a Dag, partition by partition."""

    dag_id: str
    runs: list[TaskRun | None] = Field(description="One for each partition; null where no run is known")
    tasks: list[TaskRow] = Field(
        description="Those before others first; after them those that only older runs have, if any"
    )


class TaskMatrix(Answer):
    """The tasks that make an asset's partitions, partition by partition."""

    asset: str
    partitions: list[TaskPartition] = Field(description="In order of time; without time in the declared order")
    dags: list[DagTasks] = Field(description="Those that make it, by id")
    cursor: str | None = Field(description="From which the partitions before these go on; null at the end")


class ShowTasks(Operation, route="GET /assets/{asset}/tasks", answer=TaskMatrix, noun="states", refusals=(404,)):
    """The state of every task in the newest run of each partition: which step of a Dag fails, and on which days.

    The newest partitions come first; the cursor leads to those before them.
    """

    asset: AssetName
    select: Select = None
    limit: Annotated[int, Field(ge=1, le=MOST_PARTITIONS, description="The most partitions")] = USUAL_PARTITIONS
    cursor: Cursor = None
