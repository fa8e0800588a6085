"""Frames that a function takes and gives: inputs, kinds of frames, and the counts of what it read and wrote.

Names are loaded when first used: a Dag file only names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {"Frame": "frame", "Reads": "result", "Result": "result"}

__all__ = ["Frame", "Reads", "Result"]

if TYPE_CHECKING:
    from airflow_partitions.frames.frame import Frame
    from airflow_partitions.frames.result import Reads, Result


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
