"""Arguments of functions that Airflow fills from a logical date, which a run with a partition does not have."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_partitions.engine.runs.undated_templates import REPLACEMENTS


def undated_arguments(task: Any) -> Iterator[str]:
    """Parameters of the function of a Python *task* that are called as in :data:`.REPLACEMENTS` and not given.

    None where it is only known when the task runs what is given.
    """
    partial: Mapping[str, Any] = getattr(task, "partial_kwargs", {})

    def of(name: str) -> Any:
        return getattr(task, name, None) or partial.get(name)

    function, words, places = of("python_callable"), of("op_kwargs") or {}, of("op_args") or ()
    expanded = getattr(
        getattr(task, "op_kwargs_expand_input", None) or getattr(task, "expand_input", None), "value", {}
    )
    if not (callable(function) and isinstance(words, Mapping) and isinstance(expanded, Mapping)):
        return
    if {"op_args", "op_kwargs"} & expanded.keys():
        return
    signature = inspect.signature(function)
    given = {*words, *expanded, *signature.bind_partial(*places).arguments}
    yield from (name for name in signature.parameters if name in REPLACEMENTS.keys() - given)
