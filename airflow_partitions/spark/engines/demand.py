"""What an asset asks of an engine, before there is a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.storage.storage import Storage


@attrs.frozen(kw_only=True)
class Demand:
    """What all jobs of an asset have in common.

    :ivar asset: its name.
    :ivar storage: what they write to.
    :ivar inputs: what they read, by name.
    :ivar is_program: whether they run a program of the author's own.
    :ivar words: parameters of ``SparkSubmitOperator`` that were given to the asset.
    """

    asset: str
    storage: Storage
    inputs: Mapping[str, Storage]
    is_program: bool
    words: Mapping[str, Any]
