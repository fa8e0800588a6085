"""What clients of Spark of different versions call differently."""

from __future__ import annotations

from typing import Any


def condition_of(error: Any) -> str | None:
    """The name of the condition that *error* tells of, which Spark 3.5 calls a class."""
    name: str | None = error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass()
    return name


def is_of_older_connect(value: object) -> bool:
    """Whether *value* is a session or a frame of Spark Connect by the client of Spark 3.5: its types stand by
    themselves, and what it writes it can't observe."""
    from pyspark.sql.types import StructType

    return type(value).__module__.startswith("pyspark.sql.connect.") and not hasattr(StructType, "fromDDL")
