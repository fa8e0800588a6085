"""The operator of a job at work, in the place of the task that it works for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk.bases.operator import ExecutorSafeguard
from airflow.sdk.exceptions import TaskDeferred

from airflow_partitions.core.errors import PartitionError, SparkServerError, UnansweredError
from airflow_partitions.spark.job_result import load_error

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator, Context

    from airflow_partitions.spark.engines.demand import Demand
    from airflow_partitions.spark.engines.engine import Engine
    from airflow_partitions.spark.engines.job import SparkJob


class Execution:
    """What a task has at work on its engine."""

    def __init__(self, engine: Engine, demand: Demand) -> None:
        self._engine = engine
        self._place = engine.place(demand)
        self._operator: BaseOperator | None = None

    def run(self, job: SparkJob, context: Context, method: str = "execute", **arguments: Any) -> None:
        """Run *job* to its end, or until its operator gives the worker back: then ``resume`` of the task goes on.

        :param method: of the job's operator: that goes on with it, if it was begun before.
        :raises PartitionError: that of the job, if it said why it gave up.
        :raises MemoryError: if the job's memory ended.
        :raises SparkServerError: if it did not begin, or was ended.
        :raises UnansweredError: if nobody knows how the job is.
        """
        try:
            self._operator = self._engine.operator(job)
            if method == "execute":  # Airflow refuses, or warns, unless it is told that this is meant
                arguments[f"{type(self._operator).__name__}__sentinel"] = ExecutorSafeguard.sentinel_value
            getattr(self._operator, method)(context, **arguments)
        except TaskDeferred as deferred:
            deferred.kwargs = {"method": deferred.method_name, "name": job.token, **(deferred.kwargs or {})}
            deferred.method_name = "resume"
            raise
        except PartitionError:
            raise
        except Exception as error:
            has_failed = self._engine.has_failed(error)
            if not has_failed and not self._engine.finds_jobs:
                raise
            first, *others = job.handovers
            reason = None if others else load_error(first.staging)
            if reason is not None or has_failed:
                raise reason or self.lost(error) from error
            raise UnansweredError(
                f"{self._place} gave no answer that tells how the job is, or whether there is one:"
                f" {type(error).__name__}: {error}. Expected the platform, the credentials and the rights to be there;"
                " the next try of the task finds the job again, if it was started"
            ) from error

    def lost(self, reason: object) -> SparkServerError:
        """What is raised for a job that has ended without a word."""
        return SparkServerError(
            f"the driver for {self._place} did not start, or ended without a word of why, as one does that is killed;"
            f" nothing was published. The log above may tell ({reason})"
        )

    def cancel(self) -> None:
        """End the job."""
        if self._operator is not None:
            self._operator.on_kill()
