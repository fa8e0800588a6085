"""Where jobs of all stand-ins run: one Java, which does for each what spark-submit does, and is warm by the second."""

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

_lock = threading.Lock()


def submit(words: Sequence[str]) -> None:
    """Run spark-submit with *words*, one at a time.

    :raises Py4JJavaError: the driver has failed.
    """
    with _lock:
        java: Any = _java(os.environ.get("AWS_ENDPOINT_URL"))
        arguments = java.new_array(java.jvm.String, len(words))
        for index, word in enumerate(words):
            arguments[index] = word
        try:
            java.jvm.org.apache.spark.deploy.InProcessSparkSubmit.main(arguments)
        finally:
            # They would end with a Java of its own; here the next job would find them. Its program ends its context.
            for name in java.jvm.System.getProperties().stringPropertyNames():
                if name.startswith("spark."):
                    java.jvm.System.clearProperty(name)


@cache
def _java(_store: str | None) -> Any:
    """One without a context, which knows nothing of Airflow or of this package, and ends with this process.

    :param _store: the S3 of its environment, if it has one: Java and drivers keep the environment in which it began.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("AIRFLOW", "PYTHONPATH")):
                patch.delenv(name)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        return launch_gateway(popen_kwargs={"cwd": tempfile.gettempdir()})  # type: ignore[no-untyped-call]
