"""A run of a job of Glue that is known by one of its arguments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.amazon.aws.operators.glue import GlueJobOperator
from airflow.providers.amazon.aws.utils.waiter_with_logging import wait

from airflow_partitions.spark.engines.glue_run_trigger import WAITER, GlueRunTrigger
from airflow_partitions.spark.engines.managed import LONGEST

if TYPE_CHECKING:
    from airflow.sdk import Context

#: The argument of a run by which it is found again.
TOKEN = "--airflow_partitions_job"  # noqa: S105 - its name


class GlueRunOperator(GlueJobOperator):
    """Airflow's own starts a run each time, and finds only one that is still at work.

    This one starts a run unless there is one with its token, whatever has become of that, and stops it when its task is
    ended.
    """

    run_id: str | None = None

    def execute(self, context: Context) -> str:
        """Wait until the run has ended."""
        glue: Any = self.hook.conn
        self.run_id = self._begun() or str(
            glue.start_job_run(JobName=self.job_name, Arguments=self.script_args, **self.run_job_kwargs)["JobRunId"]
        )
        self.log.info("run %s of job %s of Glue", self.run_id, self.job_name)
        if self.deferrable:
            self.defer(
                trigger=GlueRunTrigger(
                    job_name=self.job_name,
                    run_id=self.run_id,
                    aws_conn_id=self.aws_conn_id,
                    region_name=self.region_name,
                    waiter_delay=self.waiter_delay,
                    waiter_max_attempts=self.waiter_max_attempts,
                ),
                method_name="execute_complete",
            )
        wait(
            waiter=self.hook.get_waiter("job_complete", config_overrides=WAITER),
            waiter_delay=self.waiter_delay,
            waiter_max_attempts=self.waiter_max_attempts,
            args={"JobName": self.job_name, "RunId": self.run_id},
            failure_message=f"run {self.run_id} of job {self.job_name} of Glue failed",
            status_message="Its status is",
            status_args=["JobRun.JobRunState", "JobRun.ErrorMessage"],
        )
        return self.run_id

    def on_kill(self) -> None:
        """Stop the run."""
        if self.run_id is not None:
            self.hook.conn.batch_stop_job_run(JobName=self.job_name, JobRunIds=[self.run_id])

    def _begun(self) -> str | None:
        """The id of the run with this token, if there is one: Glue tells the newest first."""
        oldest = datetime.now(UTC) - timedelta(seconds=LONGEST)
        pages: Any = self.hook.conn.get_paginator("get_job_runs").paginate(JobName=self.job_name)
        for page in pages:
            for run in page["JobRuns"]:
                if (run.get("Arguments") or {}).get(TOKEN) == self.script_args[TOKEN]:
                    return str(run["Id"])
            if page["JobRuns"] and page["JobRuns"][-1].get("StartedOn", oldest) < oldest:
                break
        return None
