"""The partitions of an asset that a task is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_partitions.core.dependencies import Dependency, Overlap, Rule, Selection
from airflow_partitions.core.dependencies.selection_text import parse_selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.runs.materialized import AssetHistory

Keys = Selection | str | Sequence[str] | None


def check_keys(task_id: str, keys: Keys, rule: Rule | None) -> None:
    """Refuse *keys* together with a *rule*.

    :raises InvalidDefinitionError: naming both.
    """
    if keys is not None and rule is not None:
        raise InvalidDefinitionError(
            f"task {task_id!r} has keys={keys!r} and rule={rule!r}; expected keys=, which partitions are meant, or"
            " rule=, by which the run's own partition says it"
        )


def selected(context: Mapping[str, Any], history: AssetHistory, keys: Keys, rule: Rule | None) -> Selection:
    """The partitions that *keys* name, or else those that the run's own one needs.

    :param keys: a selection, its text, or keys as text.
    :param rule: instead of overlap.
    :raises InvalidDefinitionError: if nothing says which are meant.
    """
    if isinstance(keys, Selection):
        return keys
    if isinstance(keys, str):
        return parse_selection(history.definition, keys, closed_by=context["dag_run"].run_after)
    if keys is not None:
        return Selection.of(history.definition, *keys)
    if "partition" not in context:
        raise InvalidDefinitionError(
            f"task {context['task'].task_id!r} is in a Dag without partitions; give keys=, which partitions are meant"
        )
    own = context["partition"]
    dependency = Dependency(downstream=own.definition, upstream=history.definition, rule=rule or Overlap())
    return dependency.upstream(own.wrapped, now=context["dag_run"].run_after)
