"""The partitioned Dags that Airflow had, and can't run as they are now: each with its cause and the way out.

Airflow forgets which assets such a Dag made as soon as its file is gone or broken; the Dag's serialized form stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import DeserializationError
from cachetools import LRUCache
from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.serialized_dag import Revision, SerializedDag, revisions, serialized_dags

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

#: What the names of our timetables begin with.
OURS = "airflow_partitions."
#: What mends a Dag that another release has serialized.
WRITTEN_ANEW = "'airflow dags reserialize', or a start of the Dag processor, writes it anew"
_SHOWN_LINES = 5
_WORK: LRUCache[Revision, Work] = LRUCache(maxsize=10_000)


class Cause(StrEnum):
    """Why Airflow can't run a Dag."""

    IMPORT_ERROR = "import-error"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@attrs.frozen
class Work:
    """What a Dag did.

    :ivar tasks: the ids of the tasks that write an asset, by its name.
    :ivar awaits: the names of the assets that it waits for.
    """

    tasks: Mapping[str, Sequence[str]] = attrs.field(factory=dict, hash=False)
    awaits: frozenset[str] = frozenset()

    @classmethod
    def of(cls, dag: SerializedDag) -> Work:
        """That of a *dag*, as far as it can be read."""
        tasks: Mapping[str, Sequence[str]] = {}
        awaits = frozenset[str]()
        with suppress(DeserializationError):
            tasks = dag.writing_tasks
        with suppress(DeserializationError):
            if isinstance(dag.timetable, Partitioned) and dag.timetable.upstreams is not None:
                awaits = frozenset(dag.timetable.upstreams.leaves)
        return cls(tasks, awaits)


@attrs.frozen
class AbsentDag:
    """A Dag that Airflow can't run as it is now.

    :ivar file: where it was read, inside its bundle.
    :ivar error: the last lines of what importing the file, or reading the Dag, ended with; ``None`` if nothing did.
    """

    dag_id: str
    cause: Cause
    file: str
    error: str | None = None
    work: Work = attrs.field(factory=Work, eq=False, repr=False)

    @property
    def why(self) -> str:
        """What is the matter, as the end of a sentence that begins with the file or the Dag."""
        last = (self.error or "").splitlines()[-1:]
        told = f": {last[0].strip()}" if last else ""
        if self.cause is Cause.IMPORT_ERROR:
            return f"{self.file}, which can't be imported{told}"
        if self.cause is Cause.MISSING:
            return f"Dag {self.dag_id!r} of {self.file}, which is gone, or has that Dag no longer"
        return f"Dag {self.dag_id!r} of {self.file}, which can't be read{told}; {WRITTEN_ANEW}"

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "dag_id": self.dag_id,
            "cause": str(self.cause),
            "file": self.file,
            "error": self.error,
            "text": f"made by {self.why}",
        }


@attrs.frozen
class ImportFailure:
    """A file that can't be imported.

    :ivar dag_ids: the Dags that were read there, partitioned or not.
    :ivar error: the last lines of what it ended with.
    """

    file: str
    dag_ids: frozenset[str]
    error: str


def absent_dags() -> dict[str, AbsentDag]:
    """The partitioned Dags whose files are gone or broken, by id."""
    with open_connection() as connection:
        rows = connection.execute(_stale_dags()).all()
        if not rows:
            return {}
        errors = _import_errors(connection)
    work = _work({row.dag_id for row in rows})
    absent: dict[str, AbsentDag] = {}
    for dag_id, bundle, relative, path, is_broken in rows:
        file, error = relative or path or "an unknown file", errors.get((bundle, relative))
        cause = Cause.IMPORT_ERROR if is_broken or error is not None else Cause.MISSING
        absent[dag_id] = AbsentDag(dag_id, cause, file, error, work.get(dag_id, Work()))
    return absent


def unreadable_dag(dag_id: str, error: BaseException | None) -> AbsentDag:
    """A Dag that Airflow has, and whose serialized form can't be read for an *error*."""
    from airflow.models.dag import DagModel

    with open_connection() as connection:
        query = select(DagModel.relative_fileloc, DagModel.fileloc).where(DagModel.dag_id == dag_id)
        row = connection.execute(query).one_or_none()
    file = "an unknown file" if row is None else row.relative_fileloc or row.fileloc or "an unknown file"
    text = "it has no serialized form" if error is None else str(error.__cause__ or error)
    return AbsentDag(dag_id, Cause.UNREADABLE, file, last_lines(text))


def import_failures() -> list[ImportFailure]:
    """The files that can't be imported, by name."""
    from airflow.models.dag import DagModel

    with open_connection() as connection:
        errors = _import_errors(connection)
        dag_ids: dict[tuple[str | None, str | None], set[str]] = {place: set() for place in errors}
        files = sorted({file for _, file in errors if file is not None})
        for portion in portions(files):
            query = select(DagModel.bundle_name, DagModel.relative_fileloc, DagModel.dag_id)
            for bundle, file, dag_id in connection.execute(query.where(DagModel.relative_fileloc.in_(portion))):
                if (bundle, file) in dag_ids:
                    dag_ids[bundle, file].add(dag_id)
    failures = (
        ImportFailure(place[1] or "a file", frozenset(dag_ids[place]), error) for place, error in errors.items()
    )
    return sorted(failures, key=lambda failure: failure.file)


def last_lines(error: str) -> str:
    """The last lines of an *error*: a stack trace says there what is wrong."""
    lines = [line.rstrip() for line in error.splitlines() if line.strip()]
    return "\n".join(lines[-_SHOWN_LINES:])


@cache
def _stale_dags() -> Select[str, str, str | None, str | None, bool | None]:
    from airflow.models.dag import DagModel

    columns = DagModel.dag_id, DagModel.bundle_name, DagModel.relative_fileloc, DagModel.fileloc
    return (
        select(*columns, DagModel.has_import_errors)
        .where(DagModel.is_stale.is_(True), DagModel.timetable_type.startswith(OURS, autoescape=True))
        .order_by(DagModel.dag_id)
    )


def _import_errors(connection: Connection) -> dict[tuple[str | None, str | None], str]:
    """The last lines of import errors, by bundle and file."""
    from airflow.models.errors import ParseImportError

    query = select(ParseImportError.bundle_name, ParseImportError.filename, ParseImportError.stacktrace)
    return {(bundle, file): last_lines(trace or "") for bundle, file, trace in connection.execute(query)}


def _work(dag_ids: Collection[str]) -> dict[str, Work]:
    """What Dags did, by their ids; of a form that is as before nothing is read."""
    found: list[Revision] = []
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            found += (Revision(*row) for row in connection.execute(revisions(of_some=True), {"dag_ids": portion}))
    unread = {revision.dag_id: revision for revision in found if revision not in _WORK}
    for dag in serialized_dags(unread):
        _WORK[unread[dag.dag_id]] = Work.of(dag)
    return {revision.dag_id: _WORK[revision] for revision in found if revision in _WORK}
