"""The argument ``partition`` of functions of assets and tasks."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_partitions import Partition
from airflow_partitions.core.definitions import PartitionByInterval
from tests.authoring.assets.conftest import DagBags

DAYS = PartitionByInterval("@daily", start="2013-01-01")


@pytest.mark.parametrize("parameter", ["partition", "partition=None", "*, partition", "*, partition=None"])
@pytest.mark.parametrize("decorators", ["@asset({0})", "@asset({0})\n        @task", "@asset.multi(outlets=TWO, {0})"])
def test_er4_partition_is_passed_with_and_without_a_default(dag_bag: DagBags, parameter: str, decorators: str) -> None:
    decorators = decorators.format("schedule=None, partition=DAYS")
    bag = dag_bag(
        f"""
        TWO = [Asset("one"), Asset("two")]

        {decorators}
        def made({parameter}):
            return partition
        """
    )
    assert bag.import_errors == {}
    (task,) = bag.dags["made"].tasks
    assert returned(task) == Partition(DAYS, "2013-02-08")


def test_er4_partition_is_passed_to_mapped_and_virtualenv_tasks_with_and_without_a_default(dag_bag: DagBags) -> None:
    bag = dag_bag(
        """
        with DAG("made", schedule=Partitioned("@daily", DAYS)):
            @task
            def one(number, partition):
                return partition

            @task
            def two(number, partition=None):
                return partition

            @task
            def own(partition):
                return partition

            @task.external_python(python="/usr/bin/python3")
            def outside(partition=None):
                return partition

            one.expand(number=[1])
            two.partial(number=1).expand_kwargs([{}])
            own.expand(partition=["mine"])
            own.override(task_id="given")(partition="mine")
            outside()
        """
    )
    assert bag.import_errors == {}
    tasks = {task.task_id: task for task in bag.dags["made"].tasks}
    for name in ("one", "two"):
        operator = tasks[name].unmap({"op_kwargs": {"number": 1} if name == "one" else {}})
        assert returned(operator) == Partition(DAYS, "2013-02-08")
    assert returned(tasks["own"].unmap({"op_kwargs": {"partition": "mine"}})) == returned(tasks["given"]) == "mine"
    entered(tasks["outside"])
    assert tasks["outside"].op_kwargs == {"partition": Partition(DAYS, "2013-02-08")}


def entered(task: Any) -> dict[str, Any]:
    """The context of a task whose run has entered its partition, as far as the function is concerned."""
    from airflow_partitions.engine.runs.partition_argument import pass_partition

    partition = Partition(DAYS, "2013-02-08")
    pass_partition(task, partition)
    return {"partition": partition}


def returned(task: Any) -> Any:
    """What the function of a Python task returns in a run."""
    from airflow.sdk.definitions.context import context_merge

    context: Any = entered(task)
    context_merge(context, task.op_kwargs)
    return task.python_callable(*task.op_args, **task.determine_kwargs(context))
