"""An asset whose partitions are made elsewhere."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Unpack

from airflow.sdk import Asset, AssetWatcher, task

from airflow_partitions.authoring.arrival.arrivals import Arrivals
from airflow_partitions.authoring.arrival.watcher import ArrivalTrigger
from airflow_partitions.authoring.assets.dag_arguments import DagArguments, DagOptions
from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra
from airflow_partitions.storage.consumers.ready import Ready

if TYPE_CHECKING:
    from airflow_partitions.storage.storage import Storage


def watched(
    name: str,
    files: Storage,
    *,
    ready: Ready | None = None,
    state: str | None = None,
    poke_interval: Length = timedelta(minutes=1),
    lease: Length = timedelta(minutes=15),
    limit: int = 1000,
    uri: str | None = None,
    **dag: Unpack[DagOptions],
) -> Asset:
    """The asset *name*, with an event for every partition that arrives in *files*, whoever makes it.

    .. code-block:: python

        landed = watched("landed_flights", LANDING, ready=Ready(success_file="_SUCCESS"), state="/lake/state")

        @asset(schedule=landed, partition=PartitionByInterval("@daily"))
        def daily_flights(partition): ...  # when all 24 hours have arrived

    A watcher in the triggerer looks for new partitions. When there are some it starts the Dag *name*, whose first task
    emits an event for each, with its key, and whose second records that it did: what fails in between is reported
    again. Each partition is reported once, at the start all that is there.

    :param ready: which partitions are complete; by default those with a file.
    :param state: folder that remembers what was reported; by default below the dataset. It has to be given if the
        dataset is only read.
    :param poke_interval: time between two looks: a timedelta, seconds, or text such as ``"10m"``.
    :param lease: after this time a report that was begun and not finished is made anew.
    :param limit: at most so many events from one run; the rest follows with the next.
    :param uri: of the asset; by default its name.
    :param dag: arguments for the Dag, such as ``tags``: those that :class:`.asset` takes.
    :raises InvalidDefinitionError: if the dataset has no partitions, or has credentials, which the triggerer does not
        get: give it ``conn_id=``; or for names in *dag* that are no arguments.
    """
    if files.partition is None:
        raise InvalidDefinitionError(f"storage {files.path!r} has no partitions to watch; give it partition=")
    if files.credentials and files.connection is None:
        raise InvalidDefinitionError(
            f"storage {files.path!r} has credentials, which the triggerer does not get; expected conn_id=, a role or"
            " environment instead"
        )
    arrivals = Arrivals(files, name, ready or Ready(), state, duration(lease))
    arrivals.consumer()  # what makes no sense is refused where it is written
    asset = Asset(name, uri or name)
    write_extra(asset, ProducedPartitions(files.partition))
    seconds = duration(poke_interval).total_seconds()
    trigger = ArrivalTrigger(arrivals.to_json(), seconds)
    noticed = Asset(f"{name}_noticed", watchers=[AssetWatcher(name=f"{name}_watcher", trigger=trigger)])

    with DagArguments(**dag).create(name, [noticed], max_active_runs=1):

        @task(outlets=[asset])
        def report(**context: Any) -> str:
            """Emit an event for each new partition."""
            from airflow.sdk.exceptions import AirflowSkipException

            batch = arrivals.consumer(holder=context["run_id"]).take(limit)
            if not batch:
                raise AirflowSkipException("everything was reported")
            context["outlet_events"][asset].add_partitions(batch.keys)
            return batch.id

        @task
        def confirm(batch: Any) -> None:
            """Record that the events are out; Airflow has them once the task before has succeeded."""
            arrivals.consumer().batch(batch).confirm()

        confirm(report())
    return asset
