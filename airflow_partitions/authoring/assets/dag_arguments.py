"""Airflow's own arguments for a Dag, as the makers of assets take them and pass them on."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from difflib import get_close_matches
from inspect import signature
from typing import TYPE_CHECKING, Any, Self, TypedDict

import attrs
from airflow.sdk import DAG, BaseOperator

from airflow_partitions.core.errors import InvalidDefinitionError

if TYPE_CHECKING:
    from airflow.sdk.definitions.deadline import DeadlineAlert
    from airflow.sdk.definitions.param import ParamsDict


class DagOptions(TypedDict, total=False):
    """The fields of :class:`DagArguments`, for functions that take them as keyword arguments."""

    dag_id: str | None
    dag_display_name: str | None
    description: str | None
    is_paused_upon_creation: bool | None
    start_date: datetime | None
    end_date: datetime | None
    max_active_runs: int | None
    max_active_tasks: int | None
    default_args: dict[str, Any]
    pool: str | None
    pool_slots: int | None
    params: ParamsDict | dict[str, Any] | None
    on_success_callback: Any
    on_failure_callback: Any
    access_control: dict[str, dict[str, Collection[str]]] | None
    owner_links: dict[str, str]
    tags: Collection[str]
    deadline: DeadlineAlert | list[DeadlineAlert] | None


_ADVICE = {
    "catchup": "the Dag of an asset makes the newest tick only. Ask for a backfill of what is before it, or write"
    " DAG(catchup=True, schedule=Partitioned(…))",
    "timezone": "give it to the partition: PartitionByInterval(…, timezone=…); presets and crons in schedule follow it",
    "start": "give it to the partition: PartitionByInterval(…, start=…)",
    "outlets": "an asset's function writes that asset; several are made by @asset.multi(outlets=[…])",
}


@attrs.define(kw_only=True)
class DagArguments:
    """Arguments that mean what they mean for a Dag of Airflow."""

    dag_id: str | None = None
    dag_display_name: str | None = None
    description: str | None = None
    is_paused_upon_creation: bool | None = None
    start_date: datetime | None = None
    end_date: datetime | None = None
    max_active_runs: int | None = None
    max_active_tasks: int | None = None
    default_args: dict[str, Any] = attrs.field(factory=dict)
    pool: str | None = None
    pool_slots: int | None = None
    params: ParamsDict | dict[str, Any] | None = None
    on_success_callback: Any = None
    on_failure_callback: Any = None
    access_control: dict[str, dict[str, Collection[str]]] | None = None
    owner_links: dict[str, str] = attrs.field(factory=dict)
    tags: Collection[str] = ()
    deadline: DeadlineAlert | list[DeadlineAlert] | None = None

    def __new__(cls, *unnamed: Any, **options: Any) -> Self:
        """Refuse arguments that there are none of, before Python does.

        :raises InvalidDefinitionError: naming the way to say it, or the nearest argument.
        """
        if unnamed:
            raise InvalidDefinitionError(
                f"{unnamed[0]!r} has no name; expected arguments by their names, such as"
                f" @{cls.__name__}(schedule='@daily', partition=PartitionByInterval('@daily'))"
            )
        names = [field.alias for field in attrs.fields(cls)]
        for name in options:
            if name not in names:
                raise InvalidDefinitionError(f"{name!r} is no argument here; {advice(name, names)}")
        return super().__new__(cls)

    def create(
        self, name: str, schedule: Any, *, max_active_runs: int | None = None, docstring: str | None = None
    ) -> DAG:
        """The Dag.

        :param name: its id, where none is given.
        :param max_active_runs: of a Dag whose author gives no number.
        :param docstring: documents the Dag; its first line is the description of one whose author gives none.
        """
        dag_id = self.dag_id or name
        runs = max_active_runs if self.max_active_runs is None else self.max_active_runs
        arguments = {field.name: getattr(self, field.name) for field in attrs.fields(DagArguments)}
        of_tasks = {name: arguments.pop(name) for name in ("pool", "pool_slots")}
        arguments |= {
            "dag_id": dag_id,
            "dag_display_name": self.dag_display_name or dag_id,
            "max_active_runs": runs,
            "description": self.description or (docstring and docstring.splitlines()[0]),
            "doc_md": docstring and f"{docstring}\n",  # a text that ends in .md would be taken for a file
            "default_args": self.default_args | {name: value for name, value in of_tasks.items() if value is not None},
        }
        arguments = {name: value for name, value in arguments.items() if value is not None}
        return DAG(schedule=schedule, catchup=False, auto_register=True, **arguments)


def advice(name: str, names: list[str]) -> str:
    """What to write instead of an argument that there is none of; *names* are those that there are."""
    if name in _ADVICE:
        return _ADVICE[name]
    if name in signature(BaseOperator).parameters:
        return f"it is one of a task: default_args={{{name!r}: …}}"
    return f"nearest: {', '.join(get_close_matches(name, names) or names)}"
