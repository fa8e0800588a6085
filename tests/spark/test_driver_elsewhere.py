"""A driver that shares nothing with its task but the storage, on S3."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import Partition, PartitionByProduct, PartitionBySequence
from airflow_partitions.spark.shipping import ship
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.filesystem.filesystem import at
from tests.conftest import packages_on_class_path
from tests.spark.conftest import DAILY, HOURLY
from tests.spark.test_submit import counted, run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def python_of_its_own(folder: Path) -> str:
    """A Python that is not known to be ours, with other folders for what is temporary and for its user."""
    script = folder / "python"
    (folder / "tmp").mkdir()
    script.write_text(f'#!/bin/sh\ncd {folder} && HOME={folder} TMPDIR={folder}/tmp exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_storage_is_all_that_they_share(endpoint: str, tmp_path: Path) -> None:
    import pyarrow as pa

    at("s3://elsewhere").mkdir()
    flights = Parquet("s3://elsewhere/flights", partition=HOURLY, partition_on={"hour": "%Y-%m-%dT%H:%M%z"})
    rows = pa.table({"origin": ["EWR", "JFK"], "delay": [1.0, 2.0]})
    flights.save(dict.fromkeys(HOURLY.keys(start="2013-01-02", end="2013-01-03"), rows))
    names = [f"customer-{number:032d}" for number in range(1500)]  # the handover is long
    definition = PartitionByProduct([DAILY.time, PartitionBySequence(names, name="customer")])
    made = Parquet("s3://elsewhere/made", partition_on={"date": "%Y-%m-%d", "customer": "{customer}"}).of(definition)
    partition = Partition(definition, f"2013-01-02|{names[7]}")
    conf = {
        "spark.ui.enabled": "false",
        "spark.pyspark.driver.python": python_of_its_own(tmp_path),
        "spark.pyspark.python": sys.executable,
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    }
    with packages_on_class_path():
        event = run(
            LakeOnS3(flights, made), partition, function=ship(counted, inputs=["flights"]), strict=True, conf=conf
        )
    assert (event["rows"], event["reads"]["flights"]["files"], event["reads"]["flights"]["rows"]) == (1, 24, 48)
    assert made.read([partition], as_="arrow")["n"].to_pylist() == [24]
    assert not [path.name for path in tmp_path.rglob("*handover*")]


class LakeOnS3:
    """What :func:`run` makes by default."""

    def __init__(self, flights: Any, delays: Any) -> None:
        self.flights, self.delays = flights, delays
