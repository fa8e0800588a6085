"""A driver of its own for each job, by spark-submit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from airflow.providers.apache.spark.hooks import spark_submit
from airflow.providers.apache.spark.hooks.spark_submit import DEFAULT_SPARK_BINARY
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseOperator, Connection
from airflow.sdk.exceptions import AirflowException

from airflow_partitions.core.errors import InvalidDefinitionError, MissingSparkError
from airflow_partitions.spark.archive import make_archive
from airflow_partitions.spark.connection import conf_of
from airflow_partitions.spark.engines.engine import Engine
from airflow_partitions.spark.handover import LONGEST, PROPERTY, pack
from airflow_partitions.spark.installed import check_installed
from airflow_partitions.spark.running_job import TIME_ZONE

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_partitions.spark.engines.demand import Demand
    from airflow_partitions.spark.engines.job import SparkJob

#: What Spark takes where nothing else is said: a job does not depend on the machine it lands on.
DEFAULTS = {TIME_ZONE: "UTC", "spark.log.level": "WARN"}
#: And for a driver on the task's machine: nobody looks at its pages, and each would take a port.
LOCAL_DEFAULTS = {"spark.ui.enabled": "false"}
#: Options of the Java that spark-submit starts. Properties among them are Spark's weakest: spark-defaults.conf and
#: ``--conf`` replace them.
OPTIONS = "SPARK_SUBMIT_OPTS"


@attrs.frozen
class SparkSubmit(Engine):
    """Jobs by Airflow's ``SparkSubmitOperator``, to the master of a connection."""

    words: ClassVar[None] = None

    connection: Connection

    @property
    def conf(self) -> Any:
        """Spark properties that the connection has for all jobs."""
        return conf_of(self.connection)

    def place(self, demand: Demand) -> str:
        master, _ = deployed_to(self.connection, demand.words.get("deploy_mode"))
        return f"{master} of connection {self.connection.conn_id!r}"

    def check(self, demand: Demand) -> None:
        """Refuse what can't be submitted there.

        :raises InvalidDefinitionError: if Spark runs no Python on such a cluster.
        :raises MissingSparkError: if there is no client of Kubernetes to watch the job with.
        """
        connection = self.connection
        master, mode = deployed_to(connection, demand.words.get("deploy_mode"))
        if mode == "cluster" and master.startswith("spark://"):
            raise InvalidDefinitionError(
                f"connection {connection.conn_id!r} asks for deploy mode 'cluster' on {master}, and Spark runs no"
                " Python there: its standalone clusters start drivers of Java and Scala only; expected deploy mode"
                " 'client', with the driver on the task's machine, or a master of YARN or Kubernetes"
            )
        if master.startswith("k8s") and not hasattr(spark_submit, "kube_client"):
            raise MissingSparkError(
                f"Airflow watches jobs on {master} by the client of Kubernetes, which is not installed here;"
                " expected it: pip install kubernetes"
            )

    def has_failed(self, error: Exception) -> bool:
        return isinstance(error, AirflowException | RuntimeError)  # the latter of one that is polled

    def operator(self, job: SparkJob) -> BaseOperator:
        return SubmittedJob(job=job, connection=self.connection, **self._words(job))

    def _words(self, job: SparkJob) -> dict[str, Any]:
        """What Airflow's operator is told of *job*."""
        return {
            "task_id": job.name,
            "application": job.application,
            "conn_id": self.connection.conn_id,
            "durable": False,
            "name": job.name,
            **job.words,
        }


class SubmittedJob(SparkSubmitOperator):
    """What submits a job, and waits for it."""

    #: Of a handover in a property; a longer one is put in a file.
    longest: ClassVar[int] = LONGEST

    def __init__(self, *, job: SparkJob, connection: Connection, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.job = job
        self.connection = connection
        self.conf = dict(job.conf)

    def execute(self, context: Context) -> None:
        """Run the job, which leaves a result file for each of its handovers, or the error of one of several.

        :raises MissingSparkError: if there is no Spark to submit it by.
        """
        has_package = self._find_spark()
        self.conf = {**(self.conf or {}), PROPERTY: pack(self.job.handovers, longest=self.longest)}
        with TemporaryDirectory(prefix="airflow_partitions-") as folder, self._defaults():
            if not has_package:
                self.py_files = ",".join(filter(None, [self.py_files, str(make_archive(Path(folder)))]))
            try:
                super().execute(context)
            finally:
                # Airflow's hook leaves the pipe open that it has read to its end.
                process = getattr(self._hook, "_submit_sp", None)
                if process is not None and process.stdout is not None:
                    process.stdout.close()

    @contextmanager
    def _defaults(self) -> Iterator[None]:
        """Let a submission inside the block begin with our defaults."""
        local = (self.connection.host or "").startswith("local")
        words = [f"-D{name}={value}" for name, value in (DEFAULTS | (LOCAL_DEFAULTS if local else {})).items()]
        variables = self.env_vars or {}
        outer = os.environ.get(OPTIONS)
        if OPTIONS in variables:
            self.env_vars = {**variables, OPTIONS: " ".join([*words, variables[OPTIONS]])}
        os.environ[OPTIONS] = " ".join([*words, outer or ""])
        try:
            yield
        finally:
            if outer is None:
                del os.environ[OPTIONS]
            else:
                os.environ[OPTIONS] = outer

    def _find_spark(self) -> bool:
        """Choose the spark-submit and the Python where nothing else is configured: those of this environment.

        :return: whether the driver's Python is that of this environment, which has this package.
        """
        own, own_home = Path(sys.executable).with_name(DEFAULT_SPARK_BINARY), _own_home()
        if self._spark_binary is None and "spark-binary" not in self.connection.extra_dejson:
            home = os.environ.get("SPARK_HOME")
            if home and Path(home).resolve() != own_home:
                self._spark_binary = str(_binary_in(home))
            elif own.exists():
                self._spark_binary = str(own)
            elif which(DEFAULT_SPARK_BINARY) is None:
                check_installed()
        master, mode = deployed_to(self.connection, self._deploy_mode)
        if self._spark_binary != str(own) or mode == "cluster" or master.startswith(("yarn", "k8s")):
            return False
        variables = {"SPARK_HOME": str(own_home or ""), "PYSPARK_DRIVER_PYTHON": sys.executable}
        if master.startswith("local"):
            variables["PYSPARK_PYTHON"] = sys.executable
        self.env_vars = {**variables, **(self.env_vars or {})}
        conf = self.conf or {}
        driver = conf.get("spark.pyspark.driver.python") or conf.get("spark.pyspark.python")
        return bool((driver or self.env_vars["PYSPARK_DRIVER_PYTHON"]) == sys.executable)


def deployed_to(connection: Connection, mode: str | None) -> tuple[str, str]:
    """The master, with its scheme, and the deploy mode: *mode*, if it is given."""
    host = connection.host or ""
    master = host if "://" in host or not connection.port else f"{connection.conn_type}://{host}"
    return master, mode or connection.extra_dejson.get("deploy-mode") or "client"


def _own_home() -> Path | None:
    """Where the pyspark of this environment lies."""
    spec = find_spec("pyspark")
    return Path(spec.submodule_search_locations[0]).resolve() if spec and spec.submodule_search_locations else None


def _binary_in(home: str) -> Path:
    binary = Path(home, "bin", DEFAULT_SPARK_BINARY)
    if not binary.exists():
        raise MissingSparkError(f"SPARK_HOME is {home!r}, and there is no {binary}; expected the folder of a Spark")
    return binary
