"""Runs Airflow tasks of the operator, each in a process of its own, without Airflow's services.

It reads lines of JSON and answers each with a line: ``{"start": …}`` with the process id of a new task,
``{"wait": id}`` with how it ended. Tasks are forked, so that everything is imported once.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2]))

import blocking  # type: ignore[import-not-found]
import conftest  # type: ignore[import-not-found]
from airflow.sdk import Asset

from airflow_partitions import Partition
from airflow_partitions.engine.runs import publication
from airflow_partitions.spark.engines import submit  # noqa: F401 - each task would import it for itself: a second and a half
from airflow_partitions.spark.operator import SparkAssetOperator
from airflow_partitions.storage.filesystem import exchange

HERE = Path(__file__).parent
RUN = SimpleNamespace(run_after=datetime(2013, 2, 9, tzinfo=UTC))


def before(point: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, but *point* is reached before it."""

    def called(*arguments: Any, **named: Any) -> Any:
        blocking.reach(point)
        return function(*arguments, **named)

    return called


def after(point: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, but *point* is reached after it."""

    def called(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        blocking.reach(point)
        return result

    return called


def execute(root: str, number: int, job: str) -> None:
    """One try of the task that makes a partition, by ``blocking.py`` on Spark or by ``stub.py``."""
    publication.publish = before("publishing", publication.publish)
    exchange.exchange = after("exchanged", exchange.exchange)
    publication.report = before("published", publication.report)
    lake, asset = conftest.Lake(Path(root)), Asset("delays")
    task = SparkAssetOperator(
        task_id="delays",
        asset=asset,
        outlets=[asset],
        storage=lake.delays,
        inputs={"flights": lake.flights},
        application=str(HERE / "blocking.py"),
        conf={
            "spark.ui.enabled": "false",
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # it is not to run for long
        },
        spark_binary=str(Path(root) / "stub") if job == "stub" else None,
    )
    instance = SimpleNamespace(dag_id="dag", run_id="run", try_number=number)
    partition = Partition(lake.delays.partition, "2013-01-02|EWR")
    task.execute({"partition": partition, "ti": instance, "outlet_events": conftest.Events(), "dag_run": RUN})  # type: ignore[typeddict-item]


def start(root: str, number: int, job: str, point: str) -> int:
    """Start a task in a process of its own; what it says goes to a file."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        log = os.open(f"{root}/{number}.log", os.O_WRONLY | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ |= {"BLOCKING_FOLDER": root, "BLOCKING_POINT": point}
        execute(root, number, job)
        code = 0
    except BaseException:  # noqa: BLE001 - this process must not go on as its parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Serve."""
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            answer = start(**request["start"])
        else:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        sys.__stdout__.write(f"{answer}\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]


if __name__ == "__main__":
    os.environ["AIRFLOW_CONN_SPARK_DEFAULT"] = '{"conn_type": "spark", "host": "local[1]"}'
    main()
