"""What both ways of Dataproc have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.managed import ManagedEngine

if TYPE_CHECKING:
    from airflow_partitions.spark.engines.job import SparkJob

#: Seconds for an answer of Dataproc: Airflow's operators would wait without end.
ANSWER = 60


@attrs.frozen(kw_only=True)
class DataprocEngine(ManagedEngine):
    """Jobs of Dataproc, each by an id: there is one of an id at most, also when two ask for it.

    :param region: where they run.
    :param project_id: if it is not that of the connection.
    :param gcp_conn_id: Airflow's connection of type ``google_cloud_platform``.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {"gs": "gs", "gcs": "gs"}
    provider: ClassVar[str] = "apache-airflow-providers-google"

    region: str
    project_id: str | None = None
    gcp_conn_id: str = "google_cloud_default"
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def url(self, place: str) -> str:
        url = super().url(place)
        return url if "://" in url else f"file://{url}"  # else it would be one of HDFS

    def name(self, job: SparkJob) -> str:
        """What *job* is called."""
        return f"partition-{job.token}"

    def python(self, job: SparkJob, own: Mapping[str, Any]) -> dict[str, Any]:
        """The program and what comes along, beside the author's *own*."""
        staged = job.staged
        return {
            **own,
            "main_python_file_uri": self.url(staged.program),
            "python_file_uris": [*own.get("python_file_uris", ()), *map(self.url, staged.py_files)],
            "args": [*own.get("args", ()), *staged.arguments],
        }

    def properties(self, job: SparkJob, own: Mapping[str, Any]) -> dict[str, str]:
        """Spark properties of *job*, beside the author's *own*."""
        return {name: str(value) for name, value in {**own, **job.staged.conf}.items()}

    def common(self, job: SparkJob) -> dict[str, Any]:
        """What the operators of both take."""
        from google.api_core.retry import Retry

        return {
            "task_id": job.name,
            "region": self.region,
            "project_id": self.project_id,
            "gcp_conn_id": self.gcp_conn_id,
            "polling_interval_seconds": self.poll_seconds,
            "polls": self.polls,
            "deferrable": self.deferrable and job.may_defer,
            "timeout": ANSWER,
            "retry": Retry(timeout=2 * ANSWER),  # of 429, 500 and 503; Google's own default has none for batches
            **self.arguments,
        }
