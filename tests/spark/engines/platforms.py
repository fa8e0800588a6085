"""The platforms that have a stand-in: how each is asked, and what the engine for it is told."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import pytest

from airflow_partitions.spark.engines import Databricks, EmrServerless, ManagedEngine
from tests.spark.engines.stand_in import Job, Order, StandIn


class EmrServerlessStandIn(StandIn):
    """EMR Serverless: applications and their job runs."""

    _STATES: ClassVar = {"running": "RUNNING", "succeeded": "SUCCESS", "failed": "FAILED", "cancelled": "CANCELLED"}

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_EMR_SERVERLESS": url,
            "AWS_MAX_ATTEMPTS": "2",
        }.items():
            patch.setenv(name, value)
        patch.setenv("AIRFLOW_CONN_AWS_DEFAULT", '{"conn_type": "aws"}')

    def engine(self, **changes: Any) -> ManagedEngine:
        arguments = {"application_id": "app", "execution_role_arn": "arn:aws:iam::1:role/spark", "poll_seconds": 1}
        return EmrServerless(**{**arguments, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        match re.sub(r"/jobruns/\d+", "/jobruns/*", path), method:
            case "/applications/app", "GET":
                return {"application": {"applicationId": "app", "state": "STARTED"}}
            case "/applications/app/jobruns", "POST":
                return {"applicationId": "app", "jobRunId": str(self._started(body).number)}
            case "/applications/app/jobruns/*", "GET":
                job = self._job(path)
                state = self._STATES[job.state]
                return {"jobRun": {"applicationId": "app", "jobRunId": str(job.number), "state": state,
                                   "stateDetails": f"job {job.state}"}}  # fmt: skip
            case "/applications/app/jobruns/*", "DELETE":
                self._job(path).cancel()
                return {"applicationId": "app", "jobRunId": path.rpartition("/")[2]}
        raise LookupError(f"{method} {path}")

    def _started(self, body: Any) -> Job:
        driver = body["jobDriver"]["sparkSubmit"]
        words = driver["sparkSubmitParameters"].split()
        assert words[::2] == ["--py-files"]
        (properties,) = body["configurationOverrides"]["applicationConfiguration"]
        assert properties["classification"] == "spark-defaults"
        order = Order(
            driver["entryPoint"], words[1].split(","), driver["entryPointArguments"], properties["properties"]
        )
        return self.start(body["clientToken"], order)

    def _job(self, path: str) -> Job:
        return self.jobs[int(path.rpartition("/")[2])]


class DatabricksStandIn(StandIn):
    """Databricks: one-time runs."""

    _ENDINGS: ClassVar = {"succeeded": "SUCCESS", "failed": "FAILED", "cancelled": "CANCELED"}

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        connection = {"conn_type": "databricks", "host": host, "port": int(port), "schema": "http", "password": "token"}
        patch.setenv("AIRFLOW_CONN_DATABRICKS_DEFAULT", json.dumps(connection))

    def engine(self, **changes: Any) -> ManagedEngine:
        cluster = {"spark_version": "17.3.x-scala2.13", "num_workers": 0}
        faults = {"databricks_retry_limit": 2, "databricks_retry_delay": 0}
        return Databricks(**{"new_cluster": cluster, "poll_seconds": 1, "arguments": faults, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        match path.removeprefix("/api/2.2/jobs/runs/"), method:
            case "submit", "POST":
                task = body["spark_python_task"]
                order = Order(task["python_file"], (), task["parameters"], body["new_cluster"]["spark_conf"])
                return {"run_id": self.start(body["idempotency_token"], order).number}
            case "get", "GET":
                job = self.jobs[int(body["run_id"])]
                state = {"life_cycle_state": "RUNNING", "state_message": ""}
                if job.state != "running":
                    state |= {"life_cycle_state": "TERMINATED", "result_state": self._ENDINGS[job.state]}
                task = {"run_id": job.number, "task_key": "only", "state": state}
                return {"run_id": job.number, "job_id": 1, "run_page_url": "/", "state": state, "tasks": [task]}
            case "get-output", "GET":
                return {"error": "the program has ended with 1"}
            case "cancel", "POST":
                self.jobs[int(body["run_id"])].cancel()
                return {}
        raise LookupError(f"{method} {path}")


PLATFORMS: dict[str, type[StandIn]] = {"EMR Serverless": EmrServerlessStandIn, "Databricks": DatabricksStandIn}
