"""A step of a cluster of EMR that is known by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator
from airflow.providers.amazon.aws.triggers.emr import EmrAddStepsTrigger
from airflow.providers.amazon.aws.utils.waiter_with_logging import wait

if TYPE_CHECKING:
    from airflow.sdk import Context


class EmrStepOperator(EmrAddStepsOperator):
    """Airflow's own adds steps each time, and leaves them alone when its task is ended.

    This one adds its only step unless there is one of that name, and cancels it.

    :param step: the step, as EMR takes it.
    """

    step_id: str | None = None

    def __init__(self, *, job_flow_id: str, step: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(job_flow_id=job_flow_id, steps=[dict(step)], **kwargs)
        self.cluster = job_flow_id
        self.step = step

    def execute(self, context: Context) -> list[str]:
        """Wait until the step has ended."""
        self.step_id = self._added()
        if self.step_id is None:
            role = {} if self.execution_role_arn is None else {"ExecutionRoleArn": self.execution_role_arn}
            answer = self.hook.conn.add_job_flow_steps(JobFlowId=self.cluster, Steps=[dict(self.step)], **role)
            (self.step_id,) = answer["StepIds"]
        if self.deferrable:
            self.defer(
                trigger=EmrAddStepsTrigger(
                    job_flow_id=self.cluster,
                    step_ids=[self.step_id],
                    aws_conn_id=self.aws_conn_id,
                    region_name=self.region_name,
                    waiter_max_attempts=self.waiter_max_attempts,
                    waiter_delay=self.waiter_delay,
                ),
                method_name="execute_complete",
            )
        wait(
            waiter=self.hook.conn.get_waiter("step_complete"),
            waiter_delay=self.waiter_delay,
            waiter_max_attempts=self.waiter_max_attempts,
            args={"ClusterId": self.cluster, "StepId": self.step_id},
            failure_message=f"EMR step {self.step_id} failed",
            status_message="EMR step status is",
            status_args=["Step.Status.State", "Step.Status.StateChangeReason"],
        )
        return [self.step_id]

    def on_kill(self) -> None:
        """Cancel the step."""
        if self.step_id is not None:
            how = "TERMINATE_PROCESS"
            self.hook.conn.cancel_steps(ClusterId=self.cluster, StepIds=[self.step_id], StepCancellationOption=how)

    def _added(self) -> str | None:
        """The id of the step, if there is one of its name."""
        pages: Any = self.hook.conn.get_paginator("list_steps").paginate(ClusterId=self.cluster)
        return next((each["Id"] for page in pages for each in page["Steps"] if each["Name"] == self.step["Name"]), None)
