"""The argument ``partition`` of a task's Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_partitions.core.partition import Partition

NAME = "partition"


def requires_partition(function: Callable[..., Any]) -> bool:
    """Whether *function* can't be called without a partition."""
    parameter = inspect.signature(function).parameters.get(NAME)
    return parameter is not None and parameter.default is parameter.empty


def leave_room(task: Any) -> None:
    """Let the mapped *task* of a function that requires a partition be unmapped before there is one."""
    from airflow.sdk.bases.decorator import DecoratedMappedOperator

    if isinstance(task, DecoratedMappedOperator) and requires_partition(task.python_callable):
        mapped = task.op_kwargs_expand_input.value
        if isinstance(mapped, Mapping) and NAME not in mapped:
            task.partial_kwargs["op_kwargs"] = {NAME: None, **task.partial_kwargs["op_kwargs"]}


def pass_partition(task: Any, partition: Partition) -> None:
    """Give it to the function of *task*, if it is a Python task whose function asks for one and has been given none.

    Airflow passes what is in the context to functions that run in the task's own process. To those in another
    environment it passes arguments only, pickled.
    """
    function, arguments = getattr(task, "python_callable", None), getattr(task, "op_kwargs", None)
    if not callable(function) or not isinstance(arguments, Mapping):
        return
    signature = inspect.signature(function)
    free = NAME in signature.parameters and NAME not in signature.bind_partial(*getattr(task, "op_args", ())).arguments
    if free and arguments.get(NAME) is None:
        task.op_kwargs = {**arguments, NAME: partition}
