"""Writes the class path of the packages that it was submitted with to a file.

It imports nothing of ours: any Spark runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path


def write_class_path(file: Path) -> None:
    """Write the path, without a session, which would have a copy of each package."""
    from pyspark.java_gateway import launch_gateway

    jars = launch_gateway().jvm.java.lang.System.getProperty("spark.jars")  # type: ignore[no-untyped-call]
    file.write_text(":".join(jar.removeprefix("file://") for jar in jars.split(",")))


if __name__ == "__main__":
    write_class_path(Path(sys.argv[1]))
