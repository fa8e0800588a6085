"""The partitions that the task of this process has made beside its own, for what is told of it when it has ended."""

from __future__ import annotations

#: Texts of their keys, in the order in which they were made. A task process runs one task.
MADE_BESIDE: list[str] = []
