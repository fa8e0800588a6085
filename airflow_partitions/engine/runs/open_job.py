"""What a job of any engine is told: the partitions that it may read, and where this try may write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError, MissingPartitionError, ResultError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.input import Input
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.sql.dialect import dialect_of
from airflow_partitions.storage.sql.where import sql_condition
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.open import open_staging, staging_of

if TYPE_CHECKING:
    from airflow_partitions.storage.stores.staging import Staging

#: XCom of a task: by the name of an asset, which try has staged its partition, and since which commit.
STAGED = "airflow_partitions_staged"
_PASTES = "expected it in a template, or in the function, of a task of the run"


@attrs.frozen
class StagedBy:
    """Who has staged a partition.

    :ivar attempt: the run and try.
    :ivar base: number of the last commit when the place was made.
    """

    attempt: Attempt
    base: int | None

    def to_json(self) -> dict[str, Any]:
        """JSON form, which goes into an XCom."""
        return {"attempt": self.attempt.to_json(), "base": self.base}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> StagedBy:
        """The inverse of :meth:`to_json`."""
        return cls(Attempt(**form["attempt"]), form["base"])

    def place(self, storage: Storage, partition: Partition) -> Staging:
        """Where that is, in *storage*."""
        return staging_of(storage, self.attempt, storage.layout.directory_of(partition.wrapped), self.base)


@attrs.frozen
class OpenJob:
    """The job of a task, whatever runs it.

    :ivar partition: the partition of the run.
    :ivar context: of the run, with its ``dag`` and ``dag_run``, and with ``ti`` where a task runs.
    """

    partition: Partition
    context: Mapping[str, Any]

    def paths(self, name: str) -> list[str]:
        """The files of the partitions of the input *name* that the run may read: local paths, or URLs.

        Storage without partitions is one path, its own.

        :raises InvalidDefinitionError: if no task of the Dag has such an input.
        :raises MissingInputError: if a partition is not stored.
        :raises FilterError: if it is a table.
        """
        source = self._input(name)
        if source.selection is None:
            return [source.storage.path]
        return open_backend(source.storage).paths(source.stored().values())

    def where(self, name: str, dialect: str = "ansi") -> str:
        """The same partitions as a condition on the columns of a table of the input.

        :param dialect: of SQL: ``ansi``, ``spark``, ``duckdb``, ``trino``, ``bigquery`` or ``snowflake``.
        :raises InvalidDefinitionError: if there is no such input or dialect.
        :raises MissingInputError: if a partition is not stored.
        :raises FilterError: if no columns tell its partitions apart.
        """
        words, source = dialect_of(dialect), self._input(name)
        source.stored()
        if source.selection is None:
            return "TRUE"
        return sql_condition(open_backend(source.storage).where(source.selection), words)

    def staging(self, asset: str | None = None) -> str:
        """The folder that this try of the task may write to, made when it is first asked for.

        :param asset: whose partition is staged there; needed where a Dag publishes those of several.
        :raises InvalidDefinitionError: if nothing publishes what is staged there after this task.
        :raises StorageError: if it can't be made.
        """
        return str(self._place(self._publisher(asset)).data)

    def staging_table(self, asset: str | None = None) -> str:
        """The name of the table that this try of the task may insert into, which is made when it is first asked for.

        :param asset: whose partition is staged there; needed where a Dag publishes those of several.
        :raises InvalidDefinitionError: if nothing publishes what is staged there after this task, or it is no table.
        :raises StorageError: if it can't be made.
        """
        publisher = self._publisher(asset)
        return open_backend(publisher.stored_as(self.partition)).announce(self._place(publisher).data)

    def _place(self, publisher: Any) -> Staging:
        """Where this try of the task stages what *publisher* publishes."""
        instance = self._instance()
        own = instance.task_id
        if own not in publisher.get_flat_relative_ids(upstream=True):
            raise InvalidDefinitionError(
                f"task {own!r} stages a partition of {publisher.asset_name!r}, which {publisher.task_id!r} does not"
                f" wait for; expected {own} >> {publisher.task_id}"
            )
        if instance.map_index not in (None, -1):
            raise InvalidDefinitionError(
                f"task {own!r} is mapped (map index {instance.map_index}), and each of its instances would have a place"
                f" of its own; expected one task that stages the partition of {publisher.asset_name!r}: let the mapped"
                " ones write elsewhere, and one put it together"
            )
        storage = publisher.stored_as(self.partition)
        staged = dict(instance.xcom_pull(task_ids=own, key=STAGED) or {})
        if (form := staged.get(publisher.asset_name)) is not None:  # of this try: Airflow clears those of earlier ones
            return StagedBy.from_json(form).place(storage, self.partition)
        attempt = Attempt(instance.dag_id, instance.run_id, instance.try_number)
        place = open_staging(storage, attempt, storage.layout.directory_of(self.partition.wrapped))
        if isinstance(place.data, Path):
            for folder in [place.data / member for member in storage.members] or [place.data]:
                folder.mkdir(parents=True, exist_ok=True)
        staged[publisher.asset_name] = StagedBy(attempt, place.base).to_json()
        instance.xcom_push(STAGED, staged)
        return place

    def _input(self, name: str) -> Input:
        makers = [task for task in self._tasks() if callable(getattr(task, "needed_by", None))]
        names: list[str] = []
        for maker in makers:
            inputs = maker.needed_by(self.partition, self.context["dag_run"].run_after)
            if name in inputs:
                found: Input = inputs[name]
                return found
            names += inputs
        nearest = f"nearest: {nearest_texts(name, names)[0]}, of: {', '.join(names)}" if names else "there is none"
        made = ", ".join(sorted({maker.asset_name for maker in makers})) or "any task of the Dag"
        raise InvalidDefinitionError(
            f"{name!r} is no input of {made}; {nearest}; expected inputs={{{name!r}: …}} in Publish(…), or in the"
            " declaration of the asset"
        )

    def _publisher(self, asset: str | None) -> Any:
        publishers = {task.asset_name: task for task in self._tasks() if callable(getattr(task, "stored_as", None))}
        if asset is not None and asset not in publishers:
            nearest = f"; nearest: {nearest_texts(asset, publishers)[0]}" if publishers else ""
            raise InvalidDefinitionError(
                f"nothing publishes what is staged of asset {asset!r}{nearest}; expected Publish(asset={asset!r}, …) as"
                " a task behind this one"
            )
        if not publishers:
            raise InvalidDefinitionError(
                f"Dag {self.context['dag'].dag_id!r} publishes nothing that is staged; expected Publish(asset=…, …) as"
                " a task behind this one"
            )
        if asset is None and len(publishers) > 1:
            raise InvalidDefinitionError(
                f"Dag {self.context['dag'].dag_id!r} publishes partitions of several assets; expected"
                f" partition.staging_of(…) with one of: {', '.join(sorted(publishers))}"
            )
        return publishers[asset] if asset is not None else next(iter(publishers.values()))

    def _tasks(self) -> list[Any]:
        dag = self.context.get("dag")
        if dag is None:
            raise MissingPartitionError(f"partition {self.partition.text!r} is of no run here; {_PASTES}")
        return list(dag.tasks)

    def _instance(self) -> Any:
        instance = self.context.get("ti")
        if instance is None or not hasattr(instance, "xcom_push"):
            raise ResultError(f"no task runs here that could stage partition {self.partition.text!r}; {_PASTES}")
        return instance
