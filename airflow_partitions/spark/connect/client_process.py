"""A job in a process of another Python, whose client is of the server's Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import InvalidDefinitionError, MissingListenerError, SparkServerError
from airflow_partitions.spark.archive import make_archive
from airflow_partitions.spark.job_result import load_error
from airflow_partitions.spark.parent_process import end_with_parent

if TYPE_CHECKING:
    from airflow_partitions.spark.connect.access import Access
    from airflow_partitions.spark.handover import Handover

_PROGRAM = Path(__file__).parents[1] / "program" / "make_partition_by_connect.py"
#: Tells functions of pyspark 3.5 that they are called for a session without a driver.
_MODE = "SPARK_CONNECT_MODE_ENABLED"
#: Of this environment, and not of the other one.
_OURS = ("PYTHON", "SPARK_", "PYSPARK_", "VIRTUAL_ENV")


def run_in_process(
    handover: Handover,
    access: Access,
    where: tuple[str, str],
    conf: Mapping[str, str],
    began: Callable[[Callable[[], None]], None],
) -> None:
    """Run the function of *handover* by the Python that *access* names; it leaves a result file.

    :param where: the server, and the connection that names it, for messages.
    :param conf: Spark properties.
    :param began: is told what ends the job from outside.
    :raises MissingListenerError: if the job is strict, before anything starts.
    :raises InvalidDefinitionError: if there is no such Python.
    :raises SparkServerError: if the server does not answer or refuses, or the process ends without a word.
    :raises PartitionError: any other error of a job.
    """
    if handover.strict:
        raise MissingListenerError(
            "a strict job can't use the client of another Python, since nobody looks at what it sends; expected"
            " strict=False, or a connection to a server with the listener of airflow_partitions"
        )
    server, connection = where
    sent = {
        "server": server,
        "connection": connection,
        "url": access.whole_url(),
        "conf": dict(conf),
        "handover": handover.to_text(),
    }
    with TemporaryDirectory() as folder:
        own = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        environment = {**own, _MODE: "1", "PYTHONPATH": str(make_archive(Path(folder))), "PYTHONUNBUFFERED": "1"}
        try:
            process = subprocess.Popen(
                [str(access.python), str(_PROGRAM)],
                env=environment,
                stdin=subprocess.PIPE,
                preexec_fn=end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - one system call
            )
        except OSError as error:
            raise InvalidDefinitionError(
                f"connection {connection!r}: python {access.python!r} in its extra can't be run here ({error});"
                " expected the path of a Python, with a pyspark of the server's Spark, where the task runs"
            ) from error
        with process:
            began(process.terminate)
            process.communicate(json.dumps(sent).encode())  # what it has secrets of is in no command, and no file
    if process.returncode:
        raise load_error(handover.staging) or SparkServerError(
            f"the process of {access.python}, whose client is that of Spark Connect server {server} of connection"
            f" {connection!r}, ended with {process.returncode} and without a word of why; nothing was published. The"
            " log above may tell"
        )
