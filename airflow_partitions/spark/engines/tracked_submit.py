"""A driver on the cluster for each job, by spark-submit, which is tracked there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from airflow.sdk import BaseOperator, Connection
from airflow.sdk.exceptions import AirflowException
from tenacity import Retrying

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.spark.engines.driver_pods import DriverPods
from airflow_partitions.spark.engines.driver_trigger import DriverTrigger
from airflow_partitions.spark.engines.patience import patience
from airflow_partitions.spark.engines.resource_manager import ResourceManager
from airflow_partitions.spark.engines.submit import SparkSubmit, SubmittedJob, deployed_to

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_partitions.spark.engines.demand import Demand
    from airflow_partitions.spark.engines.job import SparkJob
    from airflow_partitions.spark.engines.tracker import Tracker

#: Of the word ``status_poll_interval``, as Airflow's hook has it for YARN, which is asked for many jobs.
LEAST_POLL_SECONDS = 10
#: What is asked for the jobs of a master, by how it begins.
_TRACKERS: Mapping[str, type[Tracker]] = {"yarn": ResourceManager, "k8s": DriverPods}
#: Words of an error by which a job has ended, or has not begun, as opposed to that nobody knows.
_ENDINGS = ("has ended as", "is gone", "Cannot execute")


@attrs.frozen
class TrackedSubmit(SparkSubmit):
    """Jobs by Airflow's ``SparkSubmitOperator``, of which their cluster is asked how they are.

    So their tasks can wait without a worker. The cluster knows a driver by the token of its job, by which a task that
    was killed finds it again.
    """

    finds_jobs: ClassVar[bool] = True

    def check(self, demand: Demand) -> None:
        """Refuse what can't be tracked there.

        :raises InvalidDefinitionError: if the driver lives with the task, or nobody says where to ask for it.
        :raises MissingSparkError: if what asks for it is not installed.
        """
        super().check(demand)
        connection = self.connection
        master, mode = deployed_to(connection, demand.words.get("deploy_mode"))
        if mode != "cluster":
            raise InvalidDefinitionError(
                f"deferrable=True, and connection {connection.conn_id!r} asks for deploy mode {mode!r} on {master}: the"
                " driver lives as long as the task does; expected one on a cluster, of YARN or Kubernetes, with"
                ' {"deploy-mode": "cluster"} in the extra of the connection, or no deferrable='
            )
        self._tracker({**demand.words, "conf": self.conf})

    def has_failed(self, error: Exception) -> bool:
        return isinstance(error, AirflowException) and any(word in str(error) for word in _ENDINGS)

    def operator(self, job: SparkJob) -> BaseOperator:
        tracker = self._tracker({**job.words, "conf": job.conf})
        if str(job.conf.get(tracker.waits, "false")).strip().lower() != "false":
            raise InvalidDefinitionError(
                f"Spark property {tracker.waits}={job.conf[tracker.waits]!r}: spark-submit would hold the worker until"
                " the job has ended; expected it left out, or no deferrable="
            )
        conf = {**job.conf, **tracker.conf(job.token, job.conf), tracker.waits: "false"}
        return _TrackedJob(
            job=attrs.evolve(job, conf=conf), connection=self.connection, tracker=tracker, **self._words(job)
        )

    def _tracker(self, words: Mapping[str, Any]) -> Tracker:
        master, _ = deployed_to(self.connection, None)
        for name, kind in _TRACKERS.items():
            if master.startswith(name):
                return kind.of(self.connection, words)
        raise InvalidDefinitionError(
            f"deferrable=True, and connection {self.connection.conn_id!r} names {master}, where nobody but spark-submit"
            " is asked how a job is; expected a master of YARN or Kubernetes, or no deferrable="
        )


class _TrackedJob(SubmittedJob):
    """What submits a job, and waits for its driver."""

    longest: ClassVar[int] = 0  # in a file, which the next try of a task that was killed finds

    def __init__(self, *, job: SparkJob, connection: Connection, tracker: Tracker, **kwargs: Any) -> None:
        super().__init__(job=job, connection=connection, **{**kwargs, **tracker.words})
        self.tracker = tracker
        self.poll_seconds = max(self._status_poll_interval, LEAST_POLL_SECONDS)

    def execute(self, context: Context) -> None:
        """Wait until the driver has ended."""
        if not self.job.is_begun:  # else its spark-submit may be on the way yet, and two would write to one place
            super().execute(context)
        driver = self.tracker.find(self.job.token)
        if driver is None:
            raise AirflowException(f"the driver of job {self.job.token} is gone, or has not begun")
        self.log.info("%s runs the job, by %s", driver, self.tracker)
        end = self.tracker.ending(driver)
        if end is None and self.job.may_defer:
            trigger = DriverTrigger.of(driver, self.tracker, self.poll_seconds)
            self.defer(trigger=trigger, method_name="execute_complete", kwargs={"driver": driver})
        ask = Retrying(**patience(self.tracker.errors, self.poll_seconds))
        while end is None:
            time.sleep(self.poll_seconds)
            end = ask(self.tracker.ending, driver)
        self.execute_complete(context, end, driver)

    def submit_job(self, context: Context) -> None:
        """Only submit it: Airflow's own reads the name of the driver from a log that may not have it."""
        hook = self._hook = self._hook or self._get_hook()
        hook.submit(self.application)
        hook._run_post_submit_commands()  # noqa: SLF001 - there is no other way to them

    def poll_until_complete(self, external_id: Any, context: Context) -> None:
        """Wait in a way of our own, later."""

    def execute_complete(self, context: Context, event: Mapping[str, str], driver: str) -> None:
        """Go on when the driver has ended.

        :raises AirflowException: if it has not succeeded.
        :raises ConnectionError: if nobody has told for long how it is.
        """
        if "error" in event:
            raise ConnectionError(event["error"])
        if not event["state"]:
            raise AirflowException(f"{driver} is gone: its cluster knows nothing of it")
        if event["state"] != "SUCCEEDED":
            raise AirflowException(f"{driver} has ended as {event['state']}: {event['message']}")

    def on_kill(self) -> None:
        """End spark-submit, and the driver."""
        process = getattr(self._hook, "_submit_sp", None)
        if process is not None and process.poll() is None:
            process.kill()
        driver = self.tracker.find(self.job.token)
        if driver is not None:
            self.tracker.kill(driver)
