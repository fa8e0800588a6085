"""Failed runs of the partitions that a task waits for."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from airflow_partitions.keys import Key
from airflow_partitions.runs.claim import Claimant, last_claimant

# Each takes two questions.
_MOST = 200


def failed_run(asset: str, keys: Iterable[Key]) -> tuple[Key, Claimant] | None:
    """The first failed run among the last ones that claimed partitions of an asset, with its key; ``None`` if there is
    none. It looks at the first 200 of *keys*.
    """
    for key in islice(keys, _MOST):
        run = last_claimant(asset, str(key))
        if run is None:
            continue
        if RuntimeTaskInstance.get_dr_count(run.dag_id, run_ids=[run.run_id], states=["failed"]):
            return key, run
    return None
