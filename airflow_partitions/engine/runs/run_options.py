"""How the runs of a request for partitions are to go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError

#: The most runs at a time that may be asked for: what Airflow's column takes, and far more than it can run.
MOST_AT_A_TIME = 100_000


@attrs.frozen
class RunOptions:
    """How the runs of a request are to go.

    :ivar concurrency: the most runs at a time.
    :ivar newest_first: begin with the newest partition, not with the oldest.
    :ivar stop_at_failure: begin no more runs once one has failed, until the request is resumed.
    :ivar label: in the note of every run.
    :ivar conf: configuration of every run.
    :ivar while_paused: make them also if the Dag is paused; its schedule begins no run until the request has ended.
    """

    concurrency: int = attrs.field(default=16)
    newest_first: bool = False
    stop_at_failure: bool = False
    label: str = ""
    conf: Mapping[str, Any] = attrs.field(factory=dict)
    while_paused: bool = False

    @concurrency.validator
    def _check_concurrency(self, _: Any, value: Any) -> None:
        if type(value) is not int or not 1 <= value <= MOST_AT_A_TIME:
            raise InvalidDefinitionError(
                f"concurrency={value!r}; expected a number of runs from 1 to {MOST_AT_A_TIME:,}"
            )

    @conf.validator
    def _check_conf(self, _: Any, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise InvalidDefinitionError(f"conf={value!r}; expected an object of JSON: names with their values")
