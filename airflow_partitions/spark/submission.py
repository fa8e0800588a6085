"""A job on a driver of its own, by spark-submit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from airflow.providers.apache.spark.hooks import spark_submit
from airflow.providers.apache.spark.hooks.spark_submit import DEFAULT_SPARK_BINARY
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException

from airflow_partitions.core.errors import InvalidDefinitionError, MissingSparkError, SparkServerError
from airflow_partitions.spark.archive import make_archive
from airflow_partitions.spark.handover import PROPERTY, Handover, pack
from airflow_partitions.spark.installed import check_installed
from airflow_partitions.spark.job_result import load_error
from airflow_partitions.spark.running_job import TIME_ZONE

if TYPE_CHECKING:
    from airflow.sdk import Connection, Context

#: The program for a decorated function.
PROGRAM = str(Path(__file__).with_name("program") / "make_partition.py")
#: What Spark takes where nothing else is said: a job does not depend on the machine it lands on.
DEFAULTS = {TIME_ZONE: "UTC", "spark.log.level": "WARN"}
#: And for a driver on the task's machine: nobody looks at its pages, and each would take a port.
LOCAL_DEFAULTS = {"spark.ui.enabled": "false"}
#: Options of the Java that spark-submit starts. Properties among them are Spark's weakest: spark-defaults.conf and
#: ``--conf`` replace them.
OPTIONS = "SPARK_SUBMIT_OPTS"


class Submission(SparkSubmitOperator):
    """What submits a job, and waits for it."""

    def submit(self, handovers: Sequence[Handover], connection: Connection, context: Context) -> None:
        """Run the job of *handovers*, which leaves a result file for each, or the error of one of several.

        :raises MissingSparkError: if there is no Spark to submit it by.
        :raises PartitionError: that of the job, if it said why it gave up.
        :raises MemoryError: if the job's memory ended.
        :raises SparkServerError: if it did not begin, or was ended.
        """
        has_package = self._find_spark(connection)
        self._hand_over(handovers)
        with TemporaryDirectory(prefix="airflow_partitions-") as folder, self._defaults(connection):
            if not has_package:
                self.py_files = ",".join(filter(None, [self.py_files, str(make_archive(Path(folder)))]))
            try:
                super().execute(context)
            except (AirflowException, RuntimeError) as failure:  # the latter of one that is polled
                reason = load_error(handovers[0].staging) if len(handovers) == 1 else None
                if reason is not None:
                    raise reason from failure
                master, _ = self._deployed_to(connection)
                raise SparkServerError(
                    f"the driver for {master} of connection {connection.conn_id!r} did not start, or ended without a"
                    f" word of why, as one does that is killed; nothing was published. The log above may tell"
                    f" ({failure})"
                ) from failure
            finally:
                # Airflow's hook leaves the pipe open that it has read to its end.
                process = getattr(self._hook, "_submit_sp", None)
                if process is not None and process.stdout is not None:
                    process.stdout.close()

    def _hand_over(self, handovers: Sequence[Handover]) -> None:
        """Give the job its handovers, as a Spark property."""
        self.conf = {**(self.conf or {}), PROPERTY: pack(handovers)}
        self._hook = None  # made from these values, when the job is submitted

    @contextmanager
    def _defaults(self, connection: Connection) -> Iterator[None]:
        """Let a submission inside the block begin with our defaults."""
        local = (connection.host or "").startswith("local")
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

    def _deployed_to(self, connection: Connection) -> tuple[str, str]:
        """The master, with its scheme, and the deploy mode."""
        mode = self._deploy_mode or connection.extra_dejson.get("deploy-mode") or "client"
        host = connection.host or ""
        return host if "://" in host or not connection.port else f"{connection.conn_type}://{host}", mode

    def check_submittable(self, connection: Connection) -> None:
        """Refuse what can't be submitted there.

        :raises InvalidDefinitionError: if Spark runs no Python on such a cluster.
        :raises MissingSparkError: if there is no client of Kubernetes to watch the job with.
        """
        master, mode = self._deployed_to(connection)
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

    def _find_spark(self, connection: Connection) -> bool:
        """Choose the spark-submit and the Python where nothing else is configured: those of this environment.

        :return: whether the driver's Python is that of this environment, which has this package.
        """
        own, own_home = Path(sys.executable).with_name(DEFAULT_SPARK_BINARY), _own_home()
        if self._spark_binary is None and "spark-binary" not in connection.extra_dejson:
            home = os.environ.get("SPARK_HOME")
            if home and Path(home).resolve() != own_home:
                self._spark_binary = str(_binary_in(home))
            elif own.exists():
                self._spark_binary = str(own)
            elif which(DEFAULT_SPARK_BINARY) is None:
                check_installed()
        master, mode = self._deployed_to(connection)
        if self._spark_binary != str(own) or mode == "cluster" or master.startswith(("yarn", "k8s")):
            return False
        variables = {"SPARK_HOME": str(own_home or ""), "PYSPARK_DRIVER_PYTHON": sys.executable}
        if master.startswith("local"):
            variables["PYSPARK_PYTHON"] = sys.executable
        self.env_vars = {**variables, **(self.env_vars or {})}
        conf = self.conf or {}
        driver = conf.get("spark.pyspark.driver.python") or conf.get("spark.pyspark.python")
        return bool((driver or self.env_vars["PYSPARK_DRIVER_PYTHON"]) == sys.executable)


def _own_home() -> Path | None:
    """Where the pyspark of this environment lies."""
    spec = find_spec("pyspark")
    return Path(spec.submodule_search_locations[0]).resolve() if spec and spec.submodule_search_locations else None


def _binary_in(home: str) -> Path:
    binary = Path(home, "bin", DEFAULT_SPARK_BINARY)
    if not binary.exists():
        raise MissingSparkError(f"SPARK_HOME is {home!r}, and there is no {binary}; expected the folder of a Spark")
    return binary
