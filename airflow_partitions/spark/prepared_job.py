"""A job of a task, ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import attrs

from airflow_partitions.engine.runs.freezing import Freezing
from airflow_partitions.frames.input import Input
from airflow_partitions.spark.begun_job import BegunJob
from airflow_partitions.spark.handover import Handover

if TYPE_CHECKING:
    from airflow.sdk import Context


@attrs.frozen
class PreparedJob:
    """A job that can be run.

    :ivar context: of the run whose partition it makes.
    :ivar inputs: what it reads, where it lies.
    :ivar freezing: how they are kept the same.
    :ivar begun: the word of it that a later try finds; ``None`` where jobs can't be found again.
    :ivar is_taken_over: whether it is an earlier try that has begun it.
    """

    context: Context
    inputs: Mapping[str, Input]
    freezing: Freezing | None
    handover: Handover
    begun: BegunJob | None = None
    is_taken_over: bool = False

    def taking_over(self, begun: BegunJob) -> Self:
        """The same by a job that another try has *begun*; the own staging place is cleared away."""
        self.handover.staging.remove()
        return attrs.evolve(self, handover=begun.handover, begun=begun, is_taken_over=True)
