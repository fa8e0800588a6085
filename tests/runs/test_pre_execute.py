"""The partition of a run, before a task works."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval, Partitioned
from airflow_partitions.errors import MissingPartitionError
from airflow_partitions.runs.pre_execute import partition_of


def context(key: str | None) -> dict[str, Any]:
    timetable = Partitioned("@daily", PartitionByInterval("@daily"))
    run = SimpleNamespace(run_id="manual__x", partition_key=key)
    return {"dag": SimpleNamespace(timetable=timetable), "dag_run": run}


def test_er12_a_run_of_airflow_dags_test_is_told_what_to_type_instead() -> None:
    with pytest.raises(MissingPartitionError, match="try one by 'airflow asset-partitions test'"):
        partition_of(context(None))
