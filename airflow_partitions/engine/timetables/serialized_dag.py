"""Dags as Airflow keeps them, read as far as they are asked for: a whole Dag takes a hundred times its timetable."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import cache, cached_property
from graphlib import TopologicalSorter
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVarTuple
from uuid import UUID

import attrs
from airflow.exceptions import DeserializationError
from airflow.serialization.decoders import decode_timetable
from airflow.serialization.enums import Encoding
from airflow.serialization.serialized_objects import BaseSerialization, DagSerialization
from cachetools import LRUCache
from sqlalchemy import bindparam, func, select

from airflow_partitions.engine.database.connection import open_connection, open_session, portions

if TYPE_CHECKING:
    from sqlalchemy import Select


_LOCK = Lock()
_Columns = TypeVarTuple("_Columns")


class Revision(NamedTuple):
    """Which form of a Dag the database has: another form has another revision.

    :ivar id: of its row.
    """

    dag_id: str
    id: UUID
    digest: str
    written_at: datetime


_FORMS: LRUCache[Revision, Any] = LRUCache(maxsize=2_000)


@attrs.frozen(slots=False)
class SerializedDag:
    """A Dag, as it was serialized last."""

    dag_id: str
    _form: Any = attrs.field(repr=False)

    @property
    def timetable_form(self) -> Any:
        """JSON form of its timetable."""
        return self._form["dag"]["timetable"]

    @property
    def file(self) -> str | None:
        """Its file, from the folder of its bundle; ``None`` if that is not kept."""
        file: str | None = self._form["dag"].get("relative_fileloc")
        return file

    @property
    def description(self) -> str | None:
        """What its author says of it: its documentation, or else its description."""
        own = self._form["dag"]
        return (own.get("doc_md") or own.get("description") or "").strip() or None

    @cached_property
    def timetable(self) -> Any:
        """Its timetable.

        :raises DeserializationError: if it can't be read.
        """
        try:
            return read_timetable(self.timetable_form)
        except Exception as error:  # another release has written it, or a plugin is not there
            raise DeserializationError(self.dag_id) from error

    @cached_property
    def outlets(self) -> tuple[Any, ...]:
        """What its tasks write: assets, and references to them.

        :raises DeserializationError: if that can't be read.
        """
        return tuple(outlet for _, outlet in self._written)

    @cached_property
    def writing_tasks(self) -> dict[str, list[str]]:
        """The ids of the tasks that write an asset, by its name.

        :raises DeserializationError: if that can't be read.
        """
        tasks: dict[str, list[str]] = {}
        for task_id, outlet in self._written:
            if (name := getattr(outlet, "name", None)) is not None:
                tasks.setdefault(name, []).append(task_id)
        return tasks

    @cached_property
    def _written(self) -> tuple[tuple[str, Any], ...]:
        """What its tasks write, each with the id of the task."""
        try:
            tasks = [task[Encoding.VAR] for task in self._form["dag"]["tasks"]]
            own = [(task["task_id"], task["partial_kwargs"] if task.get("_is_mapped") else task) for task in tasks]
            return tuple(
                (task_id, BaseSerialization.deserialize(form))
                for task_id, task in own
                for form in task.get("outlets") or ()
            )
        except Exception as error:
            raise DeserializationError(self.dag_id) from error

    @cached_property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of its tasks, each after those that it waits for.

        :raises DeserializationError: if they can't be read.
        """
        try:
            tasks = [task[Encoding.VAR] for task in self._form["dag"]["tasks"]]
            order = TopologicalSorter[str]({task["task_id"]: () for task in tasks})
            for task in tasks:
                for task_id in task.get("downstream_task_ids") or ():
                    order.add(task_id, task["task_id"])
            return tuple(order.static_order())
        except Exception as error:
            raise DeserializationError(self.dag_id) from error

    @property
    def connections(self) -> frozenset[str]:
        """The connections of Airflow that its tasks name by arguments that end with ``conn_id``; none by a template."""
        tasks = [task.get(Encoding.VAR, {}) for task in self._form["dag"].get("tasks", ())]
        return frozenset(
            value
            for task in tasks
            for own in (task, task.get("partial_kwargs") or {})
            for name, value in own.items()
            if name.endswith("conn_id") and isinstance(value, str) and value and "{{" not in value
        )

    @cached_property
    def whole(self) -> Any:
        """All of it, with its tasks.

        :raises DeserializationError: if it can't be read.
        """
        return DagSerialization.from_dict(self._form)


