"""A job on a driver of its own, by spark-submit."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from airflow.providers.apache.spark.hooks.spark_submit import DEFAULT_SPARK_BINARY
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException

from airflow_partitions.spark.handover import PROPERTY, Handover
from airflow_partitions.spark.installed import check_installed
from airflow_partitions.spark.job_result import load_error

if TYPE_CHECKING:
    from airflow.sdk import Connection, Context

#: The program for a decorated function.
DRIVER = str(Path(__file__).with_name("driver.py"))


class Submission(SparkSubmitOperator):
    """What submits a job, and waits for it."""

    def submit(self, handover: Handover, connection: Connection, context: Context) -> None:
        """Run the job of *handover*, which leaves a result file.

        :raises PartitionError: that of the job, if it said why it gave up.
        :raises AirflowException: if it failed otherwise.
        """
        self._find_spark(connection)
        staging = handover.staging
        # A file to send along is beside the rest where that is a local folder: it is of use to whoever looks there.
        kept = nullcontext(staging.folder) if isinstance(staging.folder, Path) else TemporaryDirectory()
        with kept as folder:
            self._hand_over(handover, Path(folder))
            try:
                super().execute(context)
            except AirflowException as failure:
                reason = load_error(staging)
                if reason is None:
                    raise
                raise reason from failure

    def _hand_over(self, handover: Handover, folder: Path) -> None:
        """Give the job its handover: as a Spark property, or by a file in *folder* that the property names."""
        value, file = handover.pack(folder)
        # UTC where nothing else is asked for, so that a job does not depend on the machine it lands on.
        defaults = {"spark.sql.session.timeZone": "UTC", "spark.log.level": "WARN"}
        self.conf = {**defaults, **(self.conf or {}), PROPERTY: value}
        self._hook = None  # made from these values, when the job is submitted
        if file is not None:
            self.files = ",".join(filter(None, [self.files, str(file)]))

    def _find_spark(self, connection: Connection) -> None:
        """Choose the spark-submit and the Python of this environment where nothing else is configured."""
        extra = connection.extra_dejson
        own = Path(sys.executable).with_name(DEFAULT_SPARK_BINARY)
        if self._spark_binary is None and "spark-binary" not in extra:
            if own.exists():
                self._spark_binary = str(own)
            elif which(DEFAULT_SPARK_BINARY) is None:
                check_installed()
        host, mode = f"{connection.conn_type}://{connection.host}", self._deploy_mode or extra.get("deploy-mode")
        if self._spark_binary != str(own) or mode == "cluster" or "yarn" in host or "k8s" in host:
            return
        spec = find_spec("pyspark")
        home = spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else ""
        variables = {"SPARK_HOME": home, "PYSPARK_DRIVER_PYTHON": sys.executable}
        if (connection.host or "").startswith("local"):
            variables["PYSPARK_PYTHON"] = sys.executable
        self.env_vars = {**variables, **(self.env_vars or {})}
