"""What somebody may do with Dags."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

#: Of some Dags those with which one may do something.
Allowed: TypeAlias = Callable[[Collection[str]], Collection[str]]
