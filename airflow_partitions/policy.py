"""Cluster policy: prepares every Dag whose timetable is partitioned, wherever it is parsed."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from airflow.policies import hookimpl

if TYPE_CHECKING:
    from airflow.sdk import DAG
    from airflow.sdk.types import Operator

Hook = Callable[[Any], None]

_TEMPLATES = "airflow_partitions.runs.templates.PartitionExtension"


@hookimpl
def dag_policy(dag: DAG) -> None:
    """Give a partitioned Dag's tasks and templates their ``partition``.

    :raises AirflowClusterPolicyViolation: for settings that have no effect on partitioned runs.
    """
    if hasattr(dag.timetable, "adds"):
        for task in dag.tasks:
            _enter_first(task, _taking)
    if not hasattr(dag.timetable, "partition"):
        return
    _refuse_past_dependencies(dag)
    options = dag.jinja_environment_kwargs = dict(dag.jinja_environment_kwargs or {})
    extensions = options.get("extensions", ["jinja2.ext.do"])  # Airflow's own default
    if _TEMPLATES not in extensions:
        options["extensions"] = [*extensions, _TEMPLATES]
    for task in dag.tasks:
        _enter_first(task, _entering)


def _refuse_past_dependencies(dag: DAG) -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    for task in dag.tasks:
        for setting in ("depends_on_past", "wait_for_downstream"):
            if getattr(task, setting, False):
                raise AirflowClusterPolicyViolation(
                    f"{dag.dag_id}.{task.task_id}: {setting}=True has no effect on partitioned runs; remove it, and"
                    " say with the rule Lookback(n) which earlier partitions a partition needs"
                )


def _enter_first(task: Operator, entering: Callable[[Hook | None], Hook]) -> None:
    from airflow.sdk.definitions.mappedoperator import MappedOperator

    if isinstance(task, MappedOperator):
        task.partial_kwargs["pre_execute"] = entering(task.partial_kwargs.get("pre_execute"))
    else:
        # What BaseOperator(pre_execute=…) sets; there is no public name for it afterwards.
        task._pre_execute_hook = entering(task._pre_execute_hook)  # noqa: SLF001


def _taking(hook: Hook | None) -> Hook:
    """A pre-execute hook that takes what the task adds, and calls the author's own *hook*."""

    def take(context: MutableMapping[str, Any]) -> None:
        from airflow_partitions.runs.added import take_added

        take_added(context)
        if hook is not None:
            hook(context)

    return take


def _entering(hook: Hook | None) -> Hook:
    """A pre-execute hook that enters the partition and then calls the author's own *hook*."""

    def enter(context: MutableMapping[str, Any]) -> None:
        from airflow_partitions.runs.entry import enter_partition

        enter_partition(context)
        if hook is not None:
            hook(context)

    return enter