def read_timetable(form: Any) -> Any:
    """A timetable by its JSON *form*, as a loop of the scheduler reads it."""
    return decode_timetable(form)


def serialized_dags(dag_ids: Collection[str]) -> list[SerializedDag]:
    """Those of the Dags that Airflow has, by id."""
    dags: list[SerializedDag] = []
    with open_session() as session:
        for portion in portions(sorted(dag_ids)):
            rows = session.scalars(_rows(), {"dag_ids": portion})
            dags += (SerializedDag(row.dag_id, row.data) for row in sorted(rows, key=lambda row: row.dag_id))
    return dags


def read_timetables(dag_ids: Collection[str]) -> tuple[dict[str, Any], dict[str, DeserializationError]]:
    """The timetables of those of the Dags that Airflow has, by id, and why those of the others can't be read.

    Of a Dag that is as before only the form is kept, since a timetable remembers what it has looked up.
    """
    with open_connection() as connection:
        found = [
            Revision(*row)
            for portion in portions(sorted(dag_ids))
            for row in connection.execute(revisions(of_some=True), {"dag_ids": portion})
        ]
    with _LOCK:
        forms = {revision: _FORMS[revision] for revision in found if revision in _FORMS}
    unread = {revision.dag_id: revision for revision in found if revision not in forms}
    timetables: dict[str, Any] = {}
    errors: dict[str, DeserializationError] = {}
    for dag in serialized_dags(unread):
        try:
            timetables[dag.dag_id] = dag.timetable
        except DeserializationError as error:
            errors[dag.dag_id] = error
        else:
            with _LOCK:
                _FORMS[unread[dag.dag_id]] = dag.timetable_form
    for revision, form in forms.items():
        timetables[revision.dag_id] = read_timetable(form)
    return timetables, errors


@cache
def revisions(*, of_some: bool = False) -> Select[str, UUID, str, datetime]:
    """The query for the columns of the :class:`Revision` of each Dag; the forms themselves are not read.

    :param of_some: whether of those Dags alone that are named as ``dag_ids``, not more than a statement may name.
    """
    from airflow.models.serialized_dag import SerializedDagModel as Row

    columns = select(Row.dag_id, Row.id, Row.dag_hash, Row.last_updated)
    return _newest(columns, of_some=of_some)


@cache
def _rows() -> Select[Any]:
    """The query for the newest row of each of the Dags ``dag_ids``."""
    from airflow.models.serialized_dag import SerializedDagModel as Row

    return _newest(select(Row), of_some=True)


def _newest(rows: Select[*_Columns], *, of_some: bool) -> Select[*_Columns]:
    from airflow.models.dag_version import DagVersion
    from airflow.models.serialized_dag import SerializedDagModel as Row

    versions = (
        select(DagVersion.dag_id, func.max(DagVersion.version_number).label("number"))
        .join(Row, Row.dag_version_id == DagVersion.id)
        .group_by(DagVersion.dag_id)
    )
    if of_some:
        versions = versions.where(DagVersion.dag_id.in_(bindparam("dag_ids", expanding=True)))
    newest = versions.subquery()
    return rows.join(DagVersion, DagVersion.id == Row.dag_version_id).join(
        newest, (newest.c.dag_id == DagVersion.dag_id) & (newest.c.number == DagVersion.version_number)
    )
