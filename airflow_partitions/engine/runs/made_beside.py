"""The partitions that the task of this process has made beside its own, for what is told of it when it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.partition import Partition


@attrs.frozen
class MadeBeside:
    """A partition of another run, made in a batch.

    :ivar run_after: when that run was due or asked for, aware.
    :ivar extras: of its events, by the name of the asset.
    """

    partition: Partition
    run_after: datetime
    extras: Mapping[str, Mapping[str, Any] | None]


#: By the texts of their keys, in the order in which they were made. A task process runs one task.
MADE_BESIDE: dict[str, MadeBeside] = {}
