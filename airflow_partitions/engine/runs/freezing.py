"""Inputs that are the same for all tasks of a Dag run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.input import Input
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow.sdk import Context

#: XCom of a task that freezes its inputs: on whose behalf they were listed.
LISTED = "airflow_partitions_listed"
#: States of tasks that will not read again.
_DONE = frozenset({"success", "skipped", "removed"})


@attrs.frozen
class Freezing:
    """How a task takes part in the listings of its Dag run.

    They are made on behalf of the run since it was started. A task that is tried again, or cleared together with
    others, finds what a task that has succeeded read. When all tasks were cleared none has: the run lists anew.

    :ivar name: on whose behalf the inputs are listed.
    :ivar folder: where the listings are kept; ``None`` for beside the data.
    :ivar first: whether no task of the run has succeeded with them.
    :ivar others: ids of the other tasks of the run that freeze their inputs.
    """

    name: str
    folder: str | None
    first: bool
    others: Collection[str]

    @classmethod
    def asked_for(cls, context: Context, freeze: bool | str) -> Freezing | None:
        """How the task of *context*, which says *freeze*, takes part; ``None`` if it does not.

        :param freeze: as the parameter of a task: the path of a folder keeps the listings there.
        """
        if not freeze:
            return None
        own = context["ti"].task_id
        others = [t.task_id for t in context["dag"].tasks if t.task_id != own and getattr(t, "freeze", False)]
        return cls.of(context, others, freeze if isinstance(freeze, str) else None)

    @classmethod
    def of(cls, context: Context, others: Collection[str], folder: str | None) -> Freezing:
        """How the task of *context* takes part, besides the tasks *others*."""
        instance, run = context["ti"], context["dag_run"]
        done = [task for task, state in _states(context, others).items() if state == "success"]
        listings = (instance.xcom_pull(task_ids=task, key=LISTED) for task in done)
        listing = next(filter(None, listings), None)
        name = listing or f"{run.dag_id} {run.run_id} {run.start_date}"
        instance.xcom_push(LISTED, name)
        return cls(name, folder, listing is None, others)

    def freeze(self, inputs: Mapping[str, Input]) -> dict[str, Input]:
        """The *inputs* as they were when the first task of the run listed them.

        :raises MissingInputError: if a partition is not stored.
        :raises StorageError: if a listing can't be kept.
        """
        if self.first:  # what is not there yet may come: a listing without it would stand in the way of later tries
            for source in inputs.values():
                source.stored()
        return {name: self._frozen(source) for name, source in inputs.items()}

    def release(self, context: Context, inputs: Mapping[str, Input]) -> None:
        """Remove the listings of *inputs*, if all other tasks that freeze theirs are done."""
        if set(_states(context, self.others).values()) <= _DONE:
            for source in inputs.values():
                source.storage.release()

    def _frozen(self, source: Input) -> Input:
        if not open_backend(source.storage).is_freezable:
            return source
        return attrs.evolve(source, storage=source.storage.freeze(self.name, folder=self.folder))


def _states(context: Context, tasks: Collection[str]) -> dict[str, str | None]:
    """States of *tasks* of the run at hand."""
    if not tasks:
        return {}
    run = context["dag_run"]
    runs = context["ti"].get_task_states(dag_id=run.dag_id, task_ids=list(tasks), run_ids=[run.run_id])
    states: dict[str, str | None] = runs.get(run.run_id, {})
    return states


def check_freeze(freeze: bool | str, inputs: Mapping[str, Storage], asset: str) -> None:
    """Refuse to keep listings beside the data of others.

    :param freeze: as the parameter of the task that makes *asset*.
    :raises InvalidDefinitionError: naming the input.
    """
    if freeze is not True:
        return
    for name, storage in inputs.items():
        if storage.ownership is Ownership.READ_ONLY and open_backend(storage).is_freezable:
            raise InvalidDefinitionError(
                f"asset {asset!r}: input {name!r} has ownership='read-only', nothing is written there;"
                " expected freeze='/lake/listings', a folder of your own that all tasks, and drivers of Spark, see"
            )
