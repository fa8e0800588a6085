"""Drivers of other Sparks and Pythons, on the machine of the task.

``SPARKS=3.5,4.0,4.1,4.2,4.3`` tries all of them; by default it is the oldest and the newest.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import Partition
from airflow_partitions.spark.shipping import ship
from tests.spark.other_sparks import RELEASES, OtherSpark
from tests.spark.test_submit import run

CHOSEN = os.environ.get("SPARKS", "").split(",") if os.environ.get("SPARKS") else [min(RELEASES), max(RELEASES)]

pytestmark = [
    pytest.mark.long,
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def told(spark: Any, partition: Any, flights: Any) -> Any:
    import sys

    from pyspark.sql import functions as f

    def worker(number: int) -> str:
        return f"{partition['airport']} {sys.version_info[0]}.{sys.version_info[1]}"

    here = flights.where(flights.origin == partition["airport"])
    return here.groupBy("origin").agg(
        f.lit(partition["airport"]).alias("airport"),  # as the partition's key says
        f.count("*").alias("flights"),
        f.first(f.udf(worker, "string")(f.lit(1))).alias("worker"),
        f.lit(spark.version).alias("spark"),
        f.lit(sys.executable).alias("driver"),
    )


def move(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let a driver start with another home, temporary folder and working directory than those of the tests."""
    for name in ("HOME", "TMPDIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.chdir(tmp_path / "home")


@pytest.mark.parametrize("minor", CHOSEN)
def test_a_function_on_another_spark(lake: Any, minor: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = OtherSpark.of(minor)
    move(monkeypatch, tmp_path)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    if minor == max(RELEASES):  # by the path, as after the activation of its environment
        monkeypatch.setenv("PATH", f"{other.bin}:{os.environ['PATH']}")
        connection = {"conn_type": "spark", "host": "local[2]", "extra": {"spark-binary": "spark-submit"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    else:
        monkeypatch.setenv("SPARK_HOME", str(other.home))
        monkeypatch.setenv("PYSPARK_PYTHON", str(other.python))
    function = ship(told, inputs=["flights"])
    event = run(lake, Partition(lake.delays.partition, "2013-01-02|JFK"), function=function, strict=True)
    assert event["rows"] == 1
    reads = event["reads"]["flights"]
    assert {name: reads[name] for name in ("selected", "partitions", "files", "rows", "scans")} == {
        "selected": 24, "partitions": 24, "files": 24, "rows": 48, "scans": 1
    }  # fmt: skip
    (row,) = lake.rows("2013-01-02|JFK")
    assert (row["flights"], row["spark"]) == (24, other.release)
    assert Path(row["driver"]).parent == other.bin
    assert row["worker"].startswith("JFK 3.")


@pytest.mark.parametrize("minor", CHOSEN if "SPARKS" in os.environ else [min(RELEASES)])
def test_proofs_are_the_same_on_another_spark(minor: str) -> None:
    cases = "cold and not python_udfs" if minor == "3.5" else "cold"  # toArrow begins with Spark 4
    process = OtherSpark.of(minor).test("tests/spark/test_proof.py", "-k", cases, "-W", "ignore::DeprecationWarning")
    assert process.returncode == 0, process.stdout[-4000:]
