"""Pre-execute hook of the tasks of a partitioned Dag."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.definitions import PartitionAtRuntime
from airflow_partitions.core.definitions.runtime import KEY_LIST, LISTED
from airflow_partitions.core.errors import InvalidKeyError, MissingPartitionError
from airflow_partitions.engine.runs.run_partition import RunPartition
from airflow_partitions.engine.runs.runtime_key import KeyReader, additions, listing

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition


def partition_of(context: Mapping[str, Any]) -> RunPartition:
    """The partition of the run that *context* belongs to.

    :raises MissingPartitionError: if the run has no key, for example because it was cleared.
    :raises InvalidKeyError: if the Dag's definition has changed and has the key no longer.
    """
    timetable, run = context["dag"].timetable, context["dag_run"]
    definition: PartitionDefinition = timetable.partition
    if run.partition_key is None:
        raise MissingPartitionError(
            f"run {run.run_id!r} has no partition_key: it was cleared, or the run is one of 'airflow dags test', which"
            f" gives none. Trigger a run with a key of {definition!r}, or try one by 'airflow asset-partitions test'"
        )
    if LISTED.get(None) is None:  # templates are rendered before the task has entered the partition
        LISTED.set(listing())
    if not isinstance(definition, PartitionAtRuntime):
        return RunPartition(timetable, run.partition_key, run.run_after, run.start_date, context=context)
    return RunPartition(timetable, run.partition_key, run.run_after, run.start_date, additions(definition), context)


def enter_partition(context: MutableMapping[str, Any]) -> None:
    """Put ``partition`` into *context*, and pass it to the task's function; skip the task if the partition exists
    already, reschedule it while another run makes it or the one before it is not there, and check the keys that it
    emits.

    Runs as every task's pre-execute hook in a partitioned Dag. A run without a usable key fails at once, without
    retries.
    """
    from airflow.sdk.exceptions import AirflowFailException

    from airflow_partitions.engine.runs.claim import claim
    from airflow_partitions.engine.runs.emitted_keys import check_emitted_keys
    from airflow_partitions.engine.runs.own_past import wait_for_past, written_by
    from airflow_partitions.engine.runs.partition_argument import pass_partition
    from airflow_partitions.engine.runs.skip import skip_if_materialized

    LISTED.set(listing())
    try:
        context["partition"] = partition_of(context)
    except (MissingPartitionError, InvalidKeyError) as error:
        raise AirflowFailException(str(error)) from error
    pass_partition(context["task"], context["partition"])
    skip_if_materialized(context)
    task, dag = context["task"], context["dag"]
    # Where partitions wait for each other, the run claims its own before any task works: the others ask who makes it.
    claim(context, context["partition"].text, written_by(dag) if dag.timetable.own_past else task.outlets)
    wait_for_past(context)
    check_emitted_keys(context)
    if isinstance(context["partition"].definition, PartitionAtRuntime):
        KEY_LIST.set(KeyReader(context["partition"]))
