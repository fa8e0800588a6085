"""What an operator answers to Airflow's provider for OpenLineage."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_partitions.engine.runs.run_lineage import run_lineage

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

log = logging.getLogger(__name__)


class LineageMethods:
    """The methods by which Airflow's provider for OpenLineage asks an operator. They never fail its task."""

    def get_openlineage_facets_on_start(self) -> OperatorLineage[Any, Any]:
        """What the task is going to read and to make."""
        from airflow.sdk import get_current_context

        return _told(get_current_context, is_made=True)

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """What the task was to read, and what it has made: nothing, if it was skipped."""
        from airflow.utils.state import TaskInstanceState

        is_made = task_instance.state != TaskInstanceState.SKIPPED
        return _told(task_instance.get_template_context, is_made=is_made, ended=task_instance)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """What the task was to read, and what it has made beside its own partition, in a batch."""
        return _told(task_instance.get_template_context, is_made=False, ended=task_instance)


def _told(context_of: Callable[[], Any], *, is_made: bool, ended: Any = None) -> OperatorLineage[Any, Any]:
    """What the run of a context knows, as the provider takes it.

    :param ended: the task instance, if it has ended.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage

    datasets: OperatorLineage[Any, Any] = OperatorLineage()
    try:
        from airflow_partitions.engine.runs.lineage_datasets import input_datasets, output_datasets, with_hooks

        lineage = run_lineage(context_of(), is_made=is_made)
        if lineage is not None:
            datasets = OperatorLineage(inputs=input_datasets(lineage), outputs=output_datasets(lineage))
            datasets = datasets if ended is None else with_hooks(datasets, ended)
    except Exception as error:  # the task goes on, whatever is wrong with what is told of it
        log.warning("OpenLineage is not told which partitions this task reads and makes: %s", error, exc_info=True)
    return datasets
