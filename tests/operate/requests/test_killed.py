"""A process that is killed while it creates the runs of a request."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from airflow_partitions.core.errors import OverlapError
from airflow_partitions.operate.requests.progress import progress
from airflow_partitions.operate.upkeep.round import one_round
from airflow_partitions.operate.upkeep.unfinished_requests import finish_requests
from tests.metadata import Metadata
from tests.operate.requests.test_materialize import dags, materialize, runs

__all__ = ["dags"]
SELECTION, NUMBER = "2013-01-01..2018-06-24", 2000
PROGRAM = f"""
from airflow_partitions.operate.contract.requests import MaterializePartitions
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests import materialize
materialize.PORTION = 50
answer(MaterializePartitions(asset="flights", select="{SELECTION}"))
"""


def created(metadata: Metadata) -> int:
    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        return at.scalar(select(func.count()).select_from(DagRun.__table__)) or 0


def test_upkeep_goes_on_with_a_request_of_2000_partitions_whose_maker_was_killed(
    dags: Metadata, tmp_path: Path
) -> None:
    environment = os.environ | {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": dags.engine.url.render_as_string(hide_password=False),
    }
    log = tmp_path / "log"
    with log.open("w") as output:
        maker = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=output, stderr=output)
    try:
        while created(dags) < 200:
            assert maker.poll() is None, log.read_text()
            time.sleep(0.05)
    finally:
        maker.kill()
        maker.wait()
    before = created(dags)
    assert 200 <= before < NUMBER
    with pytest.raises(OverlapError) as error:  # also of those that have no run yet
        materialize("flights", "2018-06-23")
    number = error.value.request
    assert number is not None
    assert progress(number).state == "creating"
    assert one_round().requests == 0  # somebody may be at work on it still
    assert created(dags) == before
    problems: list[str] = []
    assert finish_requests(problems.append, abandoned=timedelta(seconds=-1)) == 1, problems
    assert progress(number).runs == {"queued": NUMBER}
    assert max(Counter(run.partition_key for run in runs(dags)).values()) == 1
    assert finish_requests(problems.append, abandoned=timedelta(seconds=-1)) == 0
