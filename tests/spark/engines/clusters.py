"""What stands for a cluster to which spark-submit brings jobs: its API, and a spark-submit that ends at once."""

from __future__ import annotations

import json
import os
import sys
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.spark.engines.platforms import kubernetes_connection
from tests.spark.engines.stand_in import Job, Order, StandIn

_SUBMIT = '#!/bin/sh\nexec {python} {program} {url} {uploads} "$@"\n'


class ClusterStandIn(StandIn):
    """A cluster.

    :cvar host: the master.
    :cvar failed: what is said of a driver that has failed.
    :ivar words: what spark-submit was told, each time.
    """

    host: ClassVar[str]
    failed: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.words: list[list[str]] = []

    @abstractmethod
    def extra(self, url: str) -> dict[str, Any]:
        """What a connection has to say of it besides."""

    @abstractmethod
    def token(self, conf: dict[str, str]) -> str:
        """That of a job with the properties *conf*."""

    @abstractmethod
    def tell(self, method: str, path: str, body: Any) -> Any:
        """What it answers but to a spark-submit."""

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        patch.setenv("PATH", f"{self.install(url).parent}:{os.environ['PATH']}")
        extra = {"deploy-mode": "cluster", "spark-binary": "spark3-submit", **self.extra(url)}
        patch.setenv(
            "AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": self.host, "extra": extra})
        )
        patch.setattr("airflow_partitions.spark.engines.tracked_submit.LEAST_POLL_SECONDS", 0.02)

    def install(self, url: str) -> Path:
        """Make the spark-submit, and tell where it is."""
        binaries, uploads = self.folder / "bin", self.folder / "uploads"
        binaries.mkdir()
        uploads.mkdir()
        submit, program = binaries / "spark3-submit", Path(__file__).with_name("cluster_submit.py")
        submit.write_text(_SUBMIT.format(python=sys.executable, program=program, url=url, uploads=uploads))
        submit.chmod(0o755)
        return submit

    def answer(self, method: str, path: str, body: Any) -> Any:
        if (method, path) != ("POST", "/"):
            return self.tell(method, path, body)
        self.words.append(body["words"])
        order = Order(body["program"], body["py_files"], body["arguments"], body["conf"])
        return {"driver": self.name(self.start(self.token(body["conf"]), order))}

    @property
    def submits(self) -> int:
        """How many jobs were brought, those that are another one's included."""
        return len(self.words)

    @abstractmethod
    def name(self, job: Job) -> str:
        """What the driver of *job* is called."""

    def named(self, name: str) -> Job:
        for job in self.jobs.values():
            if self.name(job) == name:
                return job
        raise LookupError(f"NotFoundException: app with id: {name} not found")


class YarnStandIn(ClusterStandIn):
    """YARN: the REST API of its ResourceManager."""

    host = "yarn"
    failed = "driver failed"
    _APPS = "/ws/v1/cluster/apps"
    _STATES: ClassVar = {
        "running": ("RUNNING", "UNDEFINED"),
        "succeeded": ("FINISHED", "SUCCEEDED"),
        "failed": ("FINISHED", "FAILED"),
        "cancelled": ("KILLED", "KILLED"),
    }

    def extra(self, url: str) -> dict[str, Any]:
        return {"yarn_resourcemanager_webapp_address": url.removeprefix("http://")}

    def token(self, conf: dict[str, str]) -> str:
        return conf["spark.yarn.tags"].rpartition(",")[2]

    def tell(self, method: str, path: str, body: Any) -> Any:
        assert path.startswith(self._APPS)
        match method, path.removeprefix(self._APPS).strip("/").split("/"):
            case "GET", [""]:
                found = [self._told(job) for job in self.jobs.values() if job.token == body["applicationTags"]]
                return {"apps": {"app": found} if found else None}
            case "GET", [application]:
                return {"app": self._told(self.named(application))}
            case "PUT", [application, "state"]:
                assert body == {"state": "KILLED"}
                self.named(application).cancel()
                return body
        raise LookupError(f"{method} {path}")

    def name(self, job: Job) -> str:
        return f"application_1384984800000_{job.number:04}"

    def _told(self, job: Job) -> Any:
        state, final = self._STATES[job.state]
        diagnostics = "" if state == "RUNNING" else f"\ndriver {job.state}\n"
        return {"id": self.name(job), "state": state, "finalStatus": final, "diagnostics": diagnostics}


class PodsStandIn(ClusterStandIn):
    """Kubernetes: the pods of drivers."""

    host = "k8s://https://kubernetes.example.com"
    failed = "exit code 1, Error"
    _PODS = "/api/v1/namespaces/spark/pods/"
    _STATES: ClassVar = {"running": ("Running", None), "succeeded": ("Succeeded", 0), "failed": ("Failed", 1)}

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        super().connect(url, patch)
        patch.setenv("AIRFLOW_CONN_KUBERNETES_DEFAULT", kubernetes_connection(self.folder, url))

    def extra(self, url: str) -> dict[str, Any]:
        return {"namespace": "spark"}

    def token(self, conf: dict[str, str]) -> str:
        name = conf["spark.kubernetes.driver.pod.name"]
        token = name.removeprefix("partition-").removesuffix("-driver")
        assert name == f"partition-{token}-driver"
        assert conf["spark.kubernetes.namespace"] == "spark"
        return token

    def tell(self, method: str, path: str, body: Any) -> Any:
        assert path.startswith(self._PODS)
        job = self.named(path.removeprefix(self._PODS))
        if method == "DELETE":
            job.cancel()
            job.token = ""  # its name is free again
        return self._pod(job)

    def name(self, job: Job) -> str:
        return f"partition-{job.token}-driver"

    def _pod(self, job: Job) -> Any:
        if job.state == "cancelled":
            return {}
        phase, code = self._STATES[job.state]
        container = {"name": "spark", "image": "spark", "imageID": "", "ready": False, "restartCount": 0, "state": {}}
        if code is not None:
            container["state"] = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}}
        return {"metadata": {"name": self.name(job)}, "status": {"phase": phase, "containerStatuses": [container]}}


CLUSTERS: dict[str, type[ClusterStandIn]] = {"YARN": YarnStandIn, "Kubernetes": PodsStandIn}
