"""Failed runs of the partitions that a task waits for."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from airflow_partitions.core.keys import Key
from airflow_partitions.engine.runs.claim import Claimant, last_claimant
from airflow_partitions.engine.runs.failure import last_failed

# Each takes four questions, if nothing has failed.
_MOST = 200


def failed_run(asset: str, keys: Iterable[Key]) -> tuple[Key, Claimant] | None:
    """The first failed run among the last ones of partitions of an asset, with its key; ``None`` if there is none.

    That is the run that claimed the partition last, or one that failed since then while no run had claimed it. It looks
    at the first 200 of *keys*.
    """
    for key in islice(keys, _MOST):
        claimant = last_claimant(asset, str(key))
        if claimant is not None and _is_in(claimant, "failed"):
            return key, claimant
        run = last_failed(asset, str(key))
        if run is None or not _is_in(run, "failed"):
            continue
        if claimant is None or not _is_in(claimant, "queued", "running"):
            return key, run
    return None


def _is_in(run: Claimant, *states: str) -> bool:
    return RuntimeTaskInstance.get_dr_count(run.dag_id, run_ids=[run.run_id], states=list(states)) > 0
