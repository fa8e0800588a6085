"""Names in templates that a run with a partition does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables

#: What Airflow derives from a logical date, which partitioned runs have not, and what to write instead.
REPLACEMENTS = {
    "ds": "partition.start | ds",
    "ds_nodash": "partition.start | ds_nodash",
    "ts": "partition.start | ts",
    "ts_nodash": "partition.start | ts_nodash",
    "ts_nodash_with_tz": "partition.start | ts_nodash_with_tz",
    "logical_date": "partition.start",
    "data_interval_start": "partition.start",
    "data_interval_end": "partition.end",
    "prev_data_interval_start_success": "partition.previous.start",
    "prev_data_interval_end_success": "partition.previous.end",
}


def undated_names(task: Any, environment: Environment) -> Iterator[tuple[str, str]]:
    """Template fields of *task*, each with a name in :data:`REPLACEMENTS` that it uses.

    :param environment: of the Dag, with its own macros and filters.
    """
    arguments = getattr(task, "partial_kwargs", None)
    for field in task.template_fields:
        value = getattr(task, field, None) if arguments is None else arguments.get(field)
        for text in _texts(value):
            for name in sorted(_names(text, environment) - environment.globals.keys()):
                yield field, name


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple | set):
        for part in value:
            yield from _texts(part)


def _names(text: str, environment: Environment) -> set[str]:
    """The names of the template *text*; none if it asks itself whether there are any."""
    if "{" not in text or not any(name in text for name in REPLACEMENTS):
        return set()
    try:
        tree = environment.parse(text)
        if any(test.name in ("defined", "undefined") for test in tree.find_all(nodes.Test)):
            return set()
        if any(test.name in ("default", "d") for test in tree.find_all(nodes.Filter)):
            return set()
        return find_undeclared_variables(tree) & REPLACEMENTS.keys()
    except TemplateSyntaxError:  # told when it is rendered
        return set()
