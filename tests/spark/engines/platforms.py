"""The platforms that have a stand-in: how each is asked, and what the engine for it is told."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from airflow_partitions.spark.engines import (
    Databricks,
    EmrOnEc2,
    EmrOnEks,
    EmrServerless,
    Glue,
    Kubernetes,
    ManagedEngine,
)
from airflow_partitions.spark.engines.glue_run import TOKEN
from tests.spark.engines.dataproc import DataprocClusterStandIn, DataprocServerlessStandIn
from tests.spark.engines.stand_in import Job, Order, StandIn


class _AwsStandIn(StandIn):
    """What the platforms of AWS have in common.

    :cvar service: the name by which boto knows the service.
    :cvar states: its words for states of jobs.
    """

    service: ClassVar[str]
    states: ClassVar[dict[str, str]]

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            f"AWS_ENDPOINT_URL_{self.service}": url,
            "AWS_MAX_ATTEMPTS": "2",
        }.items():
            patch.setenv(name, value)
        patch.setenv("AIRFLOW_CONN_AWS_DEFAULT", '{"conn_type": "aws"}')

    def job(self, path: str) -> Job:
        return self.jobs[int(path.rpartition("/")[2])]


class _EmrStandIn(_AwsStandIn):
    """What both ways of EMR that take words for spark-submit have in common."""

    def started(self, body: Any, driver: Any) -> Job:
        words = driver["sparkSubmitParameters"].split()
        assert words[::2] == ["--py-files"]
        (properties,) = body["configurationOverrides"]["applicationConfiguration"]
        assert properties["classification"] == "spark-defaults"
        order = Order(
            driver["entryPoint"], words[1].split(","), driver["entryPointArguments"], properties["properties"]
        )
        return self.start(body["clientToken"], order)


class EmrServerlessStandIn(_EmrStandIn):
    """EMR Serverless: applications and their job runs."""

    service = "EMR_SERVERLESS"
    states: ClassVar = {"running": "RUNNING", "succeeded": "SUCCESS", "failed": "FAILED", "cancelled": "CANCELLED"}

    def engine(self, **changes: Any) -> ManagedEngine:
        arguments = {"application_id": "app", "execution_role_arn": "arn:aws:iam::1:role/spark", "poll_seconds": 1}
        return EmrServerless(**{**arguments, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        match re.sub(r"/jobruns/\d+", "/jobruns/*", path), method:
            case "/applications/app", "GET":
                return {"application": {"applicationId": "app", "state": "STARTED"}}
            case "/applications/app/jobruns", "POST":
                job = self.started(body, body["jobDriver"]["sparkSubmit"])
                return {"applicationId": "app", "jobRunId": str(job.number)}
            case "/applications/app/jobruns/*", "GET":
                job = self.job(path)
                run = {"state": self.states[job.state], "stateDetails": f"job {job.state}"}
                return {"jobRun": {"applicationId": "app", "jobRunId": str(job.number), **run}}
            case "/applications/app/jobruns/*", "DELETE":
                self.job(path).cancel()
                return {"applicationId": "app", "jobRunId": path.rpartition("/")[2]}
        raise LookupError(f"{method} {path}")


class EmrOnEksStandIn(_EmrStandIn):
    """EMR on EKS: virtual clusters and their job runs."""

    service = "EMR_CONTAINERS"
    states: ClassVar = {"running": "RUNNING", "succeeded": "COMPLETED", "failed": "FAILED", "cancelled": "CANCELLED"}

    def engine(self, **changes: Any) -> ManagedEngine:
        arguments = {"virtual_cluster_id": "vc", "release_label": "emr-7.13.0-latest", "poll_seconds": 1}
        return EmrOnEks(**{**arguments, "execution_role_arn": "arn:aws:iam::1:role/spark", **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        match re.sub(r"/jobruns/\d+", "/jobruns/*", path), method:
            case "/virtualclusters/vc/jobruns", "POST":
                job = self.started(body, body["jobDriver"]["sparkSubmitJobDriver"])
                return {"virtualClusterId": "vc", "id": str(job.number), "name": body["name"]}
            case "/virtualclusters/vc/jobruns/*", "GET":
                job = self.job(path)
                details = {"failureReason": "USER_ERROR", "stateDetails": f"job {job.state}"}
                return {"jobRun": {"id": str(job.number), "state": self.states[job.state], **details}}
            case "/virtualclusters/vc/jobruns/*", "DELETE":
                self.job(path).cancel()
                return {"virtualClusterId": "vc", "id": path.rpartition("/")[2]}
        raise LookupError(f"{method} {path}")


class EmrOnEc2StandIn(_AwsStandIn):
    """EMR on EC2: the steps of a cluster."""

    service = "EMR"
    states: ClassVar = {"running": "RUNNING", "succeeded": "COMPLETED", "failed": "FAILED", "cancelled": "CANCELLED"}

    def engine(self, **changes: Any) -> ManagedEngine:
        return EmrOnEc2(**{"job_flow_id": "j-1", "poll_seconds": 1, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        assert body.get("ClusterId", body.get("JobFlowId")) == "j-1"
        match path.removeprefix("ElasticMapReduce."):
            case "AddJobFlowSteps":
                (step,) = body["Steps"]
                return {"StepIds": [str(self.start(step["Name"], self._order(step["HadoopJarStep"])).number)]}
            case "ListSteps":
                chosen = body.get("StepIds") or [str(number) for number in self.jobs]
                return {"Steps": [self._step(self.job(number)) for number in chosen]}
            case "DescribeStep":
                return {"Step": self._step(self.job(body["StepId"]))}
            case "CancelSteps":
                for number in body["StepIds"]:
                    self.job(number).cancel()
                return {"CancelStepsInfoList": []}
        raise LookupError(path)

    def _step(self, job: Job) -> Any:
        return {"Id": str(job.number), "Name": job.token, "Status": {"State": self.states[job.state]}}

    def _order(self, step: Any) -> Order:
        assert (step["Jar"], step["Args"][:4]) == (
            "command-runner.jar", ["spark-submit", "--deploy-mode", "cluster", "--py-files"],
        )  # fmt: skip
        files, *words = step["Args"][4:]
        conf = {}
        while words[0] == "--conf":
            name, _, conf_value = words[1].partition("=")
            conf[name] = conf_value
            words = words[2:]
        return Order(words[0], files.split(","), words[1:], conf)


class GlueStandIn(_AwsStandIn):
    """Glue: the runs of one job."""

    service = "GLUE"
    states: ClassVar = {
        "running": "RUNNING",
        "succeeded": "SUCCEEDED",
        "failed": "FAILED",
        "cancelled": "STOPPED",
        "expired": "EXPIRED",
    }
    odd = "${b}{c}"

    def engine(self, **changes: Any) -> ManagedEngine:
        return Glue(**{"job_name": "flights", "poll_seconds": 1, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        assert body["JobName"] == "flights"
        match path.removeprefix("AWSGlue."):
            case "StartJobRun":
                return {"JobRunId": str(self.start(body["Arguments"][TOKEN], self._order(body["Arguments"])).number)}
            case "GetJobRuns":
                return {"JobRuns": [self._told(job) for job in reversed(self.jobs.values())]}
            case "GetJobRun":
                return {"JobRun": self._told(self.job(body["RunId"]))}
            case "BatchStopJobRun":
                for number in body["JobRunIds"]:
                    self.job(number).cancel()
                return {"SuccessfulSubmissions": [], "Errors": []}
        raise LookupError(path)

    def _told(self, job: Job) -> Any:
        state = {"JobRunState": self.states[job.state], "ErrorMessage": f"job {job.state}"}
        return {"Id": str(job.number), "StartedOn": time.time(), "Arguments": {TOKEN: job.token}, **state}

    def _order(self, arguments: Any) -> Order:
        conf = dict(word.split("=", 1) for word in arguments["--conf"].split(" --conf "))
        # What is a word of its own for a shell comes through it; and a script gets all arguments, as on Glue.
        assert not any(set(text) & set(" \t\n\"'") for text in conf.values())
        words = [word for pair in arguments.items() for word in pair]
        return Order(arguments["--scriptLocation"], arguments["--extra-py-files"].split(","), words, conf)


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


def kubernetes_connection(folder: Path, url: str) -> str:
    """A connection to the API at *url*, by a file in *folder*."""
    file = folder / "kube-config"
    context = {"name": "here", "context": {"cluster": "here", "user": "me"}}
    clusters = [{"name": "here", "cluster": {"server": url}}]
    users = [{"name": "me", "user": {"token": "secret"}}]
    config = {"current-context": "here", "contexts": [context], "clusters": clusters, "users": users}
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **config}))
    return json.dumps({"conn_type": "kubernetes", "extra": {"kube_config_path": str(file)}})


class KubernetesStandIn(StandIn):
    """Kubernetes with the Spark operator: its applications, and the logs of their drivers."""

    _FOLDER = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/spark/sparkapplications"
    _STATES: ClassVar = {"running": "RUNNING", "succeeded": "COMPLETED", "failed": "FAILED"}

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        patch.setenv("AIRFLOW_CONN_KUBERNETES_DEFAULT", kubernetes_connection(self.folder, url))

    def engine(self, **changes: Any) -> ManagedEngine:
        spec = {"image": "spark:4.1", "sparkVersion": "4.1.3", "driver": {"serviceAccount": "spark"}}
        return Kubernetes(**{"namespace": "spark", "spec": spec, "poll_seconds": 1, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        if path.startswith("/api/v1/namespaces/spark/pods/partition-"):
            return f"log of {path.split('/')[-2]}"
        name = path.removeprefix(self._FOLDER).strip("/")
        match method, bool(name):
            case "POST", False:
                job = self.start(body["metadata"]["name"].removeprefix("partition-"), self._order(body["spec"]))
                return self._application(job)
            case "GET", True:
                return self._application(self._named(name))
            case "DELETE", True:
                job = self._named(name)
                job.cancel()
                job.token = ""  # its name is free again
                return {}
        raise LookupError(f"{method} {path}")

    def _named(self, name: str) -> Job:
        for job in self.jobs.values():
            if f"partition-{job.token}" == name:
                return job
        raise LookupError(name)

    def _application(self, job: Job) -> Any:
        name = f"partition-{job.token}"
        state = {"state": self._STATES[job.state], "errorMessage": f"driver {job.state}"}
        status = {"applicationState": state, "driverInfo": {"podName": f"{name}-driver"}}
        return {"metadata": {"name": name}, "status": status}

    def _order(self, spec: Any) -> Order:
        assert {name: spec[name] for name in ("type", "mode", "image")} == {
            "type": "Python", "mode": "cluster", "image": "spark:4.1",
        }  # fmt: skip
        return Order(spec["mainApplicationFile"], spec["deps"]["pyFiles"], spec["arguments"], spec["sparkConf"])


PLATFORMS: dict[str, type[StandIn]] = {
    "EMR Serverless": EmrServerlessStandIn,
    "EMR on EKS": EmrOnEksStandIn,
    "EMR on EC2": EmrOnEc2StandIn,
    "Glue": GlueStandIn,
    "Databricks": DatabricksStandIn,
    "Dataproc Serverless": DataprocServerlessStandIn,
    "Dataproc cluster": DataprocClusterStandIn,
    "Kubernetes": KubernetesStandIn,
}
