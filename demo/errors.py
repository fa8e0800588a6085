"""What can go wrong in the demo."""

from __future__ import annotations

from airflow_partitions import PartitionError


class DemoError(PartitionError, RuntimeError):
    """The demo can't go on; the message says why and what to look at."""
