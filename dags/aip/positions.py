"""A key with fields of its own.

One run per position appears every day. Its key is the text ``x=0.0,y=0.0,z=1.5``; in the task it is a ``Position``
again, with its fields. ``__str__`` is for display in the author's own code: scheduler and API server never load it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionBySequence, PartitionKey, asset


class Position(PartitionKey):
    """A point in space."""

    x: float
    y: float
    z: float

    def __str__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


@asset(
    schedule="@daily",
    partition=PartitionBySequence([Position(x=0.0, y=0.0, z=1.5), Position(x=0.0, y=4.0, z=1.5)], name="position"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def measurements(partition):
    """What one sensor has measured."""
    print(f"{partition.text}: {partition.key}, at a height of {partition.key.z}")
