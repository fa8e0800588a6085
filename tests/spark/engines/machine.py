"""Where the jobs of all stand-ins run: one Java, which does for each what spark-submit does, and is warm after the first."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from pyspark.java_gateway import launch_gateway

from tests.conftest import packages_on_class_path

_lock = threading.Lock()


def submit(words: Sequence[str]) -> None:
    """Run spark-submit with *words*, one at a time.

    :raises Py4JJavaError: the driver has failed.
    """
    with _lock:
        java: Any = _java()
        arguments = java.new_array(java.jvm.String, len(words))
        for index, word in enumerate(words):
            arguments[index] = word
        try:
            java.jvm.org.apache.spark.deploy.InProcessSparkSubmit.main(arguments)
        finally:
            # A Java that ends takes them along; the next job would find them. A job's context is stopped by its program.
            for name in java.jvm.System.getProperties().stringPropertyNames():
                if name.startswith("spark."):
                    java.jvm.System.clearProperty(name)


@cache
def _java() -> Any:
    """One without a context, which knows nothing of Airflow or of this package, and ends with this process."""
    with packages_on_class_path(), pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("AIRFLOW", "PYTHONPATH")):
                patch.delenv(name)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        return launch_gateway(popen_kwargs={"cwd": tempfile.mkdtemp(prefix="machine-")})
