"""Cluster policy: prepares every Dag whose timetable is partitioned, wherever it is parsed."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from airflow.policies import hookimpl

if TYPE_CHECKING:
    from airflow.sdk import DAG
    from airflow.sdk.types import Operator

    from airflow_partitions.core.definitions import PartitionAtRuntime

#: Of every Dag with partitions, to find them in Airflow's list of Dags.
TAG = "partitioned"

Hook = Callable[[Any], None]

#: Callbacks of tasks that Airflow calls for runs of their own only.
_NOT_FOR_MEMBERS = ("on_success_callback", "on_execute_callback", "on_skipped_callback")
_TEMPLATES = "airflow_partitions.engine.runs.templates.PartitionExtension"


@hookimpl
def dag_policy(dag: DAG) -> None:
    """Give a partitioned Dag's tasks, templates and callbacks their ``partition``.

    :raises AirflowClusterPolicyViolation: for settings that have no effect on partitioned runs, and for schedules that
        can't work.
    """
    from airflow_partitions.core.definitions import PartitionAtRuntime
    from airflow_partitions.engine.graph.cycles import check_schedule
    from airflow_partitions.engine.timetables.base import PartitionTimetable

    check_schedule(dag)
    timetable: Any = dag.timetable
    if not isinstance(timetable, PartitionTimetable):
        return
    for definition in {timetable.adds, timetable.partition, *timetable.lists}:
        if isinstance(definition, PartitionAtRuntime):
            _name_keys(dag, definition)
    dag.tags.add(TAG)
    if timetable.adds is not None:
        for task in dag.tasks:
            _prepend_hook(task, "airflow_partitions.engine.runs.add_keys", "collect_keys")
    if timetable.partition is None:
        return
    timetable.dag_id = dag.dag_id
    _refuse_missing_outlet(dag)
    _refuse_past_dependencies(dag)
    if getattr(timetable, "past", 0):
        _refuse_reversed_backfills(dag)
    if timetable.batch != 1:
        _refuse_what_no_batch_has(dag, timetable.batch)
    if timetable.limits:
        _refuse_unknown_limits(dag)
        timetable.at_once = any(
            getattr(task, "threads", 1) > 1 or getattr(task, "takes_several", False) for task in dag.tasks
        )
    _refuse_undated_templates(dag)
    _refuse_undated_arguments(dag)
    _give_partition(dag)


def _give_partition(dag: DAG) -> None:
    from airflow_partitions.engine.runs.callbacks import with_partition
    from airflow_partitions.engine.runs.partition_argument import leave_room

    options = dag.jinja_environment_kwargs = dict(dag.jinja_environment_kwargs or {})
    extensions = options.get("extensions", ["jinja2.ext.do"])  # Airflow's own default
    if _TEMPLATES not in extensions:
        options["extensions"] = [*extensions, _TEMPLATES]
    for task in dag.tasks:
        _prepend_hook(task, "airflow_partitions.engine.runs.pre_execute", "enter_partition")
        leave_room(task)
    for name in ("on_success_callback", "on_failure_callback"):
        if callbacks := getattr(dag, name):
            several = callbacks if isinstance(callbacks, list) else [callbacks]
            setattr(dag, name, [with_partition(callback) for callback in several])


def _refuse_missing_outlet(dag: DAG) -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    asset = getattr(dag.timetable, "asset", None)
    outlets = {getattr(outlet, "name", None) for task in dag.tasks for outlet in task.outlets or ()}
    if asset is not None and asset.name not in outlets:
        last = ", ".join(task.task_id for task in dag.leaves) or "a task"
        raise AirflowClusterPolicyViolation(
            f"{dag.dag_id}: the schedule says asset={asset.name!r}, but no task has it among its outlets, so no"
            f" partition of it would ever be there for others; write outlets=[Asset({asset.name!r})] on the task that"
            f" completes it: {last}"
        )


def _refuse_undated_templates(dag: DAG) -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    from airflow_partitions.engine.runs.undated_templates import REPLACEMENTS, undated_names

    environment = dag.get_template_env()
    for task in dag.tasks:
        for field, name in undated_names(task, environment):
            raise AirflowClusterPolicyViolation(
                f"{dag.dag_id}.{task.task_id}: {field} says {name!r}, which a run of a partition does not have: it has"
                f" no logical date; write {{{{ {REPLACEMENTS[name]} }}}}"
            )


def _refuse_undated_arguments(dag: DAG) -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    from airflow_partitions.engine.runs.undated_arguments import undated_arguments
    from airflow_partitions.engine.runs.undated_templates import REPLACEMENTS

    for task in dag.tasks:
        for name in undated_arguments(task):
            instead = REPLACEMENTS[name].partition(" |")[0]
            raise AirflowClusterPolicyViolation(
                f"{dag.dag_id}.{task.task_id}: its function asks for {name!r}, which would be None: a run of a"
                f" partition has no logical date; let it ask for partition=None, and take {instead}"
            )


def _name_keys(dag: DAG, definition: PartitionAtRuntime) -> None:
    """Tell Airflow of the asset in whose state store the keys of *definition* are, as long as a Dag has them."""
    from airflow_partitions.engine.runs.key_list import keys_asset

    for task in dag.tasks:
        task.inlets = [*task.inlets, keys_asset(definition)]


def _refuse_past_dependencies(dag: DAG) -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    for task in dag.tasks:
        for setting in ("wait_for_downstream", "depends_on_past"):  # Airflow sets the second with the first
            if getattr(task, setting, False):
                raise AirflowClusterPolicyViolation(
                    f"{dag.dag_id}.{task.task_id}: {setting}=True has no effect on partitioned runs; remove it, and"
                    " say with past=1 that a partition needs the one before it of its own asset, or with the rule"
                    " Lookback(n) which earlier partitions of another one it needs"
                )


def _refuse_unknown_limits(dag: DAG) -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    from airflow_partitions.core.errors import InvalidDefinitionError
    from airflow_partitions.engine.timetables.limits import check_named

    timetable: Any = dag.timetable
    try:
        check_named(timetable.limits)
    except InvalidDefinitionError as error:
        raise AirflowClusterPolicyViolation(f"{dag.dag_id}: {error}") from error


def _refuse_what_no_batch_has(dag: DAG, size: int | str) -> None:
    """Refuse a batch where one task can't stand for the runs of others."""
    from airflow.exceptions import AirflowClusterPolicyViolation

    tasks = list(dag.tasks)
    problem = None
    if dag.max_active_runs != 1:
        problem = (
            f"max_active_runs={dag.max_active_runs}, so that runs begin which the batch of another one makes; expected"
            " max_active_runs=1"
        )
    elif len(tasks) != 1:
        problem = f"{len(tasks)} tasks ({', '.join(sorted(dag.task_ids))}); expected one, which makes the partition"
    elif not callable(getattr(tasks[0], "make", None)):
        problem = (
            f"a task of {type(tasks[0]).__name__}; expected a plain function of @asset or @spark_asset, or a"
            " SparkAssetOperator"
        )
    else:
        for owner, names in ((dag, ("on_success_callback",)), (tasks[0], _NOT_FOR_MEMBERS)):
            called = [name for name in names if getattr(owner, name, None)]
            if called:
                problem = f"{called[0]}, which Airflow calls for the run of a task alone; expected none"
    if problem is not None:
        raise AirflowClusterPolicyViolation(f"{dag.dag_id}: batch={size!r} and {problem}, or no batch=")


