"""The sensor for partitions that are made elsewhere; it needs no worker while it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator

from airflow_partitions.authoring.arrival.lengths import seconds_of
from airflow_partitions.authoring.arrival.missing import missing
from airflow_partitions.authoring.arrival.trigger import PartitionTrigger
from airflow_partitions.core.dependencies import Dependency, Overlap, Rule, Selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.storage import Storage


class PartitionSensor(BaseSensorOperator):
    """Waits until partitions of a dataset are stored and complete.

    .. code-block:: python

        with DAG("report", schedule=Partitioned("@daily", PartitionByInterval("@daily"))):
            PartitionSensor(task_id="hours", files=hourly_flights, ready=Ready(success_file="_SUCCESS")) >> report()

    In a Dag with partitions it waits for those that the run's partition depends on: the 24 hours of its day. With
    *keys* it waits for these.

    :param files: the dataset, with its ``partition``.
    :param keys: key or keys to wait for, as text; templates are filled in.
    :param rule: instead of overlap, where no *keys* are given: ``Lookback(n)``, ``Window(before, after)``.
    :param ready: which partitions are complete; by default those with a file.
    :param deferrable: wait in the triggerer. It makes the file system by itself, so it must reach the dataset without
        ``credentials=``: by the dataset's ``conn_id=``, by a role, or by its environment.
    """

    template_fields: Sequence[str] = ("keys",)
    ui_color = "#91818a"

    def __init__(
        self,
        *,
        files: Storage,
        keys: str | Sequence[str] | None = None,
        rule: Rule | None = None,
        ready: Ready | None = None,
        deferrable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**seconds_of(kwargs))
        if files.partition is None:
            raise InvalidDefinitionError(f"storage {files.path!r} has no partitions to wait for; give it partition=")
        if deferrable and files.credentials and files.connection is None:
            raise InvalidDefinitionError(
                f"storage {files.path!r} has credentials, which the triggerer does not get; expected conn_id=, a role"
                " or environment instead, or deferrable=False"
            )
        self.files = files
        self.keys = keys
        self.rule = rule
        self.ready = ready or Ready()
        self.deferrable = deferrable

    def poke(self, context: Mapping[str, Any]) -> bool:
        """Whether all is there."""
        left = missing(self.files, self.selection(context), self.ready)
        if left:
            self.log.info("%s partitions of %s are missing, such as %s", len(left), self.files.path, left[0])
        return not left

    def execute(self, context: Any) -> Any:
        if not self.deferrable:
            return super().execute(context)
        if not self.poke(context):
            selection = self.selection(context)
            self.defer(
                trigger=PartitionTrigger(
                    self.files.to_json(), selection.to_json(), self.ready.to_json(), float(self.poke_interval)
                ),
                method_name="complete",
                timeout=timedelta(seconds=self.timeout),
            )
        return None

    def complete(self, context: Any, event: Mapping[str, Any]) -> None:
        """Go on when the trigger has fired."""
        self.log.info("all %s partitions of %s are there", event["partitions"], self.files.path)

    def selection(self, context: Mapping[str, Any]) -> Selection:
        """The partitions to wait for."""
        definition = self.files.layout.definition
        if self.keys is not None:
            keys = [self.keys] if isinstance(self.keys, str) else self.keys
            return Selection(definition, tuple(box for key in keys for box in Selection.of(definition, key).boxes))
        if "partition" not in context:
            raise InvalidDefinitionError(
                f"task {self.task_id!r} is in a Dag without partitions; give keys=, what to wait for"
            )
        own = context["partition"]
        dependency = Dependency(downstream=own.definition, upstream=definition, rule=self.rule or Overlap())
        return dependency.upstream(own.wrapped)
