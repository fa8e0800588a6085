"""The rows of a frame of any kind."""

from __future__ import annotations

from typing import Any


def first_rows(frame: Any, limit: int) -> list[dict[str, Any]]:
    """The first *limit* rows of a *frame*, each as column to value; none if it is no frame."""
    if hasattr(frame, "sparkSession"):
        return [row.asDict(recursive=True) for row in frame.limit(limit).collect()]
    if hasattr(frame, "to_pylist"):
        return list(frame.slice(0, limit).to_pylist())
    if hasattr(frame, "to_dicts") or hasattr(frame, "collect"):
        return list((frame.head(limit).collect() if hasattr(frame, "collect") else frame.head(limit)).to_dicts())
    return list(frame.head(limit).to_dict("records")) if hasattr(frame, "iloc") else []


def row_count(frame: Any) -> int:
    """How many rows a *frame* has."""
    if hasattr(frame, "sparkSession"):
        return int(frame.count())
    return len(frame.collect() if hasattr(frame, "collect") else frame)