def _refuse_reversed_backfills(dag: DAG) -> None:
    """Let Airflow refuse backfills that begin with the newest partition, which waits for all the others.

    For runs with a partition the setting has no other effect.
    """
    from airflow.sdk.definitions.mappedoperator import MappedOperator

    for task in dag.tasks:
        if isinstance(task, MappedOperator):
            task.partial_kwargs["depends_on_past"] = True
        else:
            task.depends_on_past = True


def _prepend_hook(task: Operator, module: str, function: str) -> None:
    """Make *function* of *module* the first thing that happens in *task*."""
    from airflow.sdk.definitions.mappedoperator import MappedOperator

    if isinstance(task, MappedOperator):
        task.partial_kwargs["pre_execute"] = _first(module, function, task.partial_kwargs.get("pre_execute"))
    else:
        # What BaseOperator(pre_execute=…) sets; there is no public name for it afterwards.
        task._pre_execute_hook = _first(module, function, task._pre_execute_hook)  # noqa: SLF001


def _first(module: str, function: str, hook: Hook | None) -> Hook:
    """A pre-execute hook that calls *function* of *module*, loaded then, before the author's own *hook*."""

    def first(context: MutableMapping[str, Any]) -> None:
        getattr(import_module(module), function)(context)
        if hook is not None:
            hook(context)

    return first
