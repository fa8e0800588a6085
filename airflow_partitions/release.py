"""The version of the package that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("airflow-partitions")
except PackageNotFoundError:  # beside a Spark job, whose driver has the modules only
    __version__ = "0+unknown"
