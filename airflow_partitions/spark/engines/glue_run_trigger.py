"""A wait for the end of a run of Glue, without a worker."""

from __future__ import annotations

from typing import Any

from airflow.providers.amazon.aws.triggers.glue import GlueJobCompleteTrigger

_ENDINGS = {"SUCCEEDED": "success", **dict.fromkeys(("FAILED", "ERROR", "TIMEOUT", "STOPPED", "EXPIRED"), "failure")}
#: Changes of Airflow's waiter, which does not know that a run may expire: it would wait for it until it gives up.
WAITER = {
    "acceptors": [
        {"matcher": "path", "argument": "JobRun.JobRunState", "expected": state, "state": ending}
        for state, ending in _ENDINGS.items()
    ]
}


class GlueRunTrigger(GlueJobCompleteTrigger):
    """Airflow's own, which also fires for a run that has expired."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.waiter_config_overrides = WAITER
