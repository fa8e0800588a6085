"""Tables of Iceberg, read and written by pyiceberg: neither Spark nor a JVM is needed."""

import logging

from airflow_partitions.core.errors import StorageError

try:
    import pyiceberg  # noqa: F401
except ImportError as error:
    raise StorageError(
        f"tables of Iceberg are reached by pyiceberg, which is not installed ({error}); expected it: pip install"
        " 'airflow-partitions[iceberg]'"
    ) from error

# With each table it tells again that it takes its usual way to files.
logging.getLogger("pyiceberg.io").setLevel(logging.WARNING)
