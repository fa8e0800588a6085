"""The deadline of a run by its partition, for Airflow's deadline alerts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk.definitions.deadline import REFERENCE_TYPE_FIELD, BaseDeadlineReference

from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.errors import InvalidKeyError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

# Who asks for old partitions, or for one again, has not missed the deadline of these.
_BY_THEMSELVES = "scheduled", "asset_triggered"


class PartitionDeadline(BaseDeadlineReference):
    """A deadline for each partition: a time of day, or so long, after the end of its interval.

    .. code-block:: python

        @asset(schedule="@daily", partition=PartitionByInterval("@daily", timezone="America/New_York"),
               deadline=DeadlineAlert(PartitionDeadline("06:00"), timedelta(0), AsyncCallback(alert)))
        def daily_flights(partition): ...

    Runs that a schedule or an upstream has started have it, unless their partition was materialized before. What has no
    run yet when it is due is told by ``airflow asset-partitions doctor``.

    :param by: a time of day in the zone of the partitions, as ``"06:00"``: the first one from the end of the interval
        on; or a timedelta after the end.
    :param days: so many days later.
    :raises InvalidDefinitionError: if it is neither.
    """

    required_kwargs = {"dag_id", "run_id"}  # noqa: RUF012 - as Airflow reads it

    def __init__(self, by: str | timedelta = timedelta(0), days: int = 0) -> None:
        self.due_time = DueTime(by, days)

    def serialize_reference(self) -> dict[str, Any]:
        """The form that Airflow keeps."""
        return {REFERENCE_TYPE_FIELD: self.reference_name, **self.due_time.to_json()}

    @classmethod
    def deserialize_reference(cls, reference_data: dict[str, Any]) -> PartitionDeadline:
        """The inverse of :meth:`serialize_reference`."""
        due_time = DueTime.from_json(reference_data)
        return cls(due_time.by, due_time.days)

    def _evaluate_with(self, *, session: Session, dag_id: str, run_id: str) -> datetime | None:
        """When the partition of a run is due; ``None`` if the run has no deadline."""
        from airflow.models.dagrun import DagRun
        from sqlalchemy import select

        from airflow_partitions.engine.ledger.ledger import materialized_times
        from airflow_partitions.engine.ledger.producers import outlets
        from airflow_partitions.engine.timetables.serialized_dag import serialized_dags

        query = select(DagRun.partition_key, DagRun.run_type).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)
        run = session.execute(query).one_or_none()
        if run is None or run.partition_key is None or str(run.run_type) not in _BY_THEMSELVES:
            return None
        dag = next(iter(serialized_dags([dag_id])), None)
        definition = None if dag is None else getattr(dag.timetable, "partition", None)
        if definition is None:
            return None
        try:
            key = definition.parse(run.partition_key)
        except InvalidKeyError:  # of an older definition
            return None
        interval = definition.interval_of(key)
        if interval is None:
            return None
        if any(materialized_times(asset, definition, {run.partition_key: key}) for asset in outlets(dag_id)):
            return None
        return self.due_time.of(interval)
