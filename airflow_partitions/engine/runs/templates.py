"""``{{ partition }}`` in the templates of any operator."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment
from jinja2.ext import Extension
from jinja2.runtime import Context
from jinja2.utils import missing

from airflow_partitions.engine.runs.dbt_bounds import dbt_end, dbt_start
from airflow_partitions.engine.runs.pre_execute import partition_of


class PartitionExtension(Extension):
    """Lets templates of a partitioned Dag say ``partition``, before the task has entered it, and its bounds for dbt."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.filters |= {"dbt_start": dbt_start, "dbt_end": dbt_end}
        environment.context_class = type("PartitionContext", (_Resolving, environment.context_class), {})


class _Resolving(Context):
    def resolve_or_missing(self, key: str) -> Any:
        value = super().resolve_or_missing(key)
        if key == "partition" and value is missing:
            known = {name: super(_Resolving, self).resolve_or_missing(name) for name in ("dag", "dag_run", "ti")}
            return partition_of({name: value for name, value in known.items() if value is not missing})
        return value
