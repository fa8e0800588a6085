"""A running Spark Connect server as an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from airflow.sdk import BaseOperator, Connection

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.spark.connection import SUBMIT, conf_of
from airflow_partitions.spark.engines.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from airflow.sdk import Context

    from airflow_partitions.spark.engines.demand import Demand
    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen
class Connect(Engine):
    """Jobs in the process of their task, or in one of another Python, by a session of the server of a connection."""

    shares_jobs: ClassVar[bool] = False
    words: ClassVar[None] = None  # refused by a better word

    connection: Connection

    @property
    def conf(self) -> Any:
        """Spark properties that the connection has for all jobs."""
        return conf_of(self.connection)

    def check(self, demand: Demand) -> None:
        from airflow_partitions.spark.connect.access import access_of  # a parser of Dags needs no client

        server = f"connection {self.connection.conn_id!r} is one to a running Spark Connect server"
        if demand.is_program:
            raise InvalidDefinitionError(
                f"spark asset {demand.asset!r} is a program of its own, which needs a driver, and {server}; expected"
                f" a decorated function, or a connection of type {SUBMIT}"
            )
        if demand.words:
            raise InvalidDefinitionError(
                f"spark asset {demand.asset!r}: {', '.join(sorted(demand.words))} belongs to spark-submit, and"
                f" {server}; expected it in the settings of the server, or a connection of type {SUBMIT}"
            )
        access_of(self.connection)

    def has_failed(self, error: Exception) -> bool:
        return False  # what the job raises is raised here

    def operator(self, job: SparkJob) -> BaseOperator:
        return _ConnectedJob(task_id=job.name, job=job, connection=self.connection)


class _ConnectedJob(BaseOperator):
    def __init__(self, *, job: SparkJob, connection: Connection, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.job = job
        self.connection = connection
        self._end: Callable[[], None] | None = None

    def execute(self, context: Context) -> None:
        from airflow_partitions.spark.connect.run import run_connected

        (handover,) = self.job.handovers
        run_connected(handover, self.connection, self.job.conf, self._begin)

    def _begin(self, end: Callable[[], None]) -> None:
        self._end = end

    def on_kill(self) -> None:
        if self._end is not None:
            self._end()
