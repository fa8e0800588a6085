"""Arguments of functions that Airflow fills from a logical date, which a run with a partition does not have."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_partitions.engine.runs.undated_templates import REPLACEMENTS


def undated_arguments(task: Any) -> Iterator[str]:
    """Parameters of the function of a Python *task* that are called as in :data:`.REPLACEMENTS` and not given."""
    partial = getattr(task, "partial_kwargs", {})
    function = getattr(task, "python_callable", None) or partial.get("python_callable")
    if not callable(function):
        return
    given = {*_names(getattr(task, "op_kwargs", None)), *_names(partial.get("op_kwargs"))}
    expanded = getattr(task, "op_kwargs_expand_input", None)
    given |= _names(getattr(expanded, "value", None))
    yield from (name for name in inspect.signature(function).parameters if name in REPLACEMENTS.keys() - given)


def _names(arguments: Any) -> set[str]:
    return set(arguments) if isinstance(arguments, Mapping) else set()
